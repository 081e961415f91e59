/* A text that fits one screen: parts of it that matter less are left out, and counted.
 *
 * Context: BATCH.  Write to stream; screen_part() says how much the text from there on matters.
 */
#ifndef HPCPROF_LITE_REPORT_SUMMARY_SUMMARY_SCREEN_H
#define HPCPROF_LITE_REPORT_SUMMARY_SUMMARY_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SCREEN_LINES = 24, SCREEN_PARTS = 64 };

/* How much a part matters: the last part of the highest rank is left out first; SCREEN_ALWAYS never is. */
enum screen_rank { SCREEN_ALWAYS, SCREEN_MUCH, SCREEN_SOME, SCREEN_LITTLE };

struct screen {
  FILE *stream;
  char *text;
  size_t size;
  struct {
    size_t begin;
    enum screen_rank rank;
    bool notes; /* see screen_split() */
  } parts[SCREEN_PARTS];
  unsigned count;
};

void screen_begin(struct screen *screen);

/* Begins a part.  Beyond SCREEN_PARTS, the text belongs to the last one. */
void screen_part(struct screen *screen, enum screen_rank rank);

/* The last part has notes, none of which is left out without being counted: makes a part of each one.  They begin with
 * two spaces and no third; the first one stays with the heading before it. */
void screen_split(struct screen *screen, enum screen_rank rank);

/* What was left out: lines, and notes in them. */
struct screen_left {
  unsigned lines, notes;
};

/* Prints what fits into SCREEN_LINES with `reserved` lines after it and one more if anything is left out, or `all`. The
 * screen is released. */
struct screen_left screen_end(struct screen *screen, FILE *to, unsigned reserved, bool all);

#endif
