/* What a run has printed, line by line, to compare it with what another one has printed.
 *
 * Lines are kept as hashes; of a line, a second one stands for its text with all numbers alike, since most programs
 * print times.  After PRINTED_LINES_MAX lines, the rest counts as one line.
 *
 * Context: BATCH (the launcher).  The caller owns the structure, which owns its array; of zeros, it is empty.
 */
#ifndef HPCRUN_LITE_LAUNCH_TRIAL_PRINTED_LINES_H
#define HPCRUN_LITE_LAUNCH_TRIAL_PRINTED_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PRINTED_LINES_MAX = 1 << 18, PRINTED_LINE_BYTES = 4096 /* a longer line counts as several */ };

struct printed_line {
  uint64_t exact, without_numbers;
};

struct printed_lines {
  struct printed_line *lines;
  uint32_t count;
  size_t room;
  uint32_t length; /* of the line that is not complete yet */
  char line[PRINTED_LINE_BYTES];
};

void printed_lines_add(struct printed_lines *printed, const char *bytes, size_t size);

/* Takes a last line without a newline, after all bytes. */
void printed_lines_end(struct printed_lines *printed);

/* Sets *other to the number of lines of `now` that the first one does not have, or that it has beyond those, and
 * *numbers to the number of lines in which only numbers differ.  Lines are compared in their order, unless both have
 * the same lines but for numbers: threads may print in any order. */
void printed_lines_compare(const struct printed_lines *first, const struct printed_lines *now, uint32_t *other,
                           uint32_t *numbers);

void printed_lines_release(struct printed_lines *printed);

#endif
