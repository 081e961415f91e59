#include "common/tracelog.h"

/* A mask of the operands that follow; 0: none, or no such operation. */
static unsigned operands_of(unsigned op)
{
  switch (op) {
  case TRACELOG_START:
  case TRACELOG_BLOCKED:
  case TRACELOG_LOCK_WAIT:
  case TRACELOG_MPI:
    return 3;
  case TRACELOG_GAP:
  case TRACELOG_HOLDER:
    return 1;
  case TRACELOG_CHARGE:
    return 31;
  case TRACELOG_READY:
    return 63;
  case TRACELOG_USER_COUNT:
  case TRACELOG_EVENT_COUNT:
  case TRACELOG_OPERATION:
    return 15;
  default:
    return op < TRACELOG_START ? 3 | op : 0; /* the flags of a sample are the bits of its third to fifth operand */
  }
}

bool tracelog_next(const uint8_t *bytes, size_t size, size_t *offset, struct tracelog_record *record, bool *damaged)
{
  if (*offset >= size)
    return false;
  uint8_t first = bytes[(*offset)++];
  unsigned rest = first >> 2;
  bool sound = true;
  *record = (struct tracelog_record){.form = (enum tracelog_form)(first & 3), .op = rest};
  if (record->form != TRACELOG_OTHER) {
    uint64_t more = 0;
    if (rest == TRACELOG_CODE_MAX)
      sound = leb128_get(bytes, size, offset, &more) && more <= UINT64_MAX - TRACELOG_CODE_MAX;
    record->operand[0] = rest + more;
    sound = sound && leb128_get(bytes, size, offset, &record->operand[1]);
    if (record->form == TRACELOG_STATE_OWN)
      sound = sound && leb128_get(bytes, size, offset, &record->operand[2]);
  } else {
    unsigned mask = operands_of(rest);
    sound = mask || rest == TRACELOG_BEGIN || rest == TRACELOG_CHUNK;
    for (unsigned i = 0; mask && sound; i++, mask >>= 1)
      if (mask & 1)
        sound = leb128_get(bytes, size, offset, &record->operand[i]);
  }
  if (!sound)
    *damaged = true;
  return sound;
}
