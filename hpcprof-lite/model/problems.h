/* A list of lines that say what was wrong with the input.
 *
 * Context: BATCH.  Each list has one writer; main.c prints them.  The list owns its text.  It is bounded: past
 * PROBLEMS_MAX lines only a count is kept, so that hostile input cannot fill memory or the terminal.  Without memory a
 * line is only counted.
 */
#ifndef HPCPROF_LITE_MODEL_PROBLEMS_H
#define HPCPROF_LITE_MODEL_PROBLEMS_H

#include <stddef.h>
#include <stdio.h>

enum { PROBLEMS_MAX = 8 };

struct problems {
  char *lines[PROBLEMS_MAX];
  size_t count; /* problems in all; the first PROBLEMS_MAX have a line */
};

/* Appends one line; control characters of hostile names become '?'. */
void problems_add(struct problems *problems, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "program: line" for each, and how many more there were.  Returns the number of problems. */
size_t problems_print(const struct problems *problems, FILE *stream);

void problems_release(struct problems *problems);

#endif
