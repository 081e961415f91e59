#include "hpcprof-lite/symbols/callees.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADERS_MAX = 256, SEGMENTS_MAX = 8, WINDOW = 4096, LOAD_MAX = 7, MOVE = 3, CALL = 0xe8, CALL_BYTES = 5 };

struct callees {
  int fd;
  unsigned count;
  Elf64_Phdr segments[SEGMENTS_MAX]; /* executable ones */
};

static bool read_at(int fd, void *into, size_t size, uint64_t offset)
{
  return offset <= INT64_MAX && pread(fd, into, size, (off_t)offset) == (ssize_t)size;
}

static bool find_segments(struct callees *callees)
{
  Elf64_Ehdr head;
  if (!read_at(callees->fd, &head, sizeof head, 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > HEADERS_MAX)
    return false;
  for (unsigned i = 0; i < head.e_phnum && callees->count < SEGMENTS_MAX; i++) {
    Elf64_Phdr *segment = &callees->segments[callees->count];
    if (!read_at(callees->fd, segment, sizeof *segment, head.e_phoff + i * sizeof *segment))
      return false;
    callees->count += segment->p_type == PT_LOAD && segment->p_flags & PF_X;
  }
  return callees->count;
}

struct callees *callees_open(const char *path)
{
  struct callees *callees = calloc(1, sizeof *callees);
  struct stat stat;
  if (!callees)
    return NULL;
  callees->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (callees->fd >= 0 && !fstat(callees->fd, &stat) && S_ISREG(stat.st_mode) && find_segments(callees))
    return callees;
  callees_free(callees);
  return NULL;
}

void callees_free(struct callees *callees)
{
  if (!callees)
    return;
  if (callees->fd >= 0)
    close(callees->fd);
  free(callees);
}

/* Reads code that ends at an address.  Returns its size, 0 if it is not in the file. */
static size_t read_code(const struct callees *callees, uint64_t low, uint64_t end, uint8_t code[WINDOW])
{
  if (low >= end)
    return 0;
  size_t size = end - low < WINDOW ? (size_t)(end - low) : WINDOW;
  for (unsigned i = 0; i < callees->count; i++) {
    const Elf64_Phdr *segment = &callees->segments[i];
    uint64_t at = end - size - segment->p_vaddr;
    if (end - size >= segment->p_vaddr && at < segment->p_filesz && size <= segment->p_filesz - at)
      return read_at(callees->fd, code, size, segment->p_offset + at) ? size : 0;
  }
  return 0;
}

/* The address that an instruction loads, 0 if it is another one; *first: into the register of the first argument,
 * perhaps by way of another register. */
static uint64_t loaded(const uint8_t code[LOAD_MAX + MOVE], uint64_t at, bool *first)
{
  static const uint8_t move[MOVE] = {0x48, 0x89, 0xc7}; /* mov %rax, %rdi */
  int32_t distance;
  uint32_t address;
  *first = false;
  if ((code[0] == 0x48 || code[0] == 0x4c) && code[1] == 0x8d && (code[2] & 0xc7) == 0x05) { /* lea distance(%rip) */
    memcpy(&distance, code + 3, sizeof distance);
    *first = code[0] == 0x48 && (code[2] == 0x3d || (code[2] == 0x05 && !memcmp(code + LOAD_MAX, move, MOVE)));
    return at + LOAD_MAX + (uint64_t)(int64_t)distance;
  }
  if ((code[0] & 0xf8) == 0xb8) { /* mov $address, register */
    memcpy(&address, code + 1, sizeof address);
    *first = code[0] == 0xbf;
    return address;
  }
  return 0;
}

static bool is_code(const struct callees *callees, uint64_t address)
{
  for (unsigned i = 0; i < callees->count; i++)
    if (address >= callees->segments[i].p_vaddr &&
        address - callees->segments[i].p_vaddr < callees->segments[i].p_filesz)
      return true;
  return false;
}

uint64_t callees_called(const struct callees *callees, uint64_t return_address)
{
  uint8_t code[WINDOW];
  int32_t distance;
  if (return_address < CALL_BYTES ||
      read_code(callees, return_address - CALL_BYTES, return_address, code) != CALL_BYTES || code[0] != CALL)
    return 0;
  memcpy(&distance, code + 1, sizeof distance);
  return return_address + (uint64_t)(int64_t)distance;
}

unsigned callees_find(const struct callees *callees, uint64_t low, uint64_t return_address, uint64_t *addresses,
                      unsigned max, unsigned *direct)
{
  uint8_t code[WINDOW + LOAD_MAX + MOVE] = {0};
  uint64_t call = return_address - CALL_BYTES;
  size_t size = read_code(callees, low, call, code);
  unsigned count = 0;
  bool near = true, first;
  *direct = 0;
  for (size_t i = size; i-- > 0 && count < max;) {
    near = near && !(code[i] == CALL && i + CALL_BYTES <= size);
    uint64_t address = loaded(code + i, call - size + i, &first);
    if (!address || !is_code(callees, address))
      continue;
    addresses[count++] = address;
    if (!near || !first)
      continue;
    addresses[count - 1] = addresses[*direct];
    addresses[(*direct)++] = address;
  }
  bool complete = size == call - low && count < max;
  return complete ? count : *direct;
}
