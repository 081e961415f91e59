/* Checked reads of little-endian values from a range of bytes.
 *
 * Context: BATCH.  The bytes belong to the caller.  A read beyond the end returns 0, moves the cursor to the end and
 * sets `bad`, which stays set: callers may read a whole record and check once.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_CURSOR_H
#define COMMON_SYMBOLS_SYMBOLS_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct symbols_bytes {
  const uint8_t *data;
  size_t size;
};

struct symbols_cursor {
  const uint8_t *next, *end;
  bool bad;
};

/* A cursor over [offset, end) of bytes, as far as they reach. */
static inline struct symbols_cursor symbols_cursor_at(struct symbols_bytes bytes, uint64_t offset, uint64_t end)
{
  if (end > bytes.size)
    end = bytes.size;
  if (!bytes.data || offset > end)
    return (struct symbols_cursor){.bad = true};
  return (struct symbols_cursor){.next = bytes.data + offset, .end = bytes.data + end};
}

static inline size_t symbols_cursor_left(const struct symbols_cursor *c)
{
  return (size_t)(c->end - c->next);
}

static inline void symbols_cursor_fail(struct symbols_cursor *c)
{
  c->next = c->end;
  c->bad = true;
}

static inline void symbols_cursor_skip(struct symbols_cursor *c, uint64_t size)
{
  if (size > symbols_cursor_left(c))
    symbols_cursor_fail(c);
  else if (size)
    c->next += size;
}

/* An unsigned value of 1 to 8 bytes. */
static inline uint64_t symbols_cursor_fixed(struct symbols_cursor *c, unsigned size)
{
  uint64_t value = 0;
  if (size > symbols_cursor_left(c)) {
    symbols_cursor_fail(c);
    return 0;
  }
  memcpy(&value, c->next, size);
  c->next += size;
  return value;
}

static inline uint64_t symbols_cursor_uleb(struct symbols_cursor *c)
{
  uint64_t value = 0;
  for (unsigned shift = 0; c->next < c->end; shift += 7) {
    uint8_t byte = *c->next++;
    if (shift < 64)
      value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return value;
  }
  c->bad = true;
  return 0;
}

/* A string that ends within the range; "" on failure. */
static inline const char *symbols_cursor_string(struct symbols_cursor *c)
{
  const char *text = (const char *)c->next;
  const uint8_t *nul = symbols_cursor_left(c) ? memchr(c->next, 0, symbols_cursor_left(c)) : NULL;
  if (!nul) {
    symbols_cursor_fail(c);
    return "";
  }
  c->next = nul + 1;
  return text;
}

/* The string at `offset` of bytes that end in NUL (symbols_bytes_strings()), NULL beyond their end. */
static inline const char *symbols_bytes_string(struct symbols_bytes bytes, uint64_t offset)
{
  return offset < bytes.size ? (const char *)bytes.data + offset : NULL;
}

/* Cuts off all bytes after the last NUL, so that every offset is that of a terminated string. */
static inline struct symbols_bytes symbols_bytes_strings(struct symbols_bytes bytes)
{
  while (bytes.size && bytes.data[bytes.size - 1])
    bytes.size--;
  return bytes;
}

#endif
