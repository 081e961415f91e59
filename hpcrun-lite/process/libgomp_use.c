#define _GNU_SOURCE
#include "hpcrun-lite/process/libgomp_use.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uintptr_t dynamic_value(const ElfW(Dyn) * dynamic, ElfW(Sxword) tag)
{
  for (; dynamic->d_tag != DT_NULL; dynamic++)
    if (dynamic->d_tag == tag)
      return dynamic->d_un.d_val;
  return 0;
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
  static const char *const targets[] = {"GOMP_target", "GOMP_teams", "GOMP_offload", "GOMP_interop"};
  static const char *const others[] = {"GOMP_alloc", "GOMP_free", "GOMP_error", "GOMP_warning"};
  bool gomp = !strncmp(name, "GOMP_", strlen("GOMP_"));
  bool target = gomp && begins_with_any(name, targets, sizeof targets / sizeof *targets);
  bool other = gomp && begins_with_any(name, others, sizeof others / sizeof *others);
  bool lock = !strncmp(name, "omp_", strlen("omp_")) && strstr(name, "_lock");
  use->targets |= target;
  use->constructs |= (gomp && !target && !other) || lock;
}

/* Adds the names of a table of relocations. */
static void add_relocations(struct libgomp_use *use, const ElfW(Dyn) * dynamic, ElfW(Sxword) table, ElfW(Sxword) size)
{
  const ElfW(Rela) *entries = (const ElfW(Rela) *)dynamic_value(dynamic, table);
  const ElfW(Sym) *symbols = (const ElfW(Sym) *)dynamic_value(dynamic, DT_SYMTAB);
  const char *names = (const char *)dynamic_value(dynamic, DT_STRTAB);
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
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC || is_libgomp(info))
      continue;
    const ElfW(Dyn) *dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    add_relocations(use, dynamic, DT_JMPREL, DT_PLTRELSZ);
    add_relocations(use, dynamic, DT_RELA, DT_RELASZ);
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
