#include "hpcrun-lite/rt/sampling/call_code.h"

#include "common/plt_stub.h"
#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/rt/core/sys.h"

/* What the bytes of code at an address are. */
static enum call_code_form form_of(const uint8_t *code, uint64_t address, struct call_stub *stub)
{
  struct plt_stub found;
  if (!plt_stub_read(MACHINE_ELF, code, address, &found))
    return CODE_PLAIN;
  stub->jump = address + found.jump;
  if (!sys_peek(found.slot, &stub->target, sizeof stub->target))
    stub->target = 0;
  return CODE_STUB;
}

enum call_code_form call_code_at(uint64_t address, struct call_stub *stub)
{
  uint8_t code[PLT_STUB_MOST];
  return sys_peek(address, code, plt_stub_bytes(MACHINE_ELF)) ? form_of(code, address, stub) : CODE_UNREADABLE;
}

/* The instructions of stubs that matter begin at multiples of 4, but for the jump of mold's; most other addresses need
 * no look at the code. */
bool call_code_in_stub(uint64_t address, struct call_stub *stub)
{
  enum { MOLD_JUMP = 10 }; /* offset in a stub, which begins at a multiple of 16 */
  uint8_t code[2 * PLT_STUB_MOST];
  unsigned back = plt_stub_back(MACHINE_ELF);
  if ((address % 4 && address % 16 != MOLD_JUMP) || !sys_peek(address - back, code, back + plt_stub_bytes(MACHINE_ELF)))
    return false;
  for (unsigned at = 0; at <= back; at += 4)
    if (form_of(code + at, address - back + at, stub) == CODE_STUB && stub->jump >= address)
      return true;
  return false;
}
