/* The segments of ELF files, as their program headers describe them.
 *
 * Context: BATCH.  Keeps no state; descriptors belong to the caller.  Every file is hostile: one whose header is
 * damaged counts as unreadable.
 */
#ifndef COMMON_SYMBOLS_ELF_SEGMENTS_H
#define COMMON_SYMBOLS_ELF_SEGMENTS_H

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ELF_SEGMENTS_MAX = 256 };

static inline bool elf_segments_read(int fd, void *into, size_t size, uint64_t offset)
{
  return offset <= INT64_MAX && pread(fd, into, size, (off_t)offset) == (ssize_t)size;
}

/* Opens a 64-bit file and reads its header.  Returns the descriptor, -1 if the file cannot be used. */
static inline int elf_segments_open(const char *path, Elf64_Ehdr *head)
{
  struct stat stat;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0 && !fstat(fd, &stat) && S_ISREG(stat.st_mode) && elf_segments_read(fd, head, sizeof *head, 0) &&
      !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 &&
      head->e_phentsize == sizeof(Elf64_Phdr) && head->e_phnum <= ELF_SEGMENTS_MAX)
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

/* Reads the header of a segment.  Returns false on failure. */
static inline bool elf_segments_header(int fd, const Elf64_Ehdr *head, unsigned number, Elf64_Phdr *segment)
{
  return elf_segments_read(fd, segment, sizeof *segment, head->e_phoff + number * sizeof *segment);
}

/* Whether a segment holds code. */
static inline bool elf_segments_has_code(const Elf64_Phdr *segment)
{
  return segment->p_type == PT_LOAD && segment->p_flags & PF_X;
}

#endif
