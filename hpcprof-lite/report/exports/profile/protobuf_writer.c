#include "hpcprof-lite/report/exports/profile/protobuf_writer.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, WINDOW_GZIP = 15 + 16, MEMORY_LEVEL = 8, BLOCK = 1 << 16 };

/* ---- messages ---- */

void protobuf_clear(struct protobuf_message *message)
{
  message->size = 0;
}

void protobuf_release(struct protobuf_message *message)
{
  free(message->bytes);
  *message = (struct protobuf_message){0};
}

static void append(struct protobuf_message *message, const void *bytes, size_t size)
{
  assert(bytes || !size);
  if (!size)
    return;
  xarray_reserve(&message->bytes, &message->room, message->size + size, 1);
  memcpy(message->bytes + message->size, bytes, size);
  message->size += size;
}

size_t protobuf_size(uint64_t value)
{
  size_t size = 1;
  while (value >>= 7)
    size++;
  return size;
}

void protobuf_element(struct protobuf_message *message, uint64_t value)
{
  unsigned char bytes[10];
  size_t size = 0;
  for (; value > 0x7f; value >>= 7)
    bytes[size++] = (unsigned char)(value | 0x80);
  bytes[size++] = (unsigned char)value;
  append(message, bytes, size);
}

static void tag(struct protobuf_message *message, unsigned field, unsigned wire)
{
  assert(field && wire <= 7);
  protobuf_element(message, field << 3 | wire);
}

void protobuf_number(struct protobuf_message *message, unsigned field, uint64_t value)
{
  if (!value)
    return;
  tag(message, field, WIRE_VARINT);
  protobuf_element(message, value);
}

void protobuf_open_array(struct protobuf_message *message, unsigned field, size_t size)
{
  tag(message, field, WIRE_BYTES);
  protobuf_element(message, size);
}

void protobuf_bytes(struct protobuf_message *message, unsigned field, const void *bytes, size_t size)
{
  protobuf_open_array(message, field, size);
  append(message, bytes, size);
}

void protobuf_message(struct protobuf_message *message, unsigned field, const struct protobuf_message *inner)
{
  protobuf_bytes(message, field, inner->bytes, inner->size);
}

/* ---- gzip ---- */

void protobuf_begin(struct protobuf_writer *writer, FILE *stream)
{
  *writer = (struct protobuf_writer){.stream = stream};
  if (deflateInit2(&writer->gzip, Z_BEST_SPEED, Z_DEFLATED, WINDOW_GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
    xalloc_die();
}

static void compress_bytes(struct protobuf_writer *writer, const void *bytes, size_t size, int flush)
{
  assert(bytes || !size);
  unsigned char block[BLOCK];
  writer->gzip.next_in = (unsigned char *)bytes; /* which zlib only reads */
  writer->gzip.avail_in = (unsigned)size;
  do {
    writer->gzip.next_out = block;
    writer->gzip.avail_out = BLOCK;
    deflate(&writer->gzip, flush);
    fwrite_unlocked(block, 1, BLOCK - writer->gzip.avail_out, writer->stream);
  } while (!writer->gzip.avail_out);
}

void protobuf_write(struct protobuf_writer *writer, unsigned field, const struct protobuf_message *message)
{
  struct protobuf_message head = {0};
  protobuf_open_array(&head, field, message->size);
  protobuf_write_fields(writer, &head);
  protobuf_write_fields(writer, message);
  protobuf_release(&head);
}

void protobuf_write_fields(struct protobuf_writer *writer, const struct protobuf_message *message)
{
  for (size_t at = 0; at < message->size; at += BLOCK) /* zlib takes 32 bits */
    compress_bytes(writer, message->bytes + at, MIN(message->size - at, (size_t)BLOCK), Z_NO_FLUSH);
}

void protobuf_end(struct protobuf_writer *writer)
{
  compress_bytes(writer, NULL, 0, Z_FINISH);
  deflateEnd(&writer->gzip);
}
