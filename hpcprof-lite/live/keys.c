#include "hpcprof-lite/live/keys.h"

#include <assert.h>
#include <string.h>

/* What terminals send after ESC [ or ESC O (ECMA-48, xterm's control sequences). */
static const struct {
  const char *sequence;
  int key;
} known[] = {{"A", KEY_UP},   {"B", KEY_DOWN}, {"C", KEY_RIGHT},    {"D", KEY_LEFT},
             {"H", KEY_HOME}, {"F", KEY_END},  {"1~", KEY_HOME},    {"7~", KEY_HOME},
             {"4~", KEY_END}, {"8~", KEY_END}, {"5~", KEY_PAGE_UP}, {"6~", KEY_PAGE_DOWN}};

static int find(const char *sequence)
{
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(known[i].sequence, sequence))
      return known[i].key;
  return KEY_NONE;
}

int keys_take(struct keys *keys, char byte)
{
  if (byte == '\033') {
    *keys = (struct keys){.within = 1};
    return KEY_NONE;
  }
  if (keys->within == 1 && (byte == '[' || byte == 'O')) {
    keys->within = 2;
    return KEY_NONE;
  }
  if (keys->within < 2) { /* the key after a single Escape counts as such */
    keys->within = 0;
    return (unsigned char)byte;
  }
  if (keys->length + 1 < sizeof keys->sequence)
    keys->sequence[keys->length++] = byte;
  if (byte < '@' || byte > '~')
    return KEY_NONE;
  int key = find(keys->sequence);
  *keys = (struct keys){0};
  return key;
}
