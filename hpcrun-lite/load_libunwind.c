#define _GNU_SOURCE
#include "hpcrun-lite/load_libunwind.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/rt/sampling/unwind.h"

/* Redirects the library's calls of `name` to target: rewrites the entry of its procedure linkage table. */
static bool redirect(void *handle, const char *name, void *target)
{
  struct link_map *map;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
    return false;
  const Elf64_Rela *slots = NULL;
  const Elf64_Sym *symbols = NULL;
  const char *names = NULL;
  size_t size = 0;
  for (const Elf64_Dyn *d = map->l_ld; d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_JMPREL)
      slots = (const Elf64_Rela *)d->d_un.d_ptr;
    else if (d->d_tag == DT_PLTRELSZ)
      size = d->d_un.d_val;
    else if (d->d_tag == DT_SYMTAB)
      symbols = (const Elf64_Sym *)d->d_un.d_ptr;
    else if (d->d_tag == DT_STRTAB)
      names = (const char *)d->d_un.d_ptr;
  }
  if (!slots || !symbols || !names)
    return false;
  for (size_t i = 0; i < size / sizeof *slots; i++) {
    if (strcmp(names + symbols[ELF64_R_SYM(slots[i].r_info)].st_name, name) != 0)
      continue;
    void **slot = (void **)(map->l_addr + slots[i].r_offset);
    uintptr_t page = (uintptr_t)slot & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    if (mprotect((void *)page, (uintptr_t)(slot + 1) - page, PROT_READ | PROT_WRITE) != 0)
      return false;
    *slot = target;
    return true;
  }
  return false;
}

static bool load(void *handle, const char *name, void *entry)
{
  void *found = dlsym(handle, name);
  memcpy(entry, &found, sizeof found);
  return found != NULL;
}

/* The sanitizers' runtimes abort a program that loads a library with RTLD_DEEPBIND. */
static int deep_binding(void)
{
  return dlsym(RTLD_DEFAULT, "__asan_init") || dlsym(RTLD_DEFAULT, "__tsan_init") ? 0 : RTLD_DEEPBIND;
}

const char *load_libunwind(void)
{
  struct unwind_entries entries;
  void *handle = dlopen(MACHINE_LIBUNWIND, RTLD_NOW | RTLD_LOCAL | deep_binding());
  if (!handle)
    return MACHINE_LIBUNWIND " cannot be loaded: install libunwind8";
  bool sound = load(handle, MACHINE_LIBUNWIND_PREFIX "create_addr_space", &entries.create_addr_space) &&
               load(handle, MACHINE_LIBUNWIND_PREFIX "set_caching_policy", &entries.set_caching_policy) &&
               load(handle, MACHINE_LIBUNWIND_PREFIX "set_cache_size", &entries.set_cache_size) &&
               load(handle, MACHINE_LIBUNWIND_PREFIX "flush_cache", &entries.flush_cache) &&
               load(handle, MACHINE_LIBUNWIND_PREFIX "init_remote", &entries.init_remote) &&
               load(handle, MACHINE_LIBUNWIND_PREFIX "step", &entries.step) &&
               load(handle, MACHINE_LIBUNWIND_PREFIX "get_reg", &entries.get_reg) &&
               load(handle, MACHINE_LIBUNWIND_PREFIX "dwarf_search_unwind_table", &entries.search);
  if (!sound || !redirect(handle, "pipe2", unwind_no_pipe) || !redirect(handle, "sigprocmask", unwind_no_sigprocmask))
    return MACHINE_LIBUNWIND " is not a supported version (1.6): contexts are single functions";
  return unwind_start(&entries) ? NULL : "libunwind could not allocate memory: contexts are single functions";
}
