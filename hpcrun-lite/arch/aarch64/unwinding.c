/* Encodings: Arm Architecture Reference Manual for A-profile, chapter C4. */
#include "hpcrun-lite/arch/unwinding.h"

const int unwinding_fp = MACHINE_FP;

/* libunwind numbers them as machine.h does. */
bool unwinding_register(const machine_register_t *registers, int number, uint64_t *value)
{
  if (number < 0 || number >= MACHINE_REGISTERS)
    return false;
  *value = number == MACHINE_LINK ? machine_link_of(registers) : registers[number];
  return true;
}

/* ---- call frame information ---- */

/* The end of a number of variable length that begins at program[at]. */
static unsigned number_end(const uint8_t *program, unsigned bytes, unsigned at)
{
  while (at < bytes && program[at] & 0x80)
    at++;
  return at + 1;
}

/* The operands of an instruction below 0x40: 'n' a number, 'b' a block, a digit so many bytes. */
static const char *operands_of(uint8_t instruction)
{
  static const char operands[][3] = {
      [0x02] = "1",  [0x03] = "2",  [0x04] = "4",  [0x05] = "nn", [0x06] = "n",  [0x07] = "n",  [0x08] = "n",
      [0x09] = "nn", [0x0c] = "nn", [0x0d] = "n",  [0x0e] = "n",  [0x0f] = "b",  [0x10] = "nb", [0x11] = "nn",
      [0x12] = "nn", [0x13] = "n",  [0x14] = "nn", [0x15] = "nn", [0x16] = "nb", [0x2e] = "n",  [0x2f] = "nn"};
  return instruction < sizeof operands / sizeof *operands ? operands[instruction] : "";
}

/* Where the instruction behind the one at program[at] begins. */
static unsigned next_instruction(const uint8_t *program, unsigned bytes, unsigned at)
{
  enum { OFFSET = 2, SHORT = 0x3f };
  uint8_t instruction = program[at++];
  if (instruction > SHORT)
    return instruction >> 6 == OFFSET ? number_end(program, bytes, at) : at;
  for (const char *operand = operands_of(instruction); *operand; operand++) {
    if (*operand == 'n')
      at = number_end(program, bytes, at);
    else if (*operand == 'b') /* expressions of frames are short */
      at += at < bytes ? 1u + program[at] : 1;
    else
      at += (unsigned)(*operand - '0');
  }
  return at;
}

/* libunwind before 1.7 takes these for those of another machine that have the same number.  The instruction that sets
 * an absolute address is not known here: compilers do not write it. */
bool unwinding_forget_signing(uint8_t *program, unsigned bytes)
{
  enum { NOTHING = 0, NEGATE_WITH_PC = 0x2c, NEGATE = 0x2d };
  bool found = false;
  for (unsigned at = 0; at < bytes; at = next_instruction(program, bytes, at))
    if (program[at] == NEGATE || program[at] == NEGATE_WITH_PC) {
      program[at] = NOTHING;
      found = true;
    }
  return found;
}

/* Pairs of registers that the code pushes, "stp a, b, [sp, -16]!", up to "mov x29, sp". */
unsigned unwinding_write_program(const uint8_t code[UNWINDING_BEGINNING_BYTES], int64_t alignment,
                                 uint8_t program[UNWINDING_PROGRAM_MOST])
{
  enum { INSTRUCTIONS = UNWINDING_BEGINNING_BYTES / 4, PAIR = 16, DEF_CFA = 0x0c, OFFSET = 0x80 };
  uint32_t words[INSTRUCTIONS], pushed = 0;
  unsigned used = 3; /* behind the first instruction of the program, which is made last */
  bool stored = false;
  __builtin_memcpy(words, code, sizeof words);
  while (pushed < INSTRUCTIONS && (words[pushed] & 0xffff83e0u) == 0xa9bf03e0u)
    pushed++;
  if (!pushed || pushed == INSTRUCTIONS || words[pushed] != 0x910003fdu || (alignment != -4 && alignment != -8))
    return 0;
  for (unsigned i = 0; i < pushed; i++) {
    uint8_t first = words[i] & 31, second = words[i] >> 10 & 31;
    unsigned distance = PAIR * (i + 1); /* of the pair from the frame's beginning */
    stored |= first == MACHINE_LINK || second == MACHINE_LINK;
    program[used++] = OFFSET | first;
    program[used++] = (uint8_t)(distance / (unsigned)-alignment);
    program[used++] = OFFSET | second;
    program[used++] = (uint8_t)((distance - 8) / (unsigned)-alignment);
  }
  program[0] = DEF_CFA;
  program[1] = MACHINE_FP;
  program[2] = (uint8_t)(PAIR * pushed);
  return stored ? used : 0;
}

/* ---- code ---- */

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
