#include "hpcrun-lite/rt/sampling/call_code.h"

#include "common/plt_stub.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { DIRECT_BYTES = 5 };

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

enum call_kind call_code_before(const uint8_t code[CALL_CODE_BYTES], uint64_t after, uint64_t *target)
{
  static const uint8_t lengths[] = {2, 3, 4, 6, 7};
  const uint8_t *end = code + CALL_CODE_BYTES;
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

enum call_code_form call_code_at(uint64_t address, struct call_stub *stub)
{
  uint8_t code[PLT_STUB_BYTES];
  if (!sys_peek(address, code, sizeof code))
    return CODE_UNREADABLE;
  unsigned at = plt_stub_jump(code);
  if (at == PLT_STUB_BYTES)
    return CODE_PLAIN;
  stub->jump = address + at;
  if (!sys_peek(plt_stub_slot(stub->jump, code + at), &stub->target, sizeof stub->target))
    stub->target = 0;
  return CODE_STUB;
}
