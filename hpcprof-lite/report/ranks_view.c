/* The ranks view as text: each rank, or those that stand out of many, and a strip for all.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "common/order.h"
#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/job_efficiency.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/text_table.h"
#include "hpcprof-lite/views/rank_rows.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* SINGLE_MOST: so many ranks have lines of their own.  LABEL, FRAME: columns of a strip's label, and beside its
 * cells. */
enum { SINGLE_MOST = 40, LABEL = 9, FRAME = 2 };

/* ---- the table ---- */

static const char *thread_level(uint32_t level)
{
  static const char *const names[] = {"", "single", "funneled", "serialized", "multiple"};
  return level < sizeof names / sizeof *names ? names[level] : "";
}

static const char *finalized(const struct profile_process *process)
{
  if (!(process->mpi_state & PROFILE_MPI_INITIALIZED))
    return "";
  return process->mpi_state & PROFILE_MPI_FINALIZED ? "yes" : "no";
}

static void fill(const void *context, const void *which, struct cell *cell)
{
  const struct report *report = context;
  const struct rank_row *row = which;
  const struct profile_process *process = &report->profile->processes[row->process];
  const struct efficiency_job *job = &report->efficiency.job;
  const struct efficiency_rank *rank = job->known ? &job->of_process[row->process] : NULL;
  bool time = tree_has_time(report->columns);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/ranks.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/ranks.def"
};
#undef COLUMN
static const struct schema ranks_schema = SCHEMA(columns, fill);

REPORT_EACH(each_rank, report->ranks->rows, report->list.count)

void ranks_table(const struct report *report, struct table *table)
{
  table->each = each_rank;
  table->source = report;
  table_add(table, &ranks_schema, report);
}

/* ---- strips ---- */

/* The part of the time of some ranks that is in a category: a digit for tenths, a dot for less than half of one. */
static char strip_cell(const struct rank_rows *ranks, uint32_t first, uint32_t end, unsigned category)
{
  uint64_t here = 0, all = 0;
  for (uint32_t i = first; i < end; i++) {
    model_add(&here, ranks->rows[i].ns[category]);
    uint64_t sum = category_sum(ranks->rows[i].ns);
    model_add(&all, sum);
  }
  double tenths = all ? 10 * (double)here / (double)all : 0;
  if (tenths < 0.5)
    return '.';
  return tenths < 9.5 ? (char)('0' + (int)(tenths + 0.5)) : '#';
}

/* Whether the rows are in the order of the ranks: the user can sort them by another column. */
static bool in_order(const struct rank_rows *ranks)
{
  for (uint32_t i = 1; i < ranks->count; i++)
    if (ranks->rows[i].rank < ranks->rows[i - 1].rank)
      return false;
  return true;
}

static void print_strips(const struct report *report, const struct terminal *terminal)
{
  const struct rank_rows *ranks = report->ranks;
  uint32_t most = terminal->width - LABEL - FRAME, each = (ranks->count + most - 1) / most;
  uint32_t cells = (ranks->count + each - 1) / each;
  uint32_t first = ranks->rows[0].rank, last = ranks->rows[ranks->count - 1].rank;
  fputc('\n', report->stream);
  terminal_wrapf(terminal, report->stream, "", "",
                 "Tenths of the time that is accounted for, from rank %" PRIu32 " on the left to rank %" PRIu32 "%s",
                 first, last, each > 1 ? "," : "");
  if (each > 1)
    fprintf(report->stream, "%" PRIu32 " ranks a character\n", each);
  for (unsigned c = 0; c < TIMELINE_CATEGORIES; c++) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ranks->count; i++)
      model_add(&sum, ranks->rows[i].ns[c]);
    if (!sum)
      continue;
    fprintf(report->stream, "%-*s|%s", LABEL, category_looks[c].title, category_colour(terminal, c));
    for (uint32_t i = 0; i < cells; i++)
      putc(strip_cell(ranks, i * each, MIN((i + 1) * each, ranks->count), c), report->stream);
    fprintf(report->stream, "%s|\n", terminal_plain(terminal));
  }
}

/* ---- many ranks ---- */

static void rank_name(bool differ, uint32_t rank, char out[TEXT_TABLE_FIGURE])
{
  if (differ)
    snprintf(out, TEXT_TABLE_FIGURE, "rank %" PRIu32, rank);
  else
    snprintf(out, TEXT_TABLE_FIGURE, "all ranks");
}

/* Names the ranks with the most and the least time in each category. */
static void print_extremes(const struct report *report)
{
  const struct rank_rows *ranks = report->ranks;
  enum { FIGURE = TEXT_TABLE_FIGURE };
  fprintf(report->stream, "%-*s%8s  %-16s%8s  %-16s%8s\n", LABEL, "", "Most", "", "Least", "", "Mean");
  for (unsigned c = 0; c < TIMELINE_CATEGORIES; c++) {
    uint32_t least, most;
    uint64_t sum = 0;
    char text[3][FIGURE], name[2][FIGURE];
    rank_rows_extremes(ranks, c, &least, &most);
    for (uint32_t i = 0; i < ranks->count; i++)
      model_add(&sum, ranks->rows[i].ns[c]);
    if (!sum)
      continue;
    text_table_short_seconds(ranks->rows[most].ns[c], text[0]);
    text_table_short_seconds(ranks->rows[least].ns[c], text[1]);
    text_table_short_seconds(sum / ranks->count, text[2]);
    bool differ = ranks->rows[most].ns[c] > ranks->rows[least].ns[c];
    rank_name(differ, ranks->rows[most].rank, name[0]);
    rank_name(differ, ranks->rows[least].rank, name[1]);
    fprintf(report->stream, "%-*s%8s  %-16s%8s  %-16s%8s\n", LABEL, category_looks[c].title, text[0], name[0], text[1],
            name[1], text[2]);
  }
}

/* Which MPI library ran how, if that is the same for all ranks. */
static void print_job(const struct report *report, const struct terminal *terminal)
{
  const struct rank_rows *ranks = report->ranks;
  const struct profile_process *first = &report->profile->processes[ranks->rows[0].process];
  bool same = *first->mpi_library;
  for (uint32_t i = 1; i < ranks->count && same; i++) {
    const struct profile_process *process = &report->profile->processes[ranks->rows[i].process];
    same = !strcmp(process->mpi_library, first->mpi_library) && process->mpi_threads == first->mpi_threads;
  }
  if (same && *thread_level(first->mpi_threads))
    terminal_wrapf(terminal, report->stream, "", "  ", "%" PRIu32 " ranks, %.200s, thread level: %s", ranks->count,
                   first->mpi_library, thread_level(first->mpi_threads));
  else if (same)
    terminal_wrapf(terminal, report->stream, "", "  ", "%" PRIu32 " ranks, %.200s", ranks->count, first->mpi_library);
}

void ranks_text(const struct report *report)
{
  struct text_table text;
  text_table_init(&text, report, ranks_table);
  bool single = report->list.count <= SINGLE_MOST || report->limits.left_out || report->chosen_count;
  print_job(report, &text.terminal);
  if (single) {
    text_table_heading(&text);
    for (uint32_t i = 0; i < report->list.count; i++)
      text_table_row(&text, &report->ranks->rows[i]);
  } else {
    print_extremes(report);
  }
  if (report->ranks->count > 1 && !report->chosen_count && in_order(report->ranks))
    print_strips(report, &text.terminal);
  job_efficiency_print(report, &text.terminal);
  legend_print(report, "Times are sums over the threads of a rank; see --legend\n",
               "Times are sums over the threads of a rank, as in --view threads; Elapsed is the\n"
               "time from the start of the process to its end.\n"
               "MPI: in calls of MPI, polling or asleep, exact; without the time in which the\n"
               "thread had no core, which --view mpi contains.\n"
               "Idle: without work, also because the initial thread is in MPI.\n"
               "Core: ready to run without a core, also in MPI.\n"
               "NoCore: waiting for another thread that is ready without a core.\n"
               "Calls, Sent, Recvd: calls of MPI, and the bytes that they sent and received.\n"
               "Strips: tenths of the time of all categories; a dot: less than half of one;\n"
               "#: more than nine and a half.\n"
               "Longest rank: the one that is outside MPI longest.\n");
  if (report->limits.left_out)
    fprintf(report->stream, "%" PRIu32 " rank%s omitted.\n", report->limits.left_out,
            terminal_plural(report->limits.left_out));
  text_table_release(&text);
}
