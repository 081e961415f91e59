/* What the views of constructs share.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_CONSTRUCTS_CONSTRUCT_TEXT_H
#define HPCPROF_LITE_REPORT_CONSTRUCTS_CONSTRUCT_TEXT_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

enum { CONSTRUCT_TEXT_MAX = 4200, CONSTRUCT_FIGURE = 16 };

/* Writes "for @ solve.c:42 (solve)", without the parts that are not known; kind "" is left out. */
void construct_text_place(const char *kind, const char *name, const char *file, uint32_t line,
                          char out[CONSTRUCT_TEXT_MAX]);

struct construct_place {
  const char *kind, *name, *file;
  uint32_t line;
};

/* Writes the same in at most `width` columns.  Where the function has no room, it is left out: the line tells more. */
void construct_text_name(const struct terminal *terminal, const struct construct_place *place, unsigned width,
                         char out[TERMINAL_TEXT_MAX]);

static inline struct construct_place construct_place_of(const struct construct_entry *entry)
{
  return (struct construct_place){profile_directive_name(entry->kind), entry->name, entry->file, entry->line};
}

/* What the rows of a view of constructs are filled from, and text of the row that was filled last. */
struct construct_filling {
  const struct report *report;
  struct construct_room {
    char region[CONSTRUCT_FIGURE], name[CONSTRUCT_TEXT_MAX], brief[CONSTRUCT_TEXT_MAX];
  } * room;
};

/* Makes one, which the table keeps. */
const struct construct_filling *construct_text_filling(const struct report *report, struct table *table);

/* The label of a region: "R12", or "program" for 0. */
struct cell construct_text_region(const struct construct_filling *filling, uint32_t region);

/* The name of a construct, which text shows without the function where there is no room. */
struct cell construct_text_cell(const struct construct_filling *filling, const struct construct_place *place);

/* Adds the columns of a view of constructs and, to text only, that of their names, which has that heading.  Both are
 * filled from a construct_filling. */
void construct_text_add(const struct report *report, struct table *table, const struct schema *schema,
                        const char *heading, table_fill *fill_construct);

/* Writes for what a construct loses most time, in words: "waiting for the last thread", for example. */
const char *construct_text_lost(uint32_t kind, const struct construct_lost *lost);

/* The number of decimals with which times up to that one take 6 columns. */
unsigned construct_text_decimals(uint64_t largest_ns);

#endif
