#include "hpcprof-lite/input/log_batch.h"

#include "common/xalloc.h"

/* A signed difference as a number that is small if the difference is, and back. */
static uint64_t folded(uint64_t difference)
{
  return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static uint64_t unfolded(uint64_t number)
{
  return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

/* In the byte of the operation: all times are `order`; that and the stream are those of the record before. */
enum { AT_ORDER = 0x80, AT_ONCE = 0x40 };
_Static_assert((int)GRAPHLOG_OPS <= (int)AT_ONCE, "a byte has room for both");

void log_batch_put(struct log_batch *batch, const struct log_reader_record *record)
{
  enum { TIMES = 4 };
  xarray_reserve(&batch->bytes, &batch->room, batch->size + GRAPHLOG_RECORD_MAX + TIMES * LEB128_MAX, 1);
  uint8_t *at = batch->bytes + batch->size;
  bool at_order = record->begin_ticks == record->order && record->end_ticks == record->order;
  bool at_once = batch->size && record->stream == batch->stream && record->order == batch->time;
  *at++ = (uint8_t)(record->record.op | (at_order ? AT_ORDER : 0) | (at_once ? AT_ONCE : 0));
  if (!at_once) {
    at = leb128_put(at, record->stream);
    at = leb128_put(at, folded(record->order - batch->time));
  }
  if (!at_order) {
    at = leb128_put(at, folded(record->begin_ticks - record->order));
    at = leb128_put(at, record->end_ticks - record->begin_ticks);
  }
  for (unsigned i = 0; i < graphlog_operands(record->record.op); i++)
    at = leb128_put(at, record->record.operand[i]);
  batch->time = record->order;
  batch->stream = record->stream;
  batch->size = (size_t)(at - batch->bytes);
}

bool log_batch_get(struct log_batch *batch, uint32_t streams, struct log_reader_record *record)
{
  uint64_t stream = batch->stream, order = 0, begin = 0, duration = 0;
  const uint8_t *bytes = batch->bytes;
  size_t size = batch->size, *offset = &batch->offset;
  if (*offset >= size)
    return false;
  bool at_order = bytes[*offset] & AT_ORDER, at_once = bytes[*offset] & AT_ONCE;
  enum graphlog_op op = bytes[(*offset)++] & (AT_ONCE - 1);
  if (op >= GRAPHLOG_OPS)
    return false;
  if (!at_once && (!leb128_get(bytes, size, offset, &stream) || !leb128_get(bytes, size, offset, &order)))
    return false;
  if (stream >= streams)
    return false;
  if (!at_order && (!leb128_get(bytes, size, offset, &begin) || !leb128_get(bytes, size, offset, &duration)))
    return false;
  *record = (struct log_reader_record){.record.op = op, .stream = (uint32_t)stream, .cpu = UINT32_MAX};
  batch->stream = (uint32_t)stream;
  record->order = batch->time += unfolded(order);
  record->begin_ticks = record->order + unfolded(begin);
  record->end_ticks = record->begin_ticks + duration;
  for (unsigned i = 0; i < graphlog_operands(op); i++)
    if (!leb128_get(bytes, size, offset, &record->record.operand[i]))
      return false;
  return record->end_ticks >= record->begin_ticks;
}
