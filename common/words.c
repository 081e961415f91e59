#include "common/words.h"

#include <stdio.h>
#include <string.h>

int words_find(const char *const *words, const char *word)
{
  for (int i = 0; words[i]; i++)
    if (!strcmp(words[i], word))
      return i;
  return -1;
}

/* How many characters must be inserted, removed or replaced to make one word the other; of long words, many. */
static unsigned edits(const char *word, const char *other)
{
  enum { LONGEST = 24 };
  unsigned row[LONGEST + 1];
  size_t length = strlen(other);
  if (length > LONGEST)
    return LONGEST;
  for (size_t i = 0; i <= length; i++)
    row[i] = (unsigned)i;
  for (unsigned line = 1; *word; word++, line++) {
    unsigned corner = row[0];
    row[0] = line;
    for (size_t i = 1; i <= length; i++) {
      unsigned replaced = corner + (*word != other[i - 1]), least = row[i] < row[i - 1] ? row[i] : row[i - 1];
      corner = row[i];
      row[i] = replaced < least + 1 ? replaced : least + 1;
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
