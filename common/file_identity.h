/* What identifies the file of a module that has no build id: its size, a checksum of its program headers and dynamic
 * section, and checksums of code in which samples fell.  doc/format.md describes them.
 *
 * Context: RT (the library, from memory) and BATCH (hpcprof-lite, from the file).  No state; all memory is the
 * caller's.
 */
#ifndef COMMON_FILE_IDENTITY_H
#define COMMON_FILE_IDENTITY_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"

enum {
  FILE_IDENTITY_PAGE = 4096, /* the checksum of a page is that of its first bytes, up to so many: all of its code */
  FILE_IDENTITY_PAGES = 64,  /* of a module */
  FILE_IDENTITY_SEGMENTS = 64,
  FILE_IDENTITY_ENTRIES = 256 /* of the dynamic section */
};

/* A checksum of code of a module. */
struct file_identity_page {
  uint64_t offset, checksum; /* offset: as in nodes, an address in the ELF file */
  uint32_t bytes;
};

struct file_identity {
  uint64_t size, time_ns; /* of the file; time_ns: of its last change, which is shown and never compared */
  uint64_t headers;       /* checksum; 0: not known, then nothing but the time is */
  struct file_identity_page *pages;
  uint32_t pages_count;
  uint32_t differs; /* processes had different files of that path */
};

/* Appends an entry of the dynamic section to the checksum of the headers.  The dynamic loader adds the load bias to
 * some addresses, and sets DT_DEBUG.  start, end: of the module in memory, 0 for a file. */
static inline uint64_t file_identity_entry(uint64_t hash, const Elf64_Dyn *entry, uint64_t base, uint64_t start,
                                           uint64_t end)
{
  uint64_t value = entry->d_tag == DT_DEBUG ? 0 : entry->d_un.d_val;
  uint64_t pair[2] = {(uint64_t)entry->d_tag, value - (value >= start && value < end ? base : 0)};
  return hash_bytes(hash, pair, sizeof pair);
}

/* Whether code is changed where the module is loaded, so that it differs from that in the file. */
static inline bool file_identity_moves_code(const Elf64_Dyn *entry)
{
  return entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL);
}

#endif
