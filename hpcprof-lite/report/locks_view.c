/* The locks view as text, and its table.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/text_table.h"
#include "hpcprof-lite/views/lock_rows.h"

#include <inttypes.h>
#include <stdio.h>

enum { PLACE_MAX = 4096 };

/* "main at a.c:7", or what is known of it; "" if nothing is. */
static const char *place_text(const struct call_place *place, char out[PLACE_MAX])
{
  if (*place->file && place->line)
    snprintf(out, PLACE_MAX, "%s at %s:%" PRIu32, place->function, names_base(place->file), place->line);
  else
    snprintf(out, PLACE_MAX, "%s", place->function);
  return out;
}

/* What threads did in its first place. */
static const char *use_of(const struct lock_row *row)
{
  return row->waits ? "waited for" : "acquired";
}

static void fill(const void *context, const void *which, struct cell *cell)
{
  const struct lock_row *row = which;
  static char where[PLACE_MAX]; /* until the next row is filled */
  (void)context;
  if (!*row->name) {
    char place[PLACE_MAX];
    where[0] = '\0';
    if (*place_text(&row->first, place))
      snprintf(where, sizeof where, "(%s in %.*s)", use_of(row), PLACE_MAX - 32, place);
  }
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/locks.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/locks.def"
};
#undef COLUMN
static const struct schema locks_schema = SCHEMA(columns, fill);

REPORT_EACH(each_lock, report->locks->rows, report->list.count)

void locks_table(const struct report *report, struct table *table)
{
  table->each = each_lock;
  table->source = report;
  table_add(table, &locks_schema, NULL);
}

/* How often the lock was acquired, and for how long it was held after waits. */
static void print_amounts(const struct text_table *text, const struct lock_row *row)
{
  enum { SHOWN_LEAST_NS = 5000000 }; /* rounds to 0.01 s */
  FILE *stream = text->report->stream;
  char held[32] = "";
  if (row->held_ns >= SHOWN_LEAST_NS)
    snprintf(held, sizeof held, "held for at least %.2f s", (double)row->held_ns / 1e9);
  if (row->counted)
    terminal_wrapf(&text->terminal, stream, "    ", "      ", "acquired %" PRIu64 " time%s%s%s", row->acquired,
                   terminal_plural(row->acquired), *held ? ", " : "", held);
  else if (*held)
    terminal_wrapf(&text->terminal, stream, "    ", "      ", "%s", held);
}

/* Where threads waited for the lock, and where it was released for which others had waited. */
static void print_places(const struct text_table *text, const struct lock_row *row)
{
  FILE *stream = text->report->stream;
  char place[PLACE_MAX];
  if (*row->name && *place_text(&row->first, place))
    terminal_wrapf(&text->terminal, stream, "    ", "      ", "%s in %s", use_of(row), place);
  print_amounts(text, row);
  for (unsigned i = 0; i < CALL_PLACES_MOST && row->holder_ns[i]; i++) {
    place_text(&row->holder[i], place);
    double percent = 100 * (double)row->holder_ns[i] / (double)row->released_ns;
    terminal_wrapf(&text->terminal, stream, "    ", "      ", "%.1f %% until released in %s", percent,
                   *place ? place : "other code");
  }
}

void locks_text(const struct report *report)
{
  struct text_table text;
  text_table_init(&text, report, locks_table);
  text_table_heading(&text);
  for (uint32_t i = 0; i < report->list.count; i++) {
    text_table_row(&text, &report->locks->rows[i]);
    if (!report->chosen_count)
      print_places(&text, &report->locks->rows[i]);
  }
  uint64_t taken = 0;
  for (uint32_t i = 0; i < report->profile->processes_usable; i++)
    for (uint32_t k = 0; k < report->profile->processes[i].threads_count; k++)
      model_add(&taken, report->profile->processes[i].threads[k].locks_taken);
  if (taken)
    fprintf(report->stream, "Locks of POSIX and C11 were acquired %" PRIu64 " time%s.\n", taken,
            terminal_plural(taken));
  legend_print(report, "Waits are exact.  Below a lock: where it was released while others waited; see\n--legend\n",
               "Waits, Wait s, Longest: how often and how long threads waited for the lock, and\n"
               "the longest wait, exact, with the time in which the waiting thread had no core\n"
               "(lock wait in the view threads is without it).  Locks for which no thread waited\n"
               "are listed with -c locks of hpcrun-lite, which also counts how often each lock\n"
               "was acquired.\n"
               "Lock: the variable, or where threads first waited for it or, if none did, first\n"
               "acquired it.  Below: that place; how long threads held the lock, one at a time,\n"
               "after they had waited for it (the run cannot be shorter); and where it was\n"
               "released while others waited: at most three places, with their share of all\n"
               "waiting for which a release is known.  That is exact for locks of POSIX and C11,\n"
               "and sampled for those of OpenMP.\n");
  legend_omitted(report);
  text_table_release(&text);
}
