/* What the views of constructs share.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_CONSTRUCTS_CONSTRUCT_TEXT_H
#define HPCPROF_LITE_REPORT_CONSTRUCTS_CONSTRUCT_TEXT_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/terminal.h"

enum { CONSTRUCT_TEXT_MAX = 4200, CONSTRUCT_FIGURE = 16 };

/* Writes "for @ solve.c:42 (solve)", without the parts that are not known; kind "" is left out. */
void construct_text_place(const char *kind, const char *name, const char *file, uint32_t line,
                          char out[CONSTRUCT_TEXT_MAX]);

/* Writes the same in at most `width` columns: without the function if there is no room, as the line says more. */
struct construct_place {
  const char *kind, *name, *file;
  uint32_t line;
};
void construct_text_name(const struct terminal *terminal, const struct construct_place *place, unsigned width,
                         char out[TERMINAL_TEXT_MAX]);

/* The same as a cell, which text shows without the function where there is no room.  The table keeps its text. */
struct cell construct_text_cell(struct table *table, const struct construct_place *place);

/* Adds the column that names constructs like this, to text only.  Returns 0 or ERR_NOMEM. */
int construct_text_add(struct table *table, const char *heading, table_fill *fill, const void *context);

static inline struct construct_place construct_place_of(const struct construct_entry *entry)
{
  return (struct construct_place){profile_directive_name(entry->kind), entry->name, entry->file, entry->line};
}

/* What the rows of a view of constructs are filled from. */
struct construct_filling {
  const struct report *report;
  struct table *table;
  char *region; /* the label of the row that was filled last */
};

/* Makes one, which the table keeps; NULL without memory. */
struct construct_filling *construct_text_filling(const struct report *report, struct table *table);

/* The label of a region: "R12", or "program" for 0. */
struct cell construct_text_region(const struct construct_filling *filling, uint32_t region);

/* Writes the largest loss of a construct in words: "waiting for the last thread", for example. */
const char *construct_text_loss(uint32_t kind, const struct construct_losses *losses);

/* The number of decimals with which times up to that one take 6 columns, and a time in 6 columns; "." for 0. */
unsigned construct_text_decimals(uint64_t largest_ns);
void construct_text_seconds(uint64_t ns, unsigned decimals, char out[CONSTRUCT_FIGURE]);

/* Prints why times of constructs are not known. */
void construct_text_missing(const struct report *report);

/* Cells of tables: kind, name, file, line; a number that is MODEL_NONE is empty. */
void construct_text_cells(struct row_writer *writer, uint32_t kind, const char *name, const char *file, uint32_t line);
void construct_text_number(struct row_writer *writer, uint32_t number);

#endif
