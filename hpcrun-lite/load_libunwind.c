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

/* The places where a library keeps addresses of functions: a table of relocations. */
struct slots {
  const Elf64_Rela *table;
  size_t size;
};

static bool set_slot(void **slot, void *target)
{
  uintptr_t page = (uintptr_t)slot & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
  if (mprotect((void *)page, (uintptr_t)(slot + 1) - page, PROT_READ | PROT_WRITE) != 0)
    return false;
  *slot = target;
  return true;
}

/* Redirects the library's calls of `name` to target: in its procedure linkage table, and where it takes the function's
 * address, as it does of a weak symbol.  Returns how many places that were, -1 on failure. */
static int redirect(void *handle, const char *name, void *target)
{
  struct link_map *map;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
    return -1;
  struct slots slots[2] = {{NULL, 0}, {NULL, 0}};
  const Elf64_Sym *symbols = NULL;
  const char *names = NULL;
  int redirected = 0;
  for (const Elf64_Dyn *d = map->l_ld; d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_JMPREL)
      slots[0].table = (const Elf64_Rela *)d->d_un.d_ptr;
    else if (d->d_tag == DT_PLTRELSZ)
      slots[0].size = d->d_un.d_val;
    else if (d->d_tag == DT_RELA)
      slots[1].table = (const Elf64_Rela *)d->d_un.d_ptr;
    else if (d->d_tag == DT_RELASZ)
      slots[1].size = d->d_un.d_val;
    else if (d->d_tag == DT_SYMTAB)
      symbols = (const Elf64_Sym *)d->d_un.d_ptr;
    else if (d->d_tag == DT_STRTAB)
      names = (const char *)d->d_un.d_ptr;
  }
  if (!symbols || !names)
    return -1;
  for (const struct slots *s = slots; s < slots + 2; s++)
    for (size_t i = 0; s->table && i < s->size / sizeof *s->table; i++) {
      const Elf64_Rela *slot = &s->table[i];
      if (strcmp(names + symbols[ELF64_R_SYM(slot->r_info)].st_name, name) != 0)
        continue;
      if (!set_slot((void **)(map->l_addr + slot->r_offset), target))
        return -1;
      redirected++;
    }
  return redirected;
}

/* The library changes the signal mask by either function: version 1.8 by pthread_sigmask(), if there is one. */
static bool redirect_imports(void *handle)
{
  return redirect(handle, "pipe2", unwind_no_pipe) > 0 && redirect(handle, "sigprocmask", unwind_no_sigprocmask) > 0 &&
         redirect(handle, "pthread_sigmask", unwind_no_sigprocmask) >= 0;
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
  if (!sound || !redirect_imports(handle))
    return MACHINE_LIBUNWIND " is not a supported version (1.6 or 1.8): contexts are single functions";
  return unwind_start(&entries) ? NULL : "libunwind could not allocate memory: contexts are single functions";
}
