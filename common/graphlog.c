#include "common/graphlog.h"

#define OPERANDS(enumerator, operands) operands,

unsigned graphlog_operands(enum graphlog_op op)
{
  static const uint8_t counts[GRAPHLOG_OPS] = {GRAPHLOG_LIST(OPERANDS)};
  return op < GRAPHLOG_OPS ? counts[op] : 0;
}

bool graphlog_next(const uint8_t *bytes, size_t size, size_t *offset, struct graphlog_record *record, bool *damaged)
{
  *damaged = false;
  if (*offset >= size || bytes[*offset] == GRAPHLOG_END)
    return false;
  *record = (struct graphlog_record){.op = bytes[*offset]};
  ++*offset;
  *damaged = record->op >= GRAPHLOG_OPS;
  unsigned count = graphlog_operands(record->op);
  for (unsigned i = 0; i < count && !*damaged; i++)
    *damaged = !leb128_get(bytes, size, offset, &record->operand[i]);
  return !*damaged;
}
