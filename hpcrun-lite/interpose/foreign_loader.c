#define _GNU_SOURCE
#include "hpcrun-lite/interpose/foreign_loader.h"

#include <elf.h>
#include <fcntl.h>
#include <paths.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/loader_version.h"
#include "hpcrun-lite/rt/core/sys.h"

enum {
  HEADER_BYTES = 256,    /* what the kernel reads of a file to recognize it */
  LOADER_BYTES = 1024,   /* longer paths are not examined: stacks may be small */
  SCRIPTS_MAX = 5,       /* interpreters of interpreters: the kernel's limit */
  SEGMENTS_MAX = 128,    /* program headers; the limits only bound the work on damaged files */
  DYNAMIC_MAX = 1024,    /* entries of a dynamic section */
  DEFINITIONS_MAX = 1024 /* of versions */
};

/* A file while it is examined. */
struct image {
  struct sys_own file;
  union {
    char bytes[HEADER_BYTES + 1];
    Elf64_Ehdr elf;
    Elf32_Ehdr elf_32;
  } header;
};

static bool open_image(struct image *image, int directory, const char *path)
{
  uint64_t size;
  if (!sys_open_program(&image->file, directory, path, &size))
    return false;
  size = size < HEADER_BYTES ? size : HEADER_BYTES;
  bool read = sys_read_at(&image->file, 0, image->header.bytes, size);
  memset(image->header.bytes + size, 0, sizeof image->header.bytes - size);
  if (!read)
    sys_close_own(&image->file);
  return read;
}

/* ---- ELF files ---- */

static bool is_elf(const struct image *image)
{
  return !memcmp(image->header.bytes, ELFMAG, SELFMAG);
}

/* Is it code for the same machine as the library? */
static bool is_native(const struct image *image)
{
  const Elf64_Ehdr *elf = &image->header.elf;
  return is_elf(image) && elf->e_ident[EI_CLASS] == ELFCLASS64 && elf->e_ident[EI_DATA] == ELFDATA2LSB &&
         elf->e_machine == EM_X86_64;
}

/* Segment i of a native file. */
static bool read_segment(const struct image *image, unsigned i, Elf64_Phdr *segment)
{
  const Elf64_Ehdr *elf = &image->header.elf;
  return i < elf->e_phnum && i < SEGMENTS_MAX &&
         sys_read_at(&image->file, elf->e_phoff + (uint64_t)i * elf->e_phentsize, segment, sizeof *segment);
}

static bool find_segment(const struct image *image, uint32_t type, Elf64_Phdr *segment)
{
  for (unsigned i = 0; read_segment(image, i, segment); i++)
    if (segment->p_type == type)
      return true;
  return false;
}

/* The place in the file of what is loaded at that address; 0: none. */
static uint64_t place_of(const struct image *image, uint64_t address)
{
  Elf64_Phdr segment;
  for (unsigned i = 0; read_segment(image, i, &segment); i++)
    if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz)
      return address - segment.p_vaddr + segment.p_offset;
  return 0;
}

/* Of the dynamic section: places in the file, 0 if there are none. */
struct dynamic {
  uint64_t definitions, strings;
  bool executable; /* linked as a program */
};

static void take_entry(const struct image *image, const Elf64_Dyn *entry, struct dynamic *dynamic)
{
  if (entry->d_tag == DT_VERDEF)
    dynamic->definitions = place_of(image, entry->d_un.d_ptr);
  if (entry->d_tag == DT_STRTAB)
    dynamic->strings = place_of(image, entry->d_un.d_ptr);
  dynamic->executable |= entry->d_tag == DT_FLAGS_1 && entry->d_un.d_val & DF_1_PIE;
}

static void read_dynamic(const struct image *image, struct dynamic *dynamic)
{
  enum { ENTRIES = 32 };
  Elf64_Phdr segment;
  Elf64_Dyn entries[ENTRIES];
  *dynamic = (struct dynamic){0};
  if (!find_segment(image, PT_DYNAMIC, &segment))
    return;
  uint64_t all = segment.p_filesz / sizeof *entries;
  for (uint64_t i = 0; i < all && i < DYNAMIC_MAX; i += ENTRIES) {
    uint64_t count = all - i < ENTRIES ? all - i : ENTRIES;
    if (!sys_read_at(&image->file, segment.p_offset + i * sizeof *entries, entries, count * sizeof *entries))
      return;
    for (uint64_t k = 0; k < count; k++) {
      if (entries[k].d_tag == DT_NULL)
        return;
      take_entry(image, &entries[k], dynamic);
    }
  }
}

/* Does a loader define the version that the library needs, so that it is a glibc of that release or later? */
static bool defines_version(const struct image *image, const struct dynamic *dynamic)
{
  uint64_t at = dynamic->definitions;
  Elf64_Verdef definition = {.vd_next = 1};
  for (unsigned i = 0; at && dynamic->strings && definition.vd_next && i < DEFINITIONS_MAX; i++) {
    char name[sizeof LOADER_VERSION];
    Elf64_Verdaux aux;
    if (!sys_read_at(&image->file, at, &definition, sizeof definition) ||
        !sys_read_at(&image->file, at + definition.vd_aux, &aux, sizeof aux))
      return false;
    if (sys_read_at(&image->file, dynamic->strings + aux.vda_name, name, sizeof name) &&
        !memcmp(name, LOADER_VERSION, sizeof name))
      return true;
    at += definition.vd_next;
  }
  return false;
}

static bool is_musl(const char *path)
{
  static const char musl[] = "ld-musl-";
  const char *slash = strrchr(path, '/');
  return !strncmp(slash ? slash + 1 : path, musl, sizeof musl - 1);
}

/* Can the loader of a program not load the library? */
static bool refuses(const char *path)
{
  struct image loader;
  struct dynamic dynamic;
  if (is_musl(path))
    return true;
  if (!open_image(&loader, AT_FDCWD, path))
    return false;
  bool native = is_native(&loader);
  if (native)
    read_dynamic(&loader, &dynamic);
  bool loads = native && defines_version(&loader, &dynamic);
  sys_close_own(&loader.file);
  return !loads;
}

/* A program without a loader is static, or it is a loader that is itself run as a command. */
static bool is_foreign_loader(const struct image *image)
{
  struct dynamic dynamic;
  if (image->header.elf.e_type != ET_DYN)
    return false;
  read_dynamic(image, &dynamic);
  return !dynamic.executable && !defines_version(image, &dynamic);
}

/* Does a program for another machine have a loader? */
static bool has_other_loader(const struct image *image)
{
  bool small = image->header.elf.e_ident[EI_CLASS] == ELFCLASS32;
  const Elf64_Ehdr *elf = &image->header.elf;
  const Elf32_Ehdr *elf_32 = &image->header.elf_32;
  uint64_t at = small ? elf_32->e_phoff : elf->e_phoff, size = small ? elf_32->e_phentsize : elf->e_phentsize;
  unsigned count = small ? elf_32->e_phnum : elf->e_phnum;
  uint32_t type;
  if (image->header.elf.e_ident[EI_DATA] != ELFDATA2LSB)
    return false;
  for (unsigned i = 0; i < count && i < SEGMENTS_MAX && sys_read_at(&image->file, at + i * size, &type, sizeof type);
       i++)
    if (type == PT_INTERP)
      return true;
  return false;
}

static bool is_foreign_program(const struct image *image)
{
  char loader[LOADER_BYTES];
  Elf64_Phdr segment;
  if (!is_native(image))
    return has_other_loader(image);
  if (!find_segment(image, PT_INTERP, &segment))
    return is_foreign_loader(image);
  if (!segment.p_filesz || segment.p_filesz > sizeof loader ||
      !sys_read_at(&image->file, segment.p_offset, loader, segment.p_filesz))
    return false;
  loader[segment.p_filesz - 1] = '\0';
  return refuses(loader);
}

/* ---- scripts ---- */

/* The interpreter that a '#!' line names, with a NUL at its end; NULL: the kernel refuses the line. */
static char *interpreter_of(char header[HEADER_BYTES + 1])
{
  char *start = header + 2 + strspn(header + 2, " \t"), *end = start + strcspn(start, " \t\n");
  if (end == start || end == header + HEADER_BYTES)
    return NULL;
  *end = '\0';
  return start;
}

bool foreign_loader(int directory, const char *path)
{
  struct image image;
  for (int i = 0; i <= SCRIPTS_MAX; i++) {
    if (!path || !open_image(&image, directory, path))
      return false;
    bool elf = is_elf(&image), foreign = elf && is_foreign_program(&image);
    sys_close_own(&image.file);
    if (elf)
      return foreign;
    /* a text without '#!' is run by execvp(), and other calls fail */
    path = memcmp(image.header.bytes, "#!", 2) ? _PATH_BSHELL : interpreter_of(image.header.bytes);
    directory = AT_FDCWD;
  }
  return false;
}
