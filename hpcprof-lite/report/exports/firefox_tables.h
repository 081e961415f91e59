/* The tables that all threads of a Firefox profile share: stacks, functions, sources, strings.
 *
 * Context: BATCH, for firefox.c.  Their size follows from the rows of the top-down tree, the constructs and the
 * modules.  Numbers of the format are positions in its tables.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_FIREFOX_TABLES_H
#define HPCPROF_LITE_REPORT_EXPORTS_FIREFOX_TABLES_H

#include "hpcprof-lite/report/exports/lane_marks.h"
#include "hpcprof-lite/report/exports/string_table.h"
#include "hpcprof-lite/report/exports/timeline_lanes.h"

/* What the tables of the format need to know of a construct. */
struct firefox_construct {
  char *label;
  uint32_t name, kind, function, file; /* numbers of strings */
};

struct firefox_writer {
  const struct report *report;
  FILE *stream;
  struct timeline_lanes lanes;
  struct string_table strings;
  uint32_t strings_written; /* after firefox_write_tables(): later ones cannot be referred to */
  struct firefox_construct *constructs;
  uint32_t category_names[TIMELINE_CATEGORIES];
  uint32_t mpi_names[MPI_FUNCTIONS];     /* names of MPI's, if the timeline has calls */
  uint32_t *row_names;                   /* [row] number of its name where something waits for it */
  char **labels;                         /* [row] that name, if it is not the row's own */
  uint32_t *modules;                     /* [module] its number in the format */
  uint32_t *function_of;                 /* [row] number of its function in the profile */
  uint32_t *functions, *files, *sources; /* [function] its first row, number of its file, of its source */
  uint32_t functions_count, sources_count;
  struct hash_map function_map; /* functions + 1 */
  uint16_t *used;               /* [row] bits of the categories that it, or a row below it, has as samples */
  uint32_t *first_stack;        /* [row] number of its first stack: one for each such category */
  uint32_t stacks;
  struct lane_marks marks; /* of the lane that is being written */
  unsigned column;         /* the current one, in a thread: for firefox.c */
  uint32_t cells;          /* written of the current column */
};

/* Numbers everything, from the intervals of all lanes; writer->report and stream are set. */
void firefox_prepare(struct firefox_writer *writer);
void firefox_release(struct firefox_writer *writer);

/* Writes the member "shared". */
void firefox_write_tables(struct firefox_writer *writer);

/* The stack of a sample with that row and category. */
uint32_t firefox_stack(const struct firefox_writer *writer, uint32_t row, uint32_t category);

/* Begins and ends a column: an array of cells. */
void firefox_open_column(struct firefox_writer *writer, const char *name);
void firefox_close_column(struct firefox_writer *writer);

/* Writes what stands before a cell; the caller writes the cell to the stream that is returned. */
FILE *firefox_cell(struct firefox_writer *writer);

/* Writes a cell: a number; a number, or null for MODEL_NONE; a time, in milliseconds. */
void firefox_number(struct firefox_writer *writer, uint64_t value);
void firefox_optional(struct firefox_writer *writer, uint32_t value);
void firefox_time(struct firefox_writer *writer, uint64_t ns);

#endif
