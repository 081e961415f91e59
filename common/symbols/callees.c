#include "common/symbols/callees.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "common/symbols/aarch64_code.h"
#include "common/symbols/elf_segments.h"

#include <assert.h>
#include <stdlib.h>

enum { SEGMENTS_MAX = 8, WINDOW = 4096, JUMP_WINDOWS = 16 };
enum { LOAD_MAX = 7, MOVE = 3, CALL_BYTES = 5 }; /* bytes of instructions */
enum { CALL = 0xe8, JUMP = 0xe9 };               /* operation codes */

struct callees {
  int fd;
  uint16_t machine;
  unsigned count;
  Elf64_Phdr segments[SEGMENTS_MAX]; /* executable ones */
};

static bool find_segments(struct callees *callees, const Elf64_Ehdr *head)
{
  assert(callees->fd >= 0 && !callees->count);
  for (unsigned i = 0; i < head->e_phnum && callees->count < SEGMENTS_MAX; i++) {
    Elf64_Phdr *segment = &callees->segments[callees->count];
    if (!elf_segments_header(callees->fd, head, i, segment))
      return false;
    callees->count += elf_segments_has_code(segment);
  }
  return callees->count;
}

struct callees *callees_open(const char *path)
{
  Elf64_Ehdr head;
  int fd = elf_segments_open(path, &head);
  if (fd < 0)
    return NULL;
  struct callees *callees = xcalloc(1, sizeof *callees);
  callees->fd = fd;
  callees->machine = head.e_machine;
  if (find_segments(callees, &head))
    return callees;
  callees_free(callees);
  return NULL;
}

void callees_free(struct callees *callees)
{
  if (!callees)
    return;
  close(callees->fd);
  free(callees);
}

/* The segment of code that has an address in the file; NULL if there is none. */
static const Elf64_Phdr *segment_of(const struct callees *callees, uint64_t address)
{
  for (unsigned i = 0; i < callees->count; i++)
    if (address >= callees->segments[i].p_vaddr &&
        address - callees->segments[i].p_vaddr < callees->segments[i].p_filesz)
      return &callees->segments[i];
  return NULL;
}

/* Reads code that ends at an address.  Returns its size, 0 if it is not in the file. */
static size_t read_code(const struct callees *callees, uint64_t low, uint64_t end, uint8_t code[WINDOW])
{
  assert(callees->fd >= 0);
  if (low >= end)
    return 0;
  size_t size = MIN(end - low, WINDOW);
  const Elf64_Phdr *segment = segment_of(callees, end - size);
  uint64_t at = segment ? end - size - segment->p_vaddr : 0;
  bool complete =
      segment && size <= segment->p_filesz - at && elf_segments_read(callees->fd, code, size, segment->p_offset + at);
  return complete ? size : 0;
}

size_t callees_code(const struct callees *callees, uint64_t low, size_t size, uint8_t *code)
{
  const Elf64_Phdr *segment = segment_of(callees, low);
  if (!segment)
    return 0;
  uint64_t at = low - segment->p_vaddr;
  size = MIN(segment->p_filesz - at, size);
  return elf_segments_read(callees->fd, code, size, segment->p_offset + at) ? size : 0;
}

uint16_t callees_machine(const struct callees *callees)
{
  return callees->machine;
}

enum { FIRST_ARGUMENT = 7, ACCUMULATOR = 0, NO_REGISTER = AARCH64_REGISTERS }; /* %rdi, %rax */

static bool is_aarch64(const struct callees *callees)
{
  return callees->machine == EM_AARCH64;
}

/* The instruction of aarch64 before an address; 0 if it is not in the file. */
static uint32_t word_before(const struct callees *callees, uint64_t address)
{
  uint8_t code[WINDOW];
  bool read = address >= AARCH64_BYTES && read_code(callees, address - AARCH64_BYTES, address, code) == AARCH64_BYTES;
  return read ? aarch64_word(code) : 0;
}

/* The address that an instruction loads, 0 if it is another one; *into: the register, which perhaps receives it by way
 * of another one. */
static uint64_t loaded(const uint8_t code[LOAD_MAX + MOVE], uint64_t at, unsigned *into)
{
  static const uint8_t move[MOVE] = {0x48, 0x89, 0xc7}; /* mov %rax, %rdi */
  int32_t distance;
  uint32_t address;
  if ((code[0] == 0x48 || code[0] == 0x4c) && code[1] == 0x8d && (code[2] & 0xc7) == 0x05) { /* lea distance(%rip) */
    memcpy(&distance, code + 3, sizeof distance);
    *into = (code[2] >> 3 & 7) + (code[0] == 0x4c ? 8 : 0);
    if (*into == ACCUMULATOR && !memcmp(code + LOAD_MAX, move, MOVE))
      *into = FIRST_ARGUMENT;
    return at + LOAD_MAX + (uint64_t)(int64_t)distance;
  }
  if ((code[0] & 0xf8) == 0xb8) { /* mov $address, register */
    memcpy(&address, code + 1, sizeof address);
    *into = code[0] & 7;
    return address;
  }
  return 0;
}

/* The register that an instruction moves to the first argument's, NO_REGISTER if it is another one. */
static unsigned moved(const uint8_t code[MOVE])
{
  bool move = (code[0] == 0x48 || code[0] == 0x4c) && code[1] == 0x89 && (code[2] & 0xc7) == 0xc7;
  if (!move)
    return NO_REGISTER;
  return (code[2] >> 3 & 7) + (code[0] == 0x4c ? 8u : 0);
}

uint64_t callees_called(const struct callees *callees, uint64_t return_address)
{
  uint8_t code[WINDOW];
  int32_t distance;
  if (is_aarch64(callees)) {
    uint32_t word = word_before(callees, return_address);
    bool enters = aarch64_is_call(word) || aarch64_is_jump(word);
    return enters ? aarch64_target(word, return_address - AARCH64_BYTES) : 0;
  }
  if (return_address < CALL_BYTES ||
      read_code(callees, return_address - CALL_BYTES, return_address, code) != CALL_BYTES ||
      (code[0] != CALL && code[0] != JUMP))
    return 0;
  memcpy(&distance, code + 1, sizeof distance);
  return return_address + (uint64_t)(int64_t)distance;
}

/* Where a direct jump leads, also a conditional one, that consists of all these bytes; 0 if they are something else. */
static uint64_t jump_target(const uint8_t *code, size_t size, uint64_t end)
{
  enum { SHORT_JUMP = 0xeb, SHORT_BYTES = 2, CONDITION_BYTES = 6 };
  int32_t distance;
  bool near = (size == CALL_BYTES && code[0] == JUMP) ||
              (size == CONDITION_BYTES && code[0] == 0x0f && (code[1] & 0xf0) == 0x80);
  if (size == SHORT_BYTES && (code[0] == SHORT_JUMP || (code[0] & 0xf0) == 0x70))
    return end + (uint64_t)(int64_t)(int8_t)code[1];
  if (!near)
    return 0;
  memcpy(&distance, code + size - sizeof distance, sizeof distance);
  return end + (uint64_t)(int64_t)distance;
}

unsigned callees_jumped(const struct callees *callees, uint64_t address, bool behind,
                        uint64_t targets[CALLEES_JUMPS_MAX])
{
  static const uint8_t sizes[CALLEES_JUMPS_MAX] = {5, 6, 2};
  uint8_t code[WINDOW];
  unsigned count = 0;
  if (is_aarch64(callees)) {
    uint64_t end = behind ? address : address + AARCH64_BYTES;
    uint32_t word = word_before(callees, end);
    targets[0] = aarch64_is_call(word) ? 0 : aarch64_target(word, end - AARCH64_BYTES);
    return targets[0] != 0;
  }
  for (unsigned i = 0; i < CALLEES_JUMPS_MAX; i++) {
    uint64_t low = behind ? address - sizes[i] : address;
    if (address < sizes[i] || read_code(callees, low, low + sizes[i], code) != sizes[i])
      continue;
    uint64_t target = jump_target(code, sizes[i], low + sizes[i]);
    if (target)
      targets[count++] = target;
  }
  return count;
}

bool callees_by_register(const struct callees *callees, uint64_t return_address)
{
  enum { SHORTEST = 2, LONGEST = 8, BY_SLOT = 6 };
  uint8_t code[WINDOW];
  if (is_aarch64(callees))
    return aarch64_calls_register(word_before(callees, return_address));
  uint64_t low = return_address > LONGEST ? return_address - LONGEST : 0;
  size_t size = read_code(callees, low, return_address, code);
  if (size >= BY_SLOT && code[size - BY_SLOT] == 0xff && code[size - BY_SLOT + 1] == 0x15) /* call *slot(%rip) */
    return false;
  for (size_t i = 0; i + SHORTEST <= size; i++)
    if (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10)
      return true;
  return false;
}

/* Bytes of a call by way of a register or memory that begins there: operation code, ModRM, then what that asks for. */
static size_t indirect_call_bytes(const uint8_t *code)
{
  unsigned mode = code[1] >> 6, operand = code[1] & 7;
  if (code[0] != 0xff || (code[1] & 0x38) != 0x10)
    return 0;
  if (mode == 3)
    return 2;
  bool index = operand == 4; /* a SIB byte follows */
  bool wide = mode == 2 || (mode == 0 && (operand == 5 || (index && (code[2] & 7) == 5)));
  return 2 + index + (wide ? 4u : mode == 1);
}

bool callees_ends_call(const struct callees *callees, uint64_t return_address)
{
  enum { LONGEST = 7 };
  uint8_t code[WINDOW];
  if (is_aarch64(callees)) {
    uint32_t word = word_before(callees, return_address);
    return aarch64_is_call(word) || aarch64_calls_register(word) || !segment_of(callees, return_address - 1);
  }
  if (return_address < LONGEST || read_code(callees, return_address - LONGEST, return_address, code) != LONGEST)
    return !segment_of(callees, return_address - 1);
  if (code[LONGEST - CALL_BYTES] == CALL)
    return true;
  for (size_t i = 0; i + 2 <= LONGEST; i++)
    if (indirect_call_bytes(code + i) == LONGEST - i)
      return true;
  return false;
}

/* The end of the jump at code[at], which is at an address; 0: there is none, or it leads out of the file's code. */
static uint64_t jump_end(const struct callees *callees, const uint8_t *code, uint64_t address)
{
  if (is_aarch64(callees)) {
    uint32_t word = aarch64_word(code);
    bool jumps = address % AARCH64_BYTES == 0 && aarch64_is_jump(word);
    return jumps && segment_of(callees, aarch64_target(word, address)) ? address + AARCH64_BYTES : 0;
  }
  int32_t distance;
  uint64_t end = address + CALL_BYTES;
  memcpy(&distance, code + 1, sizeof distance);
  return code[0] == JUMP && segment_of(callees, end + (uint64_t)(int64_t)distance) ? end : 0;
}

unsigned callees_jumps(const struct callees *callees, uint64_t low, uint64_t *ends, unsigned max)
{
  assert(ends && max);
  uint8_t code[WINDOW];
  unsigned count = 0;
  for (unsigned window = 0; window < JUMP_WINDOWS && count < max; window++) {
    uint64_t start = low + window * (uint64_t)(WINDOW - CALL_BYTES + 1);
    size_t size = callees_code(callees, start, WINDOW, code);
    for (size_t i = 0; i + CALL_BYTES <= size && count < max; i++) {
      uint64_t end = jump_end(callees, code + i, start + i);
      if (end)
        ends[count++] = end;
    }
    if (size < WINDOW)
      break;
  }
  return count;
}

/* Makes the address that the code loads into a register the direct one, if there is only one. */
static void take_register(uint64_t *addresses, const uint8_t *registers, unsigned count, unsigned wanted,
                          unsigned *direct)
{
  assert(!count || (addresses && registers));
  unsigned found = count;
  for (unsigned i = 0; i < count; i++) {
    if (registers[i] != wanted || (found < count && addresses[found] == addresses[i]))
      continue;
    if (found < count)
      return;
    found = i;
  }
  if (found == count)
    return;
  uint64_t address = addresses[found];
  addresses[found] = addresses[0];
  addresses[0] = address;
  *direct = 1;
}

/* What an instruction before a call does. */
struct before_call {
  bool calls;           /* it is a direct call itself */
  unsigned from;        /* the register that it moves to the first argument's */
  uint64_t address;     /* that it loads; 0: none */
  unsigned into, first; /* into that register; that of the first argument */
};

/* Looks at code[at], which is before a call at code[size]; code[0] is at the address `start`. */
static struct before_call look_before(const struct callees *callees, const uint8_t *code, size_t at, size_t size,
                                      uint64_t start)
{
  struct before_call found = {.from = NO_REGISTER};
  if (is_aarch64(callees)) {
    if ((start + at) % AARCH64_BYTES || at + AARCH64_BYTES > size)
      return found;
    found.calls = aarch64_is_call(aarch64_word(code + at));
    found.from = aarch64_moved(aarch64_word(code + at));
    found.address = aarch64_loaded(code, at, start, &found.into);
    return found;
  }
  found.first = FIRST_ARGUMENT;
  found.calls = code[at] == CALL && at + CALL_BYTES <= size;
  found.from = moved(code + at);
  found.address = loaded(code + at, start + at, &found.into);
  return found;
}

unsigned callees_find(const struct callees *callees, uint64_t low, uint64_t return_address, uint64_t *addresses,
                      unsigned max, unsigned *direct)
{
  assert(addresses && max && direct);
  enum { REGISTERS_MAX = 256 };
  uint8_t code[WINDOW + LOAD_MAX + MOVE] = {0}, registers[REGISTERS_MAX];
  uint64_t call = return_address - (is_aarch64(callees) ? AARCH64_BYTES : CALL_BYTES);
  size_t size = read_code(callees, low, call, code);
  unsigned count = 0, from = NO_REGISTER;
  bool near = true;
  *direct = 0;
  max = MIN(max, REGISTERS_MAX);
  for (size_t i = size; i-- > 0 && count < max;) {
    struct before_call found = look_before(callees, code, i, size, call - size);
    near = near && !found.calls;
    if (near && from == NO_REGISTER)
      from = found.from;
    if (!found.address || !segment_of(callees, found.address))
      continue;
    addresses[count] = found.address;
    registers[count++] = (uint8_t)found.into;
    if (!near || found.into != found.first)
      continue;
    addresses[count - 1] = addresses[*direct];
    registers[count - 1] = registers[*direct];
    registers[*direct] = (uint8_t)found.first;
    addresses[(*direct)++] = found.address;
  }
  if (!*direct && from != NO_REGISTER)
    take_register(addresses, registers, count, from, direct);
  bool complete = size == call - low && count < max;
  return complete ? count : *direct;
}
