/* Lists in the text of a filter (filter_text.h): items, numbers and ranges.
 *
 * Context: any; RT includes it.  Uses no heap and keeps no state; items are parts of the text. */
#ifndef COMMON_FILTER_LIST_H
#define COMMON_FILTER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A part of the text: a line's value, or an item of a list. */
struct filter_part {
  const char *text;
  size_t length;
};

/* An item of a list; excludes: '!' stood before it, which is not part of it. */
struct filter_item {
  struct filter_part part;
  bool excludes;
};

static inline bool filter_list_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

/* What stands there without blanks around it. */
static inline struct filter_part filter_list_trim(const char *text, const char *end)
{
  while (text < end && filter_list_blank(*text))
    text++;
  while (end > text && filter_list_blank(end[-1]))
    end--;
  return (struct filter_part){text, (size_t)(end - text)};
}

/* Whether the part is that text. */
static inline bool filter_list_is(struct filter_part part, const char *text)
{
  return strlen(text) == part.length && !memcmp(part.text, text, part.length);
}

/* Takes the next item of a list that is separated by commas, which may be empty; false at the end.  *rest begins as the
 * list. */
static inline bool filter_list_item(struct filter_part *rest, struct filter_item *item)
{
  if (!rest->text)
    return false;
  const char *end = rest->text + rest->length, *comma = rest->length ? memchr(rest->text, ',', rest->length) : NULL;
  struct filter_part part = filter_list_trim(rest->text, comma ? comma : end);
  *rest = comma ? (struct filter_part){comma + 1, (size_t)(end - comma - 1)} : (struct filter_part){0};
  item->excludes = part.length && *part.text == '!';
  item->part = item->excludes ? filter_list_trim(part.text + 1, part.text + part.length) : part;
  return true;
}

/* The value of a hexadecimal digit, 16 of any other character. */
static inline unsigned filter_list_digit(char c)
{
  if (c >= '0' && c <= '9')
    return (unsigned)(c - '0');
  return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* A number in decimal, or in hexadecimal with "0x".  Returns how many bytes it has, 0: it is too large, or not a
 * number. */
static inline size_t filter_list_number(struct filter_part part, uint64_t *number)
{
  bool hexadecimal = part.length > 2 && part.text[0] == '0' && part.text[1] == 'x';
  size_t first = hexadecimal ? 2 : 0, at = first;
  uint64_t base = hexadecimal ? 16 : 10;
  *number = 0;
  for (; at < part.length; at++) {
    unsigned digit = filter_list_digit(part.text[at]);
    if (digit >= base)
      break;
    if (*number > (UINT64_MAX - digit) / base)
      return 0;
    *number = *number * base + digit;
  }
  return at > first ? at : 0;
}

/* A number, or two with '-' between them. */
static inline bool filter_list_range(struct filter_part part, uint64_t *from, uint64_t *to)
{
  size_t length = filter_list_number(part, from);
  *to = *from;
  if (!length || length == part.length)
    return length;
  struct filter_part rest = {part.text + length + 1, part.length - length - 1};
  return part.text[length] == '-' && filter_list_number(rest, to) == rest.length && rest.length && *from <= *to;
}

/* Whether a list of numbers and ranges has the number. */
static inline bool filter_list_has(struct filter_part list, uint64_t number)
{
  struct filter_item item;
  uint64_t from, to;
  while (filter_list_item(&list, &item))
    if (filter_list_range(item.part, &from, &to) && number >= from && number <= to)
      return true;
  return false;
}

#endif
