#include "common/symbols/bounds.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "common/symbols/elf_segments.h"

#include <assert.h>
#include <stdlib.h>

/* Pointer encodings of .eh_frame_hdr.  For the table, linkers write only these two. */
enum { ENCODED_UDATA4 = 0x03, ENCODED_DATAREL_SDATA4 = 0x3b, ENCODED_FORMAT = 0x0f };
enum { TABLE_BYTES_MAX = 64 << 20 };

/* A row of the table. */
struct bounds_entry {
  int32_t start, fde; /* relative to the section */
};

struct bounds {
  uint64_t base, code_end; /* address of the section; end of the executable segments */
  uint8_t *bytes;
  const struct bounds_entry *entries;
  uint32_t count;
};

/* Finds the program header of .eh_frame_hdr, and the end of the code. */
static bool find_segment(int fd, const Elf64_Ehdr *head, Elf64_Phdr *found, uint64_t *code_end)
{
  bool exists = false;
  for (unsigned i = 0; i < head->e_phnum; i++) {
    Elf64_Phdr segment;
    if (!elf_segments_header(fd, head, i, &segment))
      return false;
    if (elf_segments_has_code(&segment))
      *code_end = MAX(*code_end, segment.p_vaddr + segment.p_memsz);
    if (segment.p_type != PT_GNU_EH_FRAME)
      continue;
    *found = segment;
    exists = true;
  }
  return exists;
}

/* Finds the table, which follows the version, the encodings, a pointer to .eh_frame and the count. */
static bool find_entries(struct bounds *bounds, size_t size)
{
  assert(bounds->bytes);
  static const uint8_t pointer_sizes[ENCODED_FORMAT + 1] = {
      [0x00] = 8, [0x02] = 2, [0x03] = 4, [0x04] = 8, [0x0a] = 2, [0x0b] = 4, [0x0c] = 8};
  const uint8_t *bytes = bounds->bytes;
  if (size < 4 || bytes[0] != 1 || bytes[2] != ENCODED_UDATA4 || bytes[3] != ENCODED_DATAREL_SDATA4)
    return false;
  size_t pointer = pointer_sizes[bytes[1] & ENCODED_FORMAT], offset = 4 + pointer;
  if (!pointer || offset % sizeof(uint32_t) || size < offset + sizeof bounds->count)
    return false;
  memcpy(&bounds->count, bytes + offset, sizeof bounds->count);
  offset += sizeof bounds->count;
  bounds->entries = (const struct bounds_entry *)(bytes + offset);
  return bounds->count && bounds->count <= (size - offset) / sizeof *bounds->entries;
}

struct bounds *bounds_open(const char *path)
{
  Elf64_Ehdr head;
  Elf64_Phdr segment = {0};
  int fd = elf_segments_open(path, &head);
  if (fd < 0)
    return NULL;
  struct bounds *bounds = xcalloc(1, sizeof *bounds);
  bool sound = find_segment(fd, &head, &segment, &bounds->code_end) && segment.p_filesz <= TABLE_BYTES_MAX;
  if (sound) {
    bounds->base = segment.p_vaddr;
    bounds->bytes = xmalloc(segment.p_filesz);
    sound = elf_segments_read(fd, bounds->bytes, segment.p_filesz, segment.p_offset) &&
            find_entries(bounds, segment.p_filesz);
  }
  close(fd);
  if (sound)
    return bounds;
  bounds_free(bounds);
  return NULL;
}

void bounds_free(struct bounds *bounds)
{
  if (!bounds)
    return;
  free(bounds->bytes);
  free(bounds);
}

/* Where the function of a row begins. */
static uint64_t start_of(const struct bounds *bounds, size_t row)
{
  assert(row < bounds->count);
  return bounds->base + (uint64_t)(int64_t)bounds->entries[row].start;
}

uint64_t bounds_start(const struct bounds *bounds, uint64_t address)
{
  if (!bounds || address >= bounds->code_end)
    return 0;
  size_t above = FIRST_WHERE(i, bounds->count, start_of(bounds, i) > address);
  return above ? start_of(bounds, above - 1) : 0;
}
