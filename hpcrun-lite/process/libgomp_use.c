#define _GNU_SOURCE
#include "hpcrun-lite/process/libgomp_use.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The dynamic section of a module, and what its addresses lack: the loader adds where the module lies, unless the
 * section cannot be written. */
struct dynamic {
  const ElfW(Dyn) * entries;
  uintptr_t moved;
};

static uintptr_t dynamic_value(const struct dynamic *dynamic, ElfW(Sxword) tag)
{
  for (const ElfW(Dyn) *entry = dynamic->entries; entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == tag)
      return entry->d_un.d_val;
  return 0;
}

/* The same of an entry that is an address; NULL if there is none. */
static const void *dynamic_address(const struct dynamic *dynamic, ElfW(Sxword) tag)
{
  uintptr_t value = dynamic_value(dynamic, tag);
  return value ? (const void *)(value + dynamic->moved) : NULL;
}

static bool begins_with_any(const char *name, const char *const *words, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!strncmp(name, words[i], strlen(words[i])))
      return true;
  return false;
}

static void add_name(struct libgomp_use *use, const char *name)
{
  static const char *const others[] = {"GOMP_alloc",   "GOMP_free",    "GOMP_error",
                                       "GOMP_warning", "GOMP_offload", "GOMP_interop"};
  bool gomp = !strncmp(name, "GOMP_", strlen("GOMP_"));
  bool other = gomp && begins_with_any(name, others, sizeof others / sizeof *others);
  bool lock = !strncmp(name, "omp_", strlen("omp_")) && strstr(name, "_lock");
  use->constructs |= (gomp && !other) || lock;
}

/* Adds the names of a table of relocations. */
static void add_relocations(struct libgomp_use *use, const struct dynamic *dynamic, ElfW(Sxword) table,
                            ElfW(Sxword) size)
{
  const ElfW(Rela) *entries = dynamic_address(dynamic, table);
  const ElfW(Sym) *symbols = dynamic_address(dynamic, DT_SYMTAB);
  const char *names = dynamic_address(dynamic, DT_STRTAB);
  size_t count = entries && symbols && names ? dynamic_value(dynamic, size) / sizeof *entries : 0;
  for (size_t i = 0; i < count; i++) {
    size_t symbol = ELF64_R_SYM(entries[i].r_info);
    if (symbol && symbols[symbol].st_shndx == SHN_UNDEF)
      add_name(use, names + symbols[symbol].st_name);
  }
}

static bool is_libgomp(const struct dl_phdr_info *info)
{
  return strstr(info->dlpi_name, "/libgomp");
}

static int look_for_libgomp(struct dl_phdr_info *info, size_t size, void *context)
{
  (void)size, (void)context;
  return is_libgomp(info);
}

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
  struct libgomp_use *use = context;
  (void)size;
  for (unsigned i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_DYNAMIC || is_libgomp(info))
      continue;
    const struct dynamic dynamic = {.entries = (const ElfW(Dyn) *)(info->dlpi_addr + segment->p_vaddr),
                                    .moved = segment->p_flags & PF_W ? 0 : info->dlpi_addr};
    add_relocations(use, &dynamic, DT_JMPREL, DT_PLTRELSZ);
    add_relocations(use, &dynamic, DT_RELA, DT_RELASZ);
  }
  return 0;
}

struct libgomp_use libgomp_use_find(void)
{
  struct libgomp_use use = {.loaded = dl_iterate_phdr(look_for_libgomp, NULL)};
  if (use.loaded)
    dl_iterate_phdr(add_module, &use);
  return use;
}
