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

bool log_batch_next(struct log_batch *batch, uint32_t streams)
{
  uint64_t stream, order;
  if (batch->offset >= batch->size)
    return false;
  batch->first = batch->bytes[batch->offset++];
  if (batch->first & AT_ONCE)
    return batch->stream < streams;
  if (!leb128_get(batch->bytes, batch->size, &batch->offset, &stream) ||
      !leb128_get(batch->bytes, batch->size, &batch->offset, &order) || stream >= streams)
    return false;
  batch->stream = (uint32_t)stream;
  batch->time += unfolded(order);
  return true;
}

bool log_batch_get(struct log_batch *batch, struct log_reader_record *record)
{
  uint64_t begin = 0, duration = 0;
  const uint8_t *bytes = batch->bytes;
  size_t size = batch->size, *offset = &batch->offset;
  enum graphlog_op op = batch->first & (AT_ONCE - 1);
  if (op >= GRAPHLOG_OPS)
    return false;
  if (!(batch->first & AT_ORDER) &&
      (!leb128_get(bytes, size, offset, &begin) || !leb128_get(bytes, size, offset, &duration)))
    return false;
  *record =
      (struct log_reader_record){.record.op = op, .stream = batch->stream, .order = batch->time, .cpu = UINT32_MAX};
  record->begin_ticks = batch->time + unfolded(begin);
  record->end_ticks = record->begin_ticks + duration;
  for (unsigned i = 0; i < graphlog_operands(op); i++)
    if (!leb128_get(bytes, size, offset, &record->record.operand[i]))
      return false;
  return record->end_ticks >= record->begin_ticks;
}
