#include "hpcprof-lite/report/marks/marks_view.h"

#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/terminal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- marks ---- */

int marks_view_table(const struct report *report, bool json)
{
  static const char *const columns[] = {"process", "rank", "thread", "kind", "name", "start_s", "end_s"};
  struct row_writer writer;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, columns, sizeof columns / sizeof *columns);
  for (uint32_t i = 0; i < report->marks->count; i++) {
    const struct run_mark *mark = &report->marks->marks[i];
    const struct profile_process *process = &report->profile->processes[mark->process];
    row_writer_uint(&writer, process->pid);
    row_writer_optional(&writer, process->rank >= 0, (uint64_t)process->rank);
    row_writer_uint(&writer, mark->thread);
    row_writer_text(&writer, mark->phase ? "phase" : "mark");
    row_writer_text(&writer, mark->name);
    row_writer_ns(&writer, mark->start_ns);
    row_writer_ns(&writer, mark->end_ns);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

void marks_view_text(const struct report *report)
{
  struct terminal terminal;
  bool several = report->profile->processes_usable > 1;
  terminal_init(&terminal, report->stream);
  category_heading(&terminal, report->stream,
                   several ? "   Start s    Time  Thread Process  Name" : "   Start s    Time  Thread  Name");
  for (uint32_t i = 0; i < report->marks->count; i++) {
    const struct run_mark *mark = &report->marks->marks[i];
    char time[16] = "   mark", process[24] = "", name[TERMINAL_TEXT_MAX];
    if (mark->phase)
      terminal_short_time(mark->end_ns - mark->start_ns, time);
    if (several)
      snprintf(process, sizeof process, " %7" PRIu32, report->profile->processes[mark->process].pid);
    terminal_cut(&terminal, mark->name, terminal_room(&terminal, several ? 36 : 28), name);
    fprintf(report->stream, "%10.6f %7s %7" PRIu32 "%s  %s\n", (double)mark->start_ns / 1e9, time, mark->thread,
            process, name);
  }
}

/* ---- counters ---- */

/* What a thread has counted by a counter. */
struct counted {
  const char *name;
  const struct profile_process *process;
  const struct profile_user_count *count;
};

/* By counter, then in the order of processes and threads. */
static int by_name(const void *a, const void *b)
{
  const struct counted *x = a, *y = b;
  int names = strcmp(x->name, y->name);
  if (names || x->process != y->process)
    return names ? names : x->process < y->process ? -1 : 1;
  return (x->count > y->count) - (x->count < y->count);
}

/* Lists the counts of all threads, followed by one without a name, in an array for free().  NULL without memory. */
static struct counted *list_counts(const struct report *report)
{
  size_t all = 0, at = 0;
  for (uint32_t i = 0; i < report->profile->processes_usable; i++)
    all += report->profile->processes[i].marks.counts_count;
  struct counted *list = calloc(all + 1, sizeof *list);
  for (uint32_t i = 0; list && i < report->profile->processes_usable; i++) {
    const struct profile_process *process = &report->profile->processes[i];
    const struct profile_marks *marks = &process->marks;
    for (uint32_t k = 0; k < marks->counts_count; k++)
      list[at++] = (struct counted){marks->text + marks->counts[k].name, process, &marks->counts[k]};
  }
  if (at)
    qsort(list, at, sizeof *list, by_name);
  return list;
}

/* One counter: the sums of all threads, and the smallest and largest sum of a thread. */
struct user_counter {
  struct profile_user_count sums;
  uint64_t least_sum, most_sum;
  uint32_t threads;
};

static struct user_counter sum_up(const struct counted *first)
{
  struct user_counter counter = {.sums.least = UINT64_MAX, .least_sum = UINT64_MAX};
  struct profile_user_count *sums = &counter.sums;
  for (const struct counted *at = first; at->name && !strcmp(at->name, first->name); at++) {
    const struct profile_user_count *count = at->count;
    sums->count = model_sum(sums->count, count->count);
    sums->sum = model_sum(sums->sum, count->sum);
    sums->least = count->least < sums->least ? count->least : sums->least;
    sums->most = count->most > sums->most ? count->most : sums->most;
    counter.least_sum = count->sum < counter.least_sum ? count->sum : counter.least_sum;
    counter.most_sum = count->sum > counter.most_sum ? count->sum : counter.most_sum;
    counter.threads++;
  }
  return counter;
}

static void count_cells(struct row_writer *writer, const char *name, const struct profile_process *process,
                        const struct profile_user_count *count)
{
  row_writer_text(writer, name);
  row_writer_optional(writer, process, process ? process->pid : 0);
  row_writer_optional(writer, process && process->rank >= 0, process ? (uint64_t)process->rank : 0);
  row_writer_optional(writer, process, count->thread);
  row_writer_uint(writer, count->count);
  row_writer_uint(writer, count->sum);
  row_writer_uint(writer, count->least);
  row_writer_real(writer, (double)count->sum / (double)count->count, 4);
  row_writer_uint(writer, count->most);
}

int user_counters_table(const struct report *report, bool json)
{
  static const char *const columns[] = {"counter", "process", "rank", "thread", "values", "sum", "min", "mean", "max"};
  struct row_writer writer;
  struct counted *list = list_counts(report);
  if (!list)
    return ERR_NOMEM;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, columns, sizeof columns / sizeof *columns);
  for (const struct counted *at = list; at->name;) {
    struct user_counter counter = sum_up(at);
    count_cells(&writer, at->name, NULL, &counter.sums);
    for (const struct counted *end = at + counter.threads; at < end; at++)
      count_cells(&writer, at->name, at->process, at->count);
  }
  row_writer_end(&writer);
  document_close(report, json);
  free(list);
  return 0;
}

static void print_counter(const struct report *report, const struct terminal *terminal, const char *name,
                          const struct user_counter *counter)
{
  enum { BESIDE_NAME = 72, BELOW = 4 };
  const struct profile_user_count *sums = &counter->sums;
  const uint64_t figures[] = {sums->count, sums->sum, sums->least, sums->sum / sums->count, sums->most};
  char text[16], least[16], most[16], fitting[TERMINAL_TEXT_MAX];
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
    terminal_count(figures[i], text);
    fprintf(report->stream, "%s%8s", i ? " " : "", text);
  }
  terminal_count(counter->least_sum, least);
  terminal_count(counter->most_sum, most);
  unsigned room = terminal_room(terminal, BESIDE_NAME);
  bool beside = strlen(name) <= room;
  terminal_cut(terminal, name, beside ? room : terminal_room(terminal, BELOW), fitting);
  fprintf(report->stream, " %7" PRIu32 " %8s %8s%s%s\n", counter->threads, least, most, beside ? "  " : "\n    ",
          fitting);
}

void user_counters_text(const struct report *report)
{
  struct terminal terminal;
  struct counted *list = list_counts(report);
  terminal_init(&terminal, report->stream);
  category_heading(&terminal, report->stream,
                   "  Values      Sum      Min     Mean      Max Threads  Sum min  Sum max  Counter");
  for (const struct counted *at = list; at && at->name;) {
    struct user_counter counter = sum_up(at);
    print_counter(report, &terminal, at->name, &counter);
    at += counter.threads;
  }
  free(list);
  terminal_wrap(&terminal, report->stream, "", "",
                "Sum min, Sum max: of a thread. By context: columns NAME_incl, NAME_excl of topdown -f csv");
}
