#include "common/words.h"

#include "common/order.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int words_find(const char *const *words, const char *word)
{
  for (int i = 0; words[i]; i++)
    if (!strcmp(words[i], word))
      return i;
  return -1;
}

/* How many characters must be inserted, removed, replaced or swapped with the next one to make one word the other; of
 * long words, many. */
static unsigned edits(const char *word, const char *other)
{
  enum { LONGEST = 24 };
  unsigned rows[3][LONGEST + 1], *row = rows[0], *before = rows[1], *earlier = rows[2]; /* of one character each */
  size_t length = strlen(other);
  if (length > LONGEST)
    return LONGEST;
  for (size_t i = 0; i <= length; i++)
    row[i] = (unsigned)i;
  for (size_t line = 0; word[line]; line++) {
    unsigned *oldest = earlier;
    earlier = before;
    before = row;
    row = oldest;
    row[0] = (unsigned)line + 1;
    for (size_t i = 1; i <= length; i++) {
      bool swapped = line && i > 1 && word[line] == other[i - 2] && word[line - 1] == other[i - 1];
      row[i] = MIN(before[i], row[i - 1]) + 1;
      row[i] = MIN(row[i], before[i - 1] + (word[line] != other[i - 1]));
      if (swapped)
        row[i] = MIN(row[i], earlier[i - 2] + 1);
    }
  }
  return row[length];
}

const char *words_similar(const char *const *words, const char *word)
{
  const char *nearest = NULL;
  unsigned least = 3;
  for (; *words; words++) {
    unsigned distance = edits(word, *words);
    if (distance >= least || 2 * distance >= strlen(*words))
      continue;
    least = distance;
    nearest = *words;
  }
  return nearest;
}

void words_list(const char *const *words, const char *last, char *text, size_t size)
{
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; words[i] && used < size; i++) {
    const char *separator = words[i + 1] ? ", " : last;
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? separator : "", words[i]);
  }
}

void words_append(char *text, size_t size, const char *format, ...)
{
  if (*text)
    strncat(text, "; ", size - strlen(text) - 1);
  size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

enum { SYMBOL_MOST = 4096 }; /* bytes of a name that are looked at */

/* Whether it is no bracket of template arguments: a part of operator<, operator>> and the like, or of an arrow. */
static bool is_operator(const char *name, size_t at)
{
  static const char word[] = "operator";
  size_t start = at, length = sizeof word - 1;
  while (start && at - start < 3 && strchr("<>=-", name[start - 1]))
    start--;
  return (start >= length && !memcmp(name + start - length, word, length)) || (at && name[at - 1] == '-');
}

/* Replaces what is between the outer brackets by dots; leaves the name as it is if they do not match. */
static void fold(char *name, char open, char close)
{
  char folded[SYMBOL_MOST];
  size_t length = 0, opened = 0;
  unsigned depth = 0;
  for (size_t i = 0; name[i]; i++) {
    bool bracket = open != '<' || !is_operator(name, i);
    if (bracket && name[i] == close && depth && !--depth) {
      size_t within = i - opened - 1;
      memcpy(folded + length, within > 2 ? ".." : name + opened + 1, MIN(within, 2));
      length += MIN(within, 2);
    }
    if (!depth)
      folded[length++] = name[i];
    if (bracket && name[i] == open && !depth++)
      opened = i;
  }
  folded[length] = '\0';
  if (!depth)
    strcpy(name, folded);
}

const char *words_symbol(const char *name, char out[WORDS_SYMBOL])
{
  assert(name && out);
  enum { ROOM = WORDS_SYMBOL - 1, HEAD = ROOM * 2 / 5, TAIL = ROOM - HEAD - 2 };
  char whole[SYMBOL_MOST];
  snprintf(whole, sizeof whole, "%s", name);
  if (strlen(whole) > ROOM)
    fold(whole, '<', '>');
  if (strlen(whole) > ROOM)
    fold(whole, '(', ')');
  size_t length = strlen(whole), head = HEAD, tail = length - TAIL;
  if (length <= ROOM) {
    memcpy(out, whole, length + 1);
    return out;
  }
  while (head && ((unsigned char)whole[head] & 0xc0) == 0x80) /* no character is divided */
    head--;
  while (((unsigned char)whole[tail] & 0xc0) == 0x80)
    tail++;
  memcpy(out, whole, head);
  memcpy(out + head, "..", 2);
  memcpy(out + head + 2, whole + tail, length - tail + 1);
  return out;
}
