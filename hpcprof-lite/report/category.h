/* The categories of time as reports show them: letter, name and colour, and how much of the run's time each has.
 *
 * Context: BATCH.  A category has the same letter, name and colour in all views.
 */
#ifndef HPCPROF_LITE_REPORT_CATEGORY_H
#define HPCPROF_LITE_REPORT_CATEGORY_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

/* How a category is shown: in drawings, beside the letter and in lists, above a column, and its colour. */
struct category_look {
  char letter;
  const char *name, *title, *colour;
};
extern const struct category_look category_looks[TIMELINE_CATEGORIES];

/* The escape sequence of a category's colour; "" without colour. */
const char *category_colour(const struct terminal *terminal, enum timeline_category category);

/* Prints a table's heading in bold, with the names of categories in their colours. */
void category_heading(const struct terminal *terminal, FILE *stream, const char *line);

/* Returns the time in all categories together. */
uint64_t category_sum(const uint64_t ns[TIMELINE_CATEGORIES]);

/* The time of all threads in each category: lock wait and idleness as charged to contexts, or else as timed; nothing is
 * a gap.  Returns the sum. */
uint64_t category_times(const struct report *report, uint64_t ns[TIMELINE_CATEGORIES]);

/* What all categories leave of the time of the threads or cores that idleness counts against, of which no evidence
 * tells what it was; 0: less than a hundredth, or not known. */
uint64_t category_unexplained(const struct report *report);

/* Prints work, overhead, lock wait, idleness, and all others together, in percent of a time; hyphens if that is 0. */
void category_shares(FILE *stream, const uint64_t ns[TIMELINE_CATEGORIES], uint64_t whole_ns);

/* Prints `width` letters for a time of `all`, of which each category has its share; nothing if that is 0. */
void category_letters(FILE *stream, const struct terminal *terminal, const uint64_t ns[TIMELINE_CATEGORIES],
                      uint64_t all, unsigned width);

/* Prints a line of letters for the time of all threads, and below it the shares in percent. */
void category_bar(const struct report *report, const struct terminal *terminal);

/* Prints a table: the time in each category, as sampled and as timed by the runtime's callbacks, and their sum. */
void category_table(const struct report *report, const struct terminal *terminal);

#endif
