#include "hpcprof-lite/report/summary/summary_screen.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void screen_begin(struct screen *screen)
{
  *screen = (struct screen){0};
  screen->stream = xopen_memstream(&screen->text, &screen->size);
}

/* Makes the text known that was written so far; ends the process without memory. */
static void flush(struct screen *screen)
{
  assert(screen->stream);
  if (fflush(screen->stream) || ferror(screen->stream) || !screen->text)
    xalloc_die();
}

static void add_part(struct screen *screen, size_t begin, enum screen_rank rank)
{
  if (screen->count == SCREEN_PARTS)
    return;
  screen->parts[screen->count].begin = begin;
  screen->parts[screen->count].notes = false;
  screen->parts[screen->count++].rank = rank;
}

void screen_part(struct screen *screen, enum screen_rank rank)
{
  flush(screen);
  add_part(screen, screen->size, rank);
}

void screen_split(struct screen *screen, enum screen_rank rank)
{
  assert(screen->count);
  flush(screen);
  size_t begin = screen->parts[screen->count - 1].begin;
  bool first = true;
  for (const char *line = screen->text + begin; (line = strchr(line, '\n')) && *++line;) {
    if (line[0] != ' ' || line[1] != ' ' || line[2] == ' ')
      continue;
    if (!first)
      add_part(screen, (size_t)(line - screen->text), rank);
    screen->parts[screen->count - 1].notes = true;
    first = false;
  }
}

static size_t end_of(const struct screen *screen, unsigned part)
{
  assert(part < screen->count);
  return part + 1 < screen->count ? screen->parts[part + 1].begin : screen->size;
}

static unsigned lines_of(const struct screen *screen, unsigned part)
{
  unsigned lines = 0;
  for (size_t i = screen->parts[part].begin; i < end_of(screen, part); i++)
    lines += screen->text[i] == '\n';
  return lines;
}

/* Returns the part to leave out next: the last one of the highest rank; screen->count if there is none. */
static unsigned least(const struct screen *screen, const bool *out)
{
  unsigned found = screen->count;
  for (unsigned i = 0; i < screen->count; i++)
    if (!out[i] && screen->parts[i].rank != SCREEN_ALWAYS && lines_of(screen, i) &&
        (found == screen->count || screen->parts[i].rank >= screen->parts[found].rank))
      found = i;
  return found;
}

struct screen_left screen_end(struct screen *screen, FILE *to, unsigned reserved, bool all)
{
  assert(reserved + 1 < SCREEN_LINES);
  bool out[SCREEN_PARTS] = {false};
  unsigned lines = 0;
  struct screen_left left = {0};
  xclose(screen->stream, &screen->text);
  for (unsigned i = 0; i < screen->count; i++)
    lines += lines_of(screen, i);
  unsigned most = lines > SCREEN_LINES - reserved ? SCREEN_LINES - reserved - 1 : lines;
  for (unsigned part; !all && lines > most && (part = least(screen, out)) < screen->count;) {
    out[part] = true;
    lines -= lines_of(screen, part);
    left.lines += lines_of(screen, part);
    left.notes += screen->parts[part].notes;
  }
  for (unsigned i = 0; i < screen->count; i++)
    if (!out[i])
      fwrite(screen->text + screen->parts[i].begin, 1, end_of(screen, i) - screen->parts[i].begin, to);
  free(screen->text);
  return left;
}
