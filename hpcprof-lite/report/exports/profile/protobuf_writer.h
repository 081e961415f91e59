/* A writer of Protocol Buffers (https://protobuf.dev/programming-guides/encoding), compressed by gzip.
 *
 * Context: BATCH, the main thread.  Only what profiles need: varints, packed arrays of them, bytes and messages.  A
 * field with the value 0 is left out, as proto3 wants.  A message is collected in memory before it is written; the
 * outermost one is written field by field.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_PROFILE_PROTOBUF_WRITER_H
#define HPCPROF_LITE_REPORT_EXPORTS_PROFILE_PROTOBUF_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

/* The fields of a message; zeros are an empty one.  protobuf_release() frees it. */
struct protobuf_message {
  unsigned char *bytes;
  size_t size, room;
};

struct protobuf_writer {
  FILE *stream;
  z_stream gzip;
};

/* Empties a message, but keeps its memory. */
void protobuf_clear(struct protobuf_message *message);
void protobuf_release(struct protobuf_message *message);

/* Add a field. */
void protobuf_number(struct protobuf_message *message, unsigned field, uint64_t value);
void protobuf_bytes(struct protobuf_message *message, unsigned field, const void *bytes, size_t size);
void protobuf_message(struct protobuf_message *message, unsigned field, const struct protobuf_message *inner);

/* Add an array of numbers, which protobuf_element() adds in between.  `size` is the sum of protobuf_size(). */
void protobuf_open_array(struct protobuf_message *message, unsigned field, size_t size);
void protobuf_element(struct protobuf_message *message, uint64_t value);
size_t protobuf_size(uint64_t value);

/* Begins the outermost message. */
void protobuf_begin(struct protobuf_writer *writer, FILE *stream);

/* Writes a field of it, which is a message; or the fields that a message holds, as its own. */
void protobuf_write(struct protobuf_writer *writer, unsigned field, const struct protobuf_message *message);
void protobuf_write_fields(struct protobuf_writer *writer, const struct protobuf_message *message);

/* Ends it and releases the writer. */
void protobuf_end(struct protobuf_writer *writer);

#endif
