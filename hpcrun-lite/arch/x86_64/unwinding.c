#include "hpcrun-lite/arch/unwinding.h"

#include <libunwind.h>
#include <stddef.h>
#include <ucontext.h>

enum { DIRECT_BYTES = 5 };

const int unwinding_fp = UNW_X86_64_RBP;

bool unwinding_register(const machine_register_t *registers, int number, uint64_t *value)
{
  static const int8_t at[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                              REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  if (number < 0 || (size_t)number >= sizeof at)
    return false;
  *value = (uint64_t)registers[at[number]];
  return true;
}

bool unwinding_forget_signing(uint8_t *program, unsigned bytes)
{
  (void)program, (void)bytes;
  return false;
}

unsigned unwinding_write_program(const uint8_t code[UNWINDING_BEGINNING_BYTES], int64_t alignment,
                                 uint8_t program[UNWINDING_PROGRAM_MOST])
{
  (void)code, (void)alignment, (void)program;
  return 0;
}

/* Length of the instruction that begins with ff and has these bytes next, if it calls by a register or by memory; 0 if
 * it does not. */
static unsigned indirect_length(uint8_t modrm, uint8_t sib)
{
  static const uint8_t displacement[4] = {0, 1, 4, 0};
  unsigned mode = modrm >> 6, base = modrm & 7;
  if ((modrm >> 3 & 7) != 2)
    return 0;
  if (mode == 3)
    return 2;
  if (mode == 0 && base == 5)
    return 6;
  if (base != 4)
    return 2u + displacement[mode];
  return 3u + (mode == 0 && (sib & 7) == 5 ? 4 : displacement[mode]);
}

enum call_kind unwinding_call(const uint8_t code[UNWINDING_CODE_BYTES], uint64_t after, uint64_t *target)
{
  static const uint8_t lengths[] = {2, 3, 4, 6, 7};
  const uint8_t *end = code + UNWINDING_CODE_BYTES;
  if (*(end - DIRECT_BYTES) == 0xe8) {
    int32_t distance;
    __builtin_memcpy(&distance, end - DIRECT_BYTES + 1, sizeof distance);
    *target = after + (uint64_t)(int64_t)distance;
    return CALL_DIRECT;
  }
  for (unsigned i = 0; i < sizeof lengths; i++) {
    const uint8_t *at = end - lengths[i];
    if (*at == 0xff && indirect_length(at[1], lengths[i] > 2 ? at[2] : 0) == lengths[i])
      return CALL_INDIRECT;
  }
  return CALL_NONE;
}

/* libunwind numbers these registers as the machine does. */
int unwinding_called_register(const uint8_t code[UNWINDING_CODE_BYTES])
{
  const uint8_t *end = code + UNWINDING_CODE_BYTES;
  int number = (end[-1] & 7) + (end[-3] == 0x41 ? 8 : 0); /* REX.B */
  bool preserved = number == UNW_X86_64_RBX || (number >= UNW_X86_64_R12 && number <= UNW_X86_64_R15);
  return end[-2] == 0xff && (end[-1] & 0xf8) == 0xd0 && preserved ? number : -1;
}

bool unwinding_is_sigreturn(const uint8_t code[UNWINDING_CODE_BYTES])
{
  static const uint8_t sigreturn[UNWINDING_CODE_BYTES] = {0x48, 0xc7, 0xc0, 0x0f,
                                                          0,    0,    0,    0x0f}; /* mov $15, %rax; syscall */
  return !__builtin_memcmp(code, sigreturn, sizeof sigreturn);
}

/* As code of Python's perf support leaves functions. */
static int leaving_distance(const uint8_t code[UNWINDING_CODE_BYTES])
{
  static const uint8_t add_to_rsp[3] = {0x48, 0x83, 0xc4};
  enum { POP_RBP = 0x5d, RET = 0xc3, SMALL = 0x80 };
  if (code[0] == POP_RBP && code[1] == RET)
    return 8;
  return !__builtin_memcmp(code, add_to_rsp, sizeof add_to_rsp) && code[3] < SMALL && code[4] == RET ? code[3] : -1;
}

int unwinding_return_distance(const uint8_t code[UNWINDING_CODE_BYTES], bool leaves)
{
  static const uint8_t endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa}, take_from_rsp[3] = {0x48, 0x83, 0xec},
                       set_frame[2][3] = {{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}};
  enum { PUSH_RBP = 0x55, RET = 0xc3 };
  if (leaves)
    return leaving_distance(code);
  if (code[0] == PUSH_RBP || code[0] == RET || !__builtin_memcmp(code, endbr64, sizeof endbr64) ||
      !__builtin_memcmp(code, take_from_rsp, sizeof take_from_rsp))
    return 0;
  return !__builtin_memcmp(code, set_frame[0], 3) || !__builtin_memcmp(code, set_frame[1], 3) ? 8 : -1;
}
