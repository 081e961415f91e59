#define _GNU_SOURCE
#include "hpcrun-lite/interpose/foreign_loader.h"

#include <elf.h>
#include <fcntl.h>
#include <paths.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/loader_version.h"
#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/rt/core/sys.h"

enum {
  HEADER_BYTES = 256,    /* what the kernel reads of a file to recognize it */
  LOADER_BYTES = 1024,   /* longer paths are not examined: stacks may be small */
  WINDOW_BYTES = 1024,   /* has room for the header and the table of program headers of nearly all programs */
  SCRIPTS_MAX = 5,       /* interpreters of interpreters: the kernel's limit */
  SEGMENTS_MAX = 128,    /* program headers; the limits only bound the work on damaged files */
  DYNAMIC_MAX = 1024,    /* entries of a dynamic section */
  DEFINITIONS_MAX = 1024 /* of versions */
};

/* A file while it is examined.  Tables are read entry by entry from the window, a part of the file. */
struct image {
  struct sys_own file;
  uint64_t size, window_at, window_size;
  char window[WINDOW_BYTES];
  union {
    char bytes[HEADER_BYTES + 1];
    Elf64_Ehdr elf;
    Elf32_Ehdr elf_32;
  } header;
};

/* Reads bytes, at most those of a window. */
static bool read_part(struct image *image, uint64_t at, void *out, uint64_t bytes)
{
  if (at > image->size || bytes > image->size - at || bytes > WINDOW_BYTES)
    return false;
  if (at < image->window_at || at + bytes > image->window_at + image->window_size) {
    uint64_t rest = image->size - at;
    image->window_at = at;
    image->window_size = rest < WINDOW_BYTES ? rest : WINDOW_BYTES;
    if (!sys_read_at(&image->file, at, image->window, image->window_size)) {
      image->window_size = 0;
      return false;
    }
  }
  memcpy(out, image->window + (at - image->window_at), bytes);
  return true;
}

static bool open_image(struct image *image, int directory, const char *path)
{
  image->file.fd = -1;
  image->window_at = image->window_size = 0;
  if (!sys_open_program(&image->file, directory, path, &image->size))
    return false;
  uint64_t size = image->size < HEADER_BYTES ? image->size : HEADER_BYTES;
  bool read = read_part(image, 0, image->header.bytes, size);
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
         elf->e_machine == MACHINE_ELF;
}

/* Segment i of a native file. */
static bool read_segment(struct image *image, unsigned i, Elf64_Phdr *segment)
{
  const Elf64_Ehdr *elf = &image->header.elf;
  return i < elf->e_phnum && i < SEGMENTS_MAX &&
         read_part(image, elf->e_phoff + (uint64_t)i * elf->e_phentsize, segment, sizeof *segment);
}

static bool find_segment(struct image *image, uint32_t type, Elf64_Phdr *segment)
{
  for (unsigned i = 0; read_segment(image, i, segment); i++)
    if (segment->p_type == type)
      return true;
  return false;
}

/* The place in the file of what is loaded at that address; 0: none. */
static uint64_t place_of(struct image *image, uint64_t address)
{
  Elf64_Phdr segment;
  for (unsigned i = 0; read_segment(image, i, &segment); i++)
    if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz)
      return address - segment.p_vaddr + segment.p_offset;
  return 0;
}

/* What is needed of the dynamic section: places in the file, 0 if there are none. */
struct dynamic {
  uint64_t definitions, strings;
  bool executable; /* linked as a program */
};

static void read_dynamic(struct image *image, struct dynamic *dynamic)
{
  Elf64_Phdr segment;
  Elf64_Dyn entry = {.d_tag = DT_NULL};
  uint64_t definitions = 0, strings = 0;
  *dynamic = (struct dynamic){0};
  if (!find_segment(image, PT_DYNAMIC, &segment))
    return;
  uint64_t count = segment.p_filesz / sizeof entry;
  for (uint64_t i = 0; i < count && i < DYNAMIC_MAX; i++) {
    if (!read_part(image, segment.p_offset + i * sizeof entry, &entry, sizeof entry) || entry.d_tag == DT_NULL)
      break;
    if (entry.d_tag == DT_VERDEF)
      definitions = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRTAB)
      strings = entry.d_un.d_ptr;
    dynamic->executable |= entry.d_tag == DT_FLAGS_1 && entry.d_un.d_val & DF_1_PIE;
  }
  dynamic->definitions = definitions ? place_of(image, definitions) : 0;
  dynamic->strings = strings ? place_of(image, strings) : 0;
}

/* The hash of a version's name, as the table of definitions has it. */
static uint32_t hash_of(const char *name)
{
  uint32_t hash = 0;
  for (; *name; name++) {
    hash = (hash << 4) + (unsigned char)*name;
    hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
  }
  return hash;
}

/* Does a loader define the version that the library needs, so that it is a glibc of that release or later? */
static bool defines_version(struct image *image, const struct dynamic *dynamic)
{
  uint64_t at = dynamic->definitions;
  Elf64_Verdef definition = {.vd_next = 1};
  for (unsigned i = 0; at && dynamic->strings && definition.vd_next && i < DEFINITIONS_MAX; i++) {
    char name[sizeof LOADER_VERSION];
    Elf64_Verdaux aux;
    if (!read_part(image, at, &definition, sizeof definition))
      return false;
    if (definition.vd_hash == hash_of(LOADER_VERSION) && read_part(image, at + definition.vd_aux, &aux, sizeof aux) &&
        read_part(image, dynamic->strings + aux.vda_name, name, sizeof name) &&
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

/* Can the loader of a program not load the library?  It takes the program's place in `image`: stacks may be small. */
static bool refuses(struct image *image, const char *path)
{
  struct dynamic dynamic;
  if (is_musl(path))
    return true;
  sys_close_own(&image->file);
  if (!open_image(image, AT_FDCWD, path))
    return false;
  if (!is_native(image))
    return true;
  read_dynamic(image, &dynamic);
  return !defines_version(image, &dynamic);
}

/* A program without a loader is static, or it is a loader that is itself run as a command. */
static bool is_foreign_loader(struct image *image)
{
  struct dynamic dynamic;
  if (image->header.elf.e_type != ET_DYN)
    return false;
  read_dynamic(image, &dynamic);
  return !dynamic.executable && !defines_version(image, &dynamic);
}

/* Does a program for another machine have a loader? */
static bool has_other_loader(struct image *image)
{
  bool small = image->header.elf.e_ident[EI_CLASS] == ELFCLASS32;
  const Elf64_Ehdr *elf = &image->header.elf;
  const Elf32_Ehdr *elf_32 = &image->header.elf_32;
  uint64_t at = small ? elf_32->e_phoff : elf->e_phoff, size = small ? elf_32->e_phentsize : elf->e_phentsize;
  unsigned count = small ? elf_32->e_phnum : elf->e_phnum;
  uint32_t type;
  if (image->header.elf.e_ident[EI_DATA] != ELFDATA2LSB)
    return false;
  for (unsigned i = 0; i < count && i < SEGMENTS_MAX && read_part(image, at + i * size, &type, sizeof type); i++)
    if (type == PT_INTERP)
      return true;
  return false;
}

/* Afterwards another file may be open in its place. */
static bool is_foreign_program(struct image *image)
{
  char loader[LOADER_BYTES];
  Elf64_Phdr segment;
  if (!is_native(image))
    return has_other_loader(image);
  if (!find_segment(image, PT_INTERP, &segment))
    return is_foreign_loader(image);
  if (!segment.p_filesz || segment.p_filesz > sizeof loader ||
      !read_part(image, segment.p_offset, loader, segment.p_filesz))
    return false;
  loader[segment.p_filesz - 1] = '\0';
  return refuses(image, loader);
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
