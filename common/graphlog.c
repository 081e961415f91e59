#include "common/graphlog.h"

unsigned graphlog_operands(enum graphlog_op op)
{
  static const uint8_t counts[GRAPHLOG_OPS] = {
      [GRAPHLOG_TIME] = 1,       [GRAPHLOG_CPU] = 1,          [GRAPHLOG_MOVE] = 1,    [GRAPHLOG_RUN] = 2,
      [GRAPHLOG_RUN_OTHER] = 3,  [GRAPHLOG_SAMPLE] = 2,       [GRAPHLOG_REGION] = 1,  [GRAPHLOG_REGION_END] = 1,
      [GRAPHLOG_IMPLICIT] = 4,   [GRAPHLOG_IMPLICIT_END] = 2, [GRAPHLOG_TASK] = 4,    [GRAPHLOG_SWITCH] = 2,
      [GRAPHLOG_TASK_END] = 2,   [GRAPHLOG_TASK_DROP] = 2,    [GRAPHLOG_WAIT] = 4,    [GRAPHLOG_WAIT_END] = 3,
      [GRAPHLOG_GROUP] = 1,      [GRAPHLOG_SCOPE] = 1,        [GRAPHLOG_LOOP] = 2,    [GRAPHLOG_CHUNK] = 2,
      [GRAPHLOG_OFFER] = 4,      [GRAPHLOG_TAKE] = 4,         [GRAPHLOG_ACQUIRE] = 3, [GRAPHLOG_RELEASE] = 2,
      [GRAPHLOG_LOOP_ALONE] = 2, [GRAPHLOG_CREATED] = 2,      [GRAPHLOG_COUNT] = 2};
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
  for (unsigned i = 0; i < graphlog_operands(record->op) && !*damaged; i++)
    *damaged = !leb128_get(bytes, size, offset, &record->operand[i]);
  return !*damaged;
}
