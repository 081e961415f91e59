/* The mpi view as text, and its table: calls of MPI by function and line.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/text_table.h"
#include "hpcprof-lite/views/mpi_rows.h"

#include <inttypes.h>
#include <stdio.h>

enum { PLACE_MAX = 4096 };

/* "MPI_Send in exchange at halo.c:42", without the parts that are not known.  brief: without the function that calls,
 * "" if the line is not known. */
static void write_call(const struct mpi_row *row, char out[PLACE_MAX], char brief[PLACE_MAX])
{
  const char *name = *profile_mpi_name(row->function) ? profile_mpi_name(row->function) : "(other functions)";
  const struct call_place *place = &row->place;
  bool line = *place->file && place->line;
  *brief = 0;
  snprintf(out, PLACE_MAX, "%s", name);
  if (line)
    snprintf(brief, PLACE_MAX, "%s at %.1000s:%" PRIu32, name, names_base(place->file), place->line);
  if (line)
    snprintf(out, PLACE_MAX, "%s in %.2000s at %.1000s:%" PRIu32, name, place->function, names_base(place->file),
             place->line);
  else if (*place->function)
    snprintf(out, PLACE_MAX, "%s in %.2000s", name, place->function);
}

static void fill(const void *context, const void *which, struct cell *cell)
{
  const struct report *report = context;
  const struct mpi_row *row = which;
  static char where[PLACE_MAX], brief[PLACE_MAX]; /* until the next row is filled */
  write_call(row, where, brief);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/mpi.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/mpi.def"
};
#undef COLUMN
static const struct schema mpi_schema = SCHEMA(columns, fill);

REPORT_EACH(each_call, report->mpi_calls->rows, report->list.count)

void mpi_table(const struct report *report, struct table *table)
{
  table->each = each_call;
  table->source = report;
  table_add(table, &mpi_schema, report);
}

void mpi_text(const struct report *report)
{
  struct text_table text;
  text_table_init(&text, report, mpi_table);
  text_table_heading(&text);
  for (uint32_t i = 0; i < report->list.count; i++)
    text_table_row(&text, &report->mpi_calls->rows[i]);
  legend_print(report, "Calls and times are exact, of all ranks; see --legend\n",
               "Calls, Time s, Longest: how often threads of all ranks called the function\n"
               "there, how long they were in these calls (whatever the library did meanwhile,\n"
               "with the time in which the thread had no core), and the longest call.\n"
               "Sent, Recvd: bytes; a hyphen: not known.\n"
               "Calls that MPI, a tool or the Fortran interface makes within a call are part\n"
               "of it.\n");
  legend_omitted(report);
  text_table_release(&text);
}
