/* Encodings: Arm Architecture Reference Manual for A-profile, chapter C4. */
#include "hpcrun-lite/arch/unwinding.h"

#include "hpcrun-lite/arch/aarch64/machine.h"

const int unwinding_fp = MACHINE_FP;

int unwinding_register(int number)
{
  return number >= 0 && number < MACHINE_REGISTERS ? number : -1; /* libunwind numbers them so, too */
}

/* The last instruction of these bytes. */
static uint32_t last_of(const uint8_t code[UNWINDING_CODE_BYTES])
{
  uint32_t instruction;
  __builtin_memcpy(&instruction, code + UNWINDING_CODE_BYTES - sizeof instruction, sizeof instruction);
  return instruction;
}

/* blr, and blraa, blrab and so on, which check a signature. */
static bool calls_by_register(uint32_t instruction)
{
  return (instruction & 0xfffffc1fu) == 0xd63f0000u || (instruction & 0xfefff800u) == 0xd63f0800u;
}

enum call_kind unwinding_call(const uint8_t code[UNWINDING_CODE_BYTES], uint64_t after, uint64_t *target)
{
  uint32_t instruction = last_of(code);
  if (instruction >> 26 == 0x25) { /* bl */
    *target = after - 4 + (uint64_t)((int64_t)((uint64_t)instruction << 38) >> 36);
    return CALL_DIRECT;
  }
  return calls_by_register(instruction) ? CALL_INDIRECT : CALL_NONE;
}

int unwinding_called_register(const uint8_t code[UNWINDING_CODE_BYTES])
{
  enum { PRESERVED_FIRST = 19, PRESERVED_LAST = 28 };
  uint32_t instruction = last_of(code);
  int number = instruction >> 5 & 31;
  return calls_by_register(instruction) && number >= PRESERVED_FIRST && number <= PRESERVED_LAST ? number : -1;
}

bool unwinding_is_sigreturn(const uint8_t code[UNWINDING_CODE_BYTES])
{
  static const uint8_t sigreturn[UNWINDING_CODE_BYTES] = {0x68, 0x11, 0x80, 0xd2,
                                                          0x01, 0,    0,    0xd4}; /* mov x8, #139; svc #0 */
  return !__builtin_memcmp(code, sigreturn, sizeof sigreturn);
}

/* A function that has not made its frame, or has removed it, has its return address in the link register. */
int unwinding_return_distance(const uint8_t code[UNWINDING_CODE_BYTES], bool leaves)
{
  (void)code, (void)leaves;
  return -1;
}
