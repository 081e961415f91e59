#include "hpcprof-lite/model/problems.h"

#include "common/escape.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void problems_add(struct problems *problems, const char *format, ...)
{
  if (problems->count++ >= PROBLEMS_MAX)
    return;
  va_list args;
  va_start(args, format);
  char *text = xvasprintf(format, args);
  va_end(args);
  size_t size = strlen(text) * ESCAPE_MAX + 1;
  char *line = xmalloc(size);
  escape_text(text, line, size);
  free(text);
  problems->lines[problems->count - 1] = line;
}

void problems_append(struct problems *into, struct problems *from)
{
  assert(into != from);
  size_t i = 0;
  for (; i < from->count && into->count < PROBLEMS_MAX; i++) {
    into->lines[into->count++] = from->lines[i];
    from->lines[i] = NULL;
  }
  into->count += from->count - i;
  problems_release(from);
}

static bool has_line(const struct problems *problems, const char *line)
{
  for (size_t i = 0; i < problems->count && i < PROBLEMS_MAX; i++)
    if (problems->lines[i] && strcmp(problems->lines[i], line) == 0)
      return true;
  return false;
}

void problems_append_new(struct problems *into, struct problems *from)
{
  assert(into != from);
  for (size_t i = 0; i < from->count && i < PROBLEMS_MAX; i++) {
    if (!from->lines[i] || has_line(into, from->lines[i]))
      continue;
    if (into->count < PROBLEMS_MAX) {
      into->lines[into->count] = from->lines[i];
      from->lines[i] = NULL;
    }
    into->count++;
  }
  problems_release(from);
}

size_t problems_print(const struct problems *problems, FILE *stream)
{
  size_t shown = 0;
  for (size_t i = 0; i < problems->count && i < PROBLEMS_MAX; i++) {
    if (!problems->lines[i])
      continue;
    fprintf(stream, "hpcprof-lite: %s\n", problems->lines[i]);
    shown++;
  }
  if (problems->count > shown)
    fprintf(stream, "hpcprof-lite: and %zu more problem%s\n", problems->count - shown,
            problems->count - shown == 1 ? "" : "s");
  return problems->count;
}

void problems_release(struct problems *problems)
{
  for (size_t i = 0; i < PROBLEMS_MAX; i++)
    free(problems->lines[i]);
  *problems = (struct problems){0};
}
