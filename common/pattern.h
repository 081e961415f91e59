/* Shell patterns, as both programs match them: '*', '?', and '[...]' with ranges and '!'.
 *
 * Context: any; RT includes it.  Keeps no state. */
#ifndef COMMON_PATTERN_H
#define COMMON_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a character is in the set that begins behind '['.  *next receives the place behind ']'; returns false with
 * *next NULL if the set has no end: then '[' is an ordinary character. */
static inline bool pattern_in_set(const char *set, const char *end, char c, const char **next)
{
  bool negated = set < end && (*set == '!' || *set == '^'), found = false;
  const char *first = set += negated;
  for (; set < end && (*set != ']' || set == first); set++) {
    bool range = set + 2 < end && set[1] == '-' && set[2] != ']';
    found |= range ? (unsigned char)c >= (unsigned char)set[0] && (unsigned char)c <= (unsigned char)set[2] : c == *set;
    set += range ? 2 : 0;
  }
  *next = set < end ? set + 1 : NULL;
  return found != negated && *next;
}

/* Whether the pattern of that many bytes matches the whole text. */
static inline bool pattern_matches(const char *pattern, size_t length, const char *text)
{
  const char *end = pattern + length, *star = NULL, *retry = text;
  for (;;) {
    const char *next = pattern + 1;
    bool set = pattern < end && *pattern == '[';
    if (pattern < end && *pattern == '*') {
      star = ++pattern; /* first matches nothing, then more and more */
      retry = text;
      continue;
    }
    bool in_set = set && *text && pattern_in_set(pattern + 1, end, *text, &next);
    if (set && *text && !next) { /* an ordinary character */
      in_set = *text == '[';
      next = pattern + 1;
    }
    if (*text && pattern < end && (set ? in_set : *pattern == '?' || *pattern == *text)) {
      pattern = next;
      text++;
      continue;
    }
    if (!*text && pattern == end)
      return true;
    if (!star || !*retry)
      return false;
    pattern = star;
    text = ++retry;
  }
}

#endif
