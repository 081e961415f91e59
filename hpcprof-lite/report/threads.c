/* The threads view as text: each thread, or the distribution of many.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "common/order.h"
#include "hpcprof-lite/model/cpu_list.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/text_table.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { CELL = TEXT_TABLE_FIGURE, LEAST_SHOWN_NS = 10000000 /* in seconds with two decimals */ };

/* process << 32 | thread, as in the report's order of threads. */
static const struct profile_process *process_of(const struct report *report, uint64_t number)
{
  assert(number >> 32 < report->profile->processes_count);
  return &report->profile->processes[number >> 32];
}

static const struct profile_thread *thread_of(const struct report *report, uint64_t number)
{
  assert((uint32_t)number < process_of(report, number)->threads_count);
  return &process_of(report, number)->threads[(uint32_t)number];
}

/* ---- the table ---- */

static struct cell usage_ns(const struct profile_process *process, const struct profile_thread *thread,
                            enum profile_usage usage)
{
  return cell_optional_ns(profile_usage_known(process), thread->usage[usage]);
}

/* The sum of two figures; more: USAGES: of one. */
static struct cell usage_count(const struct profile_process *process, const struct profile_thread *thread,
                               enum profile_usage usage, enum profile_usage more)
{
  uint64_t other = more < USAGES ? thread->usage[more] : 0;
  return cell_optional(profile_usage_known(process), model_sum(thread->usage[usage], other));
}

/* A row is an element of the report's order of threads. */
static void fill(const void *context, const void *row, struct cell *cell)
{
  const struct report *report = context;
  const uint64_t *number = row;
  const struct profile_process *process = process_of(report, *number);
  const struct profile_thread *thread = thread_of(report, *number);
  bool time = tree_has_time(report->columns),
       traced = report->profile->range.traced;          /* when samples were lost is not known */
  static char mask[CPU_LIST_TEXT], seen[CPU_LIST_TEXT]; /* until the next row */
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/threads.def"
#undef COLUMN
}

static void fill_paused(const void *context, const void *row, struct cell *cell)
{
  const struct report *report = context;
  const uint64_t *number = row;
  const struct profile_thread *thread = thread_of(report, *number);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/threads_paused.def"
#undef COLUMN
}

static void fill_mpi(const void *context, const void *row, struct cell *cell)
{
  const struct report *report = context;
  const uint64_t *number = row;
  const struct profile_thread *thread = thread_of(report, *number);
  const struct profile_process *process = process_of(report, *number);
  bool calls = !process->in_part, bytes = profile_mpi_bytes_known(process);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/threads_mpi.def"
#undef COLUMN
}

static void fill_device(const void *context, const void *row, struct cell *cell)
{
  const struct report *report = context;
  const uint64_t *number = row;
  const struct profile_thread *thread = thread_of(report, *number);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/threads_device.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/threads.def"
};
static const struct table_column columns_paused[] = {
#include "hpcprof-lite/report/threads_paused.def"
};
static const struct table_column columns_device[] = {
#include "hpcprof-lite/report/threads_device.def"
};
static const struct table_column columns_mpi[] = {
#include "hpcprof-lite/report/threads_mpi.def"
};
#undef COLUMN
static const struct schema threads_schema = SCHEMA(columns, fill);
static const struct schema paused_schema = SCHEMA(columns_paused, fill_paused);
static const struct schema mpi_schema = SCHEMA(columns_mpi, fill_mpi);
static const struct schema device_schema = SCHEMA(columns_device, fill_device);

REPORT_EACH(each_thread, report->list.threads, report->list.count)

void threads_table(const struct report *report, struct table *table)
{
  char pauses[PROFILE_PAUSES_MAX];
  table->each = each_thread;
  table->source = report;
  table_add(table, &threads_schema, report);
  if (profile_pauses(report->profile, true, pauses, sizeof pauses))
    table_add(table, &paused_schema, report);
  if (report->awaits || report->mpi)
    table->hidden = "wall_s"; /* it hardly differs between threads, and these need the room */
  if (report->awaits)
    table_add(table, &device_schema, report);
  if (report->mpi)
    table_add(table, &mpi_schema, report);
}

/* ---- text ---- */

static const char line_legend[] = "Lock, Idle: how long the thread itself waited; see --legend\n";
static const char full_legend[] = "Samples of idle and lock-waiting threads; Lost: lost or taken inside the tool;\n"
                                  "Part: with callers that are partly unknown.\n"
                                  "Work, Ovhd: sampled; Ovhd is time in the OpenMP runtime.\n"
                                  "Lock, Idle: how long the thread itself waited, wherever the cause is; timed\n"
                                  "exactly by the runtime's callbacks.\n";

static void print_process(const struct report *report, const struct terminal *terminal,
                          const struct profile_process *process)
{
  char line[4096], fitted[TERMINAL_TEXT_MAX], rank[CELL + 8] = "";
  if (process->rank >= 0)
    snprintf(rank, sizeof rank, ", rank %" PRId32, process->rank);
  snprintf(line, sizeof line, "process %" PRIu32 " on %.200s%s: %s", process->pid, report_known(process->host), rank,
           report_known(process->command));
  terminal_fit(terminal, line, terminal->width, fitted);
  fprintf(report->stream, "%s\n", fitted);
}

/* ---- what samples stand for ---- */

enum { SOURCES_SHOWN = 8, PROCESSES_NAMED = 3, NAME_MAX_SHOWN = 64, OWNERS_TEXT = 512 };

/* What the samples of some processes stand for: a line of their notes. */
struct source {
  const char *text;
  int length;
  uint32_t count, named[PROCESSES_NAMED]; /* processes, of which the first ones are named */
};

struct sources {
  struct source shown[SOURCES_SHOWN];
  uint32_t count;
  uint32_t others; /* processes with other lines than those */
};

/* Adds a process to the others with the same line. */
static void add_source(struct sources *sources, uint32_t number, const char *text, int length)
{
  assert(length >= 0 && sources->count <= SOURCES_SHOWN);
  uint32_t i = 0;
  while (i < sources->count &&
         (sources->shown[i].length != length || memcmp(sources->shown[i].text, text, length) != 0))
    i++;
  if (i == SOURCES_SHOWN) {
    sources->others++;
    return;
  }
  struct source *source = &sources->shown[i];
  if (i == sources->count)
    sources->shown[sources->count++] = (struct source){.text = text, .length = length};
  if (source->count < PROCESSES_NAMED)
    source->named[source->count] = number;
  source->count++;
}

static void find_sources(const struct profile *profile, struct sources *sources)
{
  static const char start[] = "event: ";
  const size_t skip = sizeof start - 1;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const char *notes = profile->processes[i].usable ? profile->processes[i].notes : "";
    if (!strncmp(notes, start, skip))
      add_source(sources, i, notes + skip, (int)strcspn(notes + skip, "\n"));
  }
}

/* Writes which processes they are: " of solver (process 4711), solver (process 4712) and 62 more". */
static void name_owners(const struct profile *profile, const struct source *source, char out[OWNERS_TEXT])
{
  int at = 0;
  for (uint32_t i = 0; i < source->count && i < PROCESSES_NAMED; i++) {
    const struct profile_process *process = &profile->processes[source->named[i]];
    int word = (int)strcspn(process->command, " "), base = word;
    while (base > 0 && process->command[base - 1] != '/')
      base--;
    int length = MIN(word - base, NAME_MAX_SHOWN);
    const char *kind = "process";
    uint32_t number = process->pid;
    if (process->rank >= 0) {
      kind = "rank";
      number = (uint32_t)process->rank;
    }
    at += snprintf(out + at, (size_t)(OWNERS_TEXT - at), "%s%.*s (%s %" PRIu32 ")", i ? ", " : " of ", length,
                   process->command + base, kind, number);
  }
  if (source->count > PROCESSES_NAMED)
    snprintf(out + at, (size_t)(OWNERS_TEXT - at), " and %" PRIu32 " more", source->count - PROCESSES_NAMED);
}

/* Prints what samples stand for: for each group of processes, and one amount of time only where it is that of all. */
static void print_events(const struct report *report, const struct terminal *terminal)
{
  uint64_t period = report_period_ns(report);
  struct sources sources = {0};
  char owners[OWNERS_TEXT] = "", text[OWNERS_TEXT + 1024];
  find_sources(report->profile, &sources);
  for (uint32_t i = 0; i < sources.count; i++) {
    const struct source *source = &sources.shown[i];
    if (sources.count > 1)
      name_owners(report->profile, source, owners);
    snprintf(text, sizeof text, "Samples%s: %.*s", owners, source->length, source->text);
    terminal_wrap(terminal, report->stream, "", "  ", text);
  }
  if (sources.others)
    fprintf(report->stream, "Samples of %" PRIu32 " more process%s: other rates\n", sources.others,
            sources.others == 1 ? "" : "es");
  bool changed = sources.count && memchr(sources.shown->text, '(', (size_t)sources.shown->length);
  if (period && sources.count <= 1 && !changed && !report->totals->unsampled)
    fprintf(report->stream, "One sample for every %.3f ms of a thread's time.\n", (double)period / 1e6);
}

/* What the OpenMP runtime's own threads have run, which are not listed. */
static void print_helpers(const struct report *report, const struct terminal *terminal)
{
  uint64_t ran_ns = 0;
  for (uint32_t i = 0; i < report->profile->processes_count; i++) {
    const struct profile_process *process = &report->profile->processes[i];
    for (uint32_t j = 0; process->usable && j < process->threads_count; j++)
      if (process->threads[j].flags & THREAD_HELPER)
        model_add(&ran_ns, process->threads[j].work_ns);
  }
  if (ran_ns)
    terminal_wrapf(terminal, report->stream, "", "  ",
                   "Not listed: threads of the OpenMP runtime or of MPI, which did %s%.2f s of work.",
                   ran_ns < LEAST_SHOWN_NS ? "less than " : "", (double)MAX(ran_ns, LEAST_SHOWN_NS) / 1e9);
}

static void print_all(const struct report *report)
{
  struct text_table text;
  const struct profile_process *last = NULL;
  text_table_init(&text, report, threads_table);
  print_events(report, &text.terminal);
  if (!report->chosen_count)
    fprintf(report->stream, "%15s%13s%19s%21s\n", "", "samples of:", "sampled s:", "exact s:");
  text_table_heading(&text);
  for (uint32_t i = 0; i < report->list.count; i++) {
    const struct profile_process *process = process_of(report, report->list.threads[i]);
    if (process != last)
      print_process(report, &text.terminal, process);
    last = process;
    text_table_row(&text, &report->list.threads[i]);
  }
  legend_print(report, line_legend, full_legend);
  if (report->legend && text_table_shows(&text, "mpi_s"))
    fprintf(report->stream, "MPI: in calls of MPI, polling or asleep, without the time in which the thread\n"
                            "had no core; exact.  CPU contains the part in which the thread ran.\n");
  if (report->legend && text_table_shows(&text, "device_s"))
    fprintf(report->stream, "Device: waiting for devices in target constructs, polling or asleep, with a core\n"
                            "or without; exact.  CPU contains the part in which the thread ran.\n");
  if (report->legend && text_table_shows(&text, "blocked_s"))
    fprintf(report->stream, "Block: time asleep outside OpenMP and MPI: calls known to wait, timed exactly (see\n"
                            "hpcrun-lite(1)), and the thread's time that no other column has.\n");
  print_helpers(report, &text.terminal);
  if (report->limits.left_out)
    fprintf(report->stream, "%" PRIu32 " thread%s omitted.\n", report->limits.left_out,
            terminal_plural(report->limits.left_out));
  text_table_release(&text);
}

/* A figure of a thread in 8 columns. */
static void print_figure(const struct report *report, enum distribution_figure figure, uint64_t value)
{
  assert(figure < DISTRIBUTION_FIGURES);
  char text[CELL];
  bool sampled = figure == DISTRIBUTION_WORK || figure == DISTRIBUTION_OVERHEAD;
  if (figure <= DISTRIBUTION_WALL)
    text_table_short_seconds(value, text);
  else
    terminal_short_count(value, text);
  fprintf(report->stream, " %7s", sampled && !tree_has_time(report->columns) ? "-" : text);
}

/* The first columns of a thread's row. */
static void print_place(const struct report *report, uint64_t number)
{
  const struct profile_process *process = process_of(report, number);
  char rank[CELL] = "-";
  if (process->rank >= 0)
    snprintf(rank, sizeof rank, "%" PRId32, process->rank);
  fprintf(report->stream, "%6s %9" PRIu32 " %6" PRIu32, rank, process->pid, thread_of(report, number)->index);
}

static void print_some(const struct report *report, const struct terminal *terminal, const char *title,
                       const uint64_t *threads, uint32_t count)
{
  static const enum distribution_figure shown[] = {DISTRIBUTION_WORK,   DISTRIBUTION_OVERHEAD, DISTRIBUTION_LOCKWAIT,
                                                   DISTRIBUTION_IDLE,   DISTRIBUTION_CPU,      DISTRIBUTION_WALL,
                                                   DISTRIBUTION_DROPPED};
  if (!count)
    return;
  fprintf(report->stream, "\n%s\n%s%6s %9s %6s", title, terminal_bold(terminal), "Rank", "Process", "Thread");
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
    fprintf(report->stream, " %7s", distribution_name(shown[i]));
  fprintf(report->stream, "%s\n", terminal_plain(terminal));
  for (uint32_t i = 0; i < count; i++) {
    print_place(report, threads[i]);
    for (size_t j = 0; j < sizeof shown / sizeof *shown; j++)
      print_figure(report, shown[j], distribution_value(thread_of(report, threads[i]), shown[j]));
    putc('\n', report->stream);
  }
}

/* Prints a histogram over the threads. */
static void print_bins(const struct report *report, const struct terminal *terminal)
{
  enum { BAR_MAX = 45 };
  const struct distribution *distribution = report->list.distribution;
  uint32_t most = 0;
  if (!distribution->bin_width)
    return;
  for (int i = 0; i < DISTRIBUTION_BINS; i++)
    most = MAX(distribution->bins[i], most);
  fprintf(report->stream, "\n%s%-21s %7s%s\n", terminal_bold(terminal), distribution_name(distribution->by), "Threads",
          terminal_plain(terminal));
  for (int i = 0; i < DISTRIBUTION_BINS; i++) {
    char from[CELL], to[CELL];
    uint64_t start =
        model_sum(distribution->quantiles[distribution->by][DISTRIBUTION_LEAST], distribution->bin_width * (uint64_t)i);
    uint64_t length = (uint64_t)distribution->bins[i] * BAR_MAX / most;
    text_table_short_seconds(start, from);
    text_table_short_seconds(model_sum(start, distribution->bin_width), to);
    fprintf(report->stream, "%9s to %8s %7" PRIu32 " ", from, to, distribution->bins[i]);
    for (uint64_t j = 0; j < length || (j == 0 && distribution->bins[i]); j++)
      putc('#', report->stream);
    putc('\n', report->stream);
  }
}

static void print_distribution(const struct report *report)
{
  static const char *const quantiles[DISTRIBUTION_QUANTILES] = {"Least", "5 %",  "25 %", "Median",
                                                                "75 %",  "95 %", "Most"};
  const struct distribution *distribution = report->list.distribution;
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  fprintf(report->stream, "%" PRIu32 " threads of %" PRIu32 " process%s on %" PRIu32 " host%s\n\n",
          distribution->threads, distribution->processes, distribution->processes == 1 ? "" : "es", distribution->hosts,
          terminal_plural(distribution->hosts));
  print_events(report, &terminal);
  fprintf(report->stream, "%s%-12s", terminal_bold(&terminal), "Each thread");
  for (int i = 0; i < DISTRIBUTION_QUANTILES; i++)
    fprintf(report->stream, " %7s", quantiles[i]);
  fprintf(report->stream, " %7s%s\n", "Mean", terminal_plain(&terminal));
  for (enum distribution_figure figure = 0; figure < DISTRIBUTION_FIGURES; figure++) {
    fprintf(report->stream, "%-12s", distribution_name(figure));
    for (int i = 0; i < DISTRIBUTION_QUANTILES; i++)
      print_figure(report, figure, distribution->quantiles[figure][i]);
    print_figure(report, figure, distribution->mean[figure]);
    putc('\n', report->stream);
  }
  print_bins(report, &terminal);
  const char *by = distribution->by == DISTRIBUTION_WORK ? "work" : "CPU time";
  char title[40];
  snprintf(title, sizeof title, "Threads with the most %s:", by);
  print_some(report, &terminal, title, distribution->most, DISTRIBUTION_SHOWN);
  snprintf(title, sizeof title, "Threads with the least %s:", by);
  print_some(report, &terminal, title, distribution->least, DISTRIBUTION_SHOWN);
  print_some(report, &terminal, "Threads with the most lost samples:", distribution->lossy, distribution->lossy_count);
  putc('\n', report->stream);
  legend_print(report, line_legend, full_legend);
  fputs("--max-rows N lists the first N threads by --sort COLUMN; -f csv has all.\n", report->stream);
}

void threads_text(const struct report *report)
{
  if (report->list.distribution)
    print_distribution(report);
  else
    print_all(report);
}
