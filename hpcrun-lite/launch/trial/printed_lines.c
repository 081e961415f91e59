#include "hpcrun-lite/launch/trial/printed_lines.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/order.h"
#include "common/xalloc.h"

/* Continues a hash (FNV-1a). */
static uint64_t hash_byte(uint64_t hash, char byte)
{
  return (hash ^ (unsigned char)byte) * 1099511628211U;
}

static const uint64_t hash_start = 14695981039346656037U;

/* Returns the length of the number at that place, 0 if there is none: digits with points, colons or commas between
 * them, an exponent, a sign before them; or a hexadecimal number after 0x. */
static size_t number_length(const char *at, const char *end)
{
  const char *start = at;
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  if (end - at > 2 && at[0] == '0' && at[1] == 'x' && isxdigit((unsigned char)at[2])) {
    for (at += 2; at < end && isxdigit((unsigned char)*at);)
      at++;
    return (size_t)(at - start);
  }
  if (at == end || !isdigit((unsigned char)*at))
    return 0;
  while (at < end &&
         (isdigit((unsigned char)*at) || (strchr(".,:", *at) && end - at > 1 && isdigit((unsigned char)at[1]))))
    at++;
  if (end - at > 1 && (*at == 'e' || *at == 'E')) {
    const char *exponent = at + 1;
    if (*exponent == '-' || *exponent == '+')
      exponent++;
    if (exponent < end && isdigit((unsigned char)*exponent))
      for (at = exponent; at < end && isdigit((unsigned char)*at);)
        at++;
  }
  return (size_t)(at - start);
}

/* Numbers become one character, and blanks, by which numbers are aligned, become one. */
static uint64_t hash_without_numbers(const char *at, const char *end)
{
  uint64_t hash = hash_start;
  while (at < end) {
    size_t number = number_length(at, end);
    bool blank = *at == ' ' || *at == '\t';
    if (number) {
      hash = hash_byte(hash, '\0');
      at += number;
    } else if (blank) {
      hash = hash_byte(hash, ' ');
      while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    } else {
      hash = hash_byte(hash, *at++);
    }
  }
  return hash;
}

/* Takes the line that is complete now. */
static void take_line(struct printed_lines *printed)
{
  struct printed_line line = {hash_start, hash_without_numbers(printed->line, printed->line + printed->length)};
  for (uint32_t i = 0; i < printed->length; i++)
    line.exact = hash_byte(line.exact, printed->line[i]);
  printed->length = 0;
  if (printed->count < PRINTED_LINES_MAX) {
    *XAPPEND(printed->lines, printed->count, printed->room) = line;
    return;
  }
  struct printed_line *last = &printed->lines[printed->count - 1];
  last->exact = last->exact * 31 + line.exact;
  last->without_numbers = last->without_numbers * 31 + line.without_numbers;
}

void printed_lines_add(struct printed_lines *printed, const char *bytes, size_t size)
{
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != '\n')
      printed->line[printed->length++] = bytes[i];
    if (bytes[i] == '\n' || printed->length == PRINTED_LINE_BYTES)
      take_line(printed);
  }
}

void printed_lines_end(struct printed_lines *printed)
{
  if (printed->length)
    take_line(printed);
}

ORDER(by_text, struct printed_line, COMPARE(x->without_numbers, y->without_numbers) ?: COMPARE(x->exact, y->exact))

/* Returns the lines in an order that does not depend on that in which they were printed, for free(). */
static struct printed_line *sorted(const struct printed_lines *printed)
{
  struct printed_line *lines = xmalloc(printed->count * sizeof *lines);
  if (printed->count)
    memcpy(lines, printed->lines, printed->count * sizeof *lines);
  qsort(lines, printed->count, sizeof *lines, by_text);
  return lines;
}

static void compare_lines(const struct printed_line *first, const struct printed_line *now, uint32_t count,
                          uint32_t *other, uint32_t *numbers)
{
  *other = *numbers = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (first[i].without_numbers != now[i].without_numbers)
      ++*other;
    else if (first[i].exact != now[i].exact)
      ++*numbers;
  }
}

void printed_lines_compare(const struct printed_lines *first, const struct printed_lines *now, uint32_t *other,
                           uint32_t *numbers)
{
  assert(!first->length && !now->length);
  uint32_t shared = MIN(first->count, now->count), further = MAX(first->count, now->count) - shared;
  compare_lines(first->lines, now->lines, shared, other, numbers);
  if (*other && !further) {
    uint32_t unordered, unordered_numbers;
    struct printed_line *a = sorted(first), *b = sorted(now);
    compare_lines(a, b, shared, &unordered, &unordered_numbers);
    if (!unordered) {
      *other = 0;
      *numbers = unordered_numbers;
    }
    free(a);
    free(b);
  }
  *other += further;
}

void printed_lines_release(struct printed_lines *printed)
{
  free(printed->lines);
  *printed = (struct printed_lines){0};
}
