#include "hpcprof-lite/report/marks/marks_view.h"

#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/terminal.h"

#include <inttypes.h>
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

/* Of one counter: the sums of all threads. */
static struct profile_user_count sums_of(const struct report *report, const char *name)
{
  struct profile_user_count sums = {.least = UINT64_MAX};
  for (uint32_t i = 0; i < report->profile->processes_usable; i++) {
    const struct profile_marks *marks = &report->profile->processes[i].marks;
    for (uint32_t k = 0; k < marks->counts_count; k++) {
      const struct profile_user_count *count = &marks->counts[k];
      if (strcmp(marks->text + count->name, name) != 0)
        continue;
      sums.count = model_sum(sums.count, count->count);
      sums.sum = model_sum(sums.sum, count->sum);
      sums.least = count->least < sums.least ? count->least : sums.least;
      sums.most = count->most > sums.most ? count->most : sums.most;
    }
  }
  return sums;
}

/* The first counter in the order of names that comes after that one; NULL: none. */
static const char *next_name(const struct report *report, const char *after)
{
  const char *next = NULL;
  for (uint32_t i = 0; i < report->profile->processes_usable; i++) {
    const struct profile_marks *marks = &report->profile->processes[i].marks;
    for (uint32_t k = 0; k < marks->counts_count; k++) {
      const char *name = marks->text + marks->counts[k].name;
      if ((!after || strcmp(name, after) > 0) && (!next || strcmp(name, next) < 0))
        next = name;
    }
  }
  return next;
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
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, columns, sizeof columns / sizeof *columns);
  for (const char *name = next_name(report, NULL); name; name = next_name(report, name)) {
    struct profile_user_count sums = sums_of(report, name);
    count_cells(&writer, name, NULL, &sums);
    for (uint32_t i = 0; i < report->profile->processes_usable; i++) {
      const struct profile_process *process = &report->profile->processes[i];
      for (uint32_t k = 0; k < process->marks.counts_count; k++)
        if (!strcmp(process->marks.text + process->marks.counts[k].name, name))
          count_cells(&writer, name, process, &process->marks.counts[k]);
    }
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

/* The smallest and largest sum of a thread that has counted. */
static void print_spread(const struct report *report, const char *name)
{
  uint64_t least = UINT64_MAX, most = 0;
  uint32_t threads = 0;
  char few[16], many[16];
  for (uint32_t i = 0; i < report->profile->processes_usable; i++) {
    const struct profile_marks *marks = &report->profile->processes[i].marks;
    for (uint32_t k = 0; k < marks->counts_count; k++) {
      const struct profile_user_count *count = &marks->counts[k];
      if (strcmp(marks->text + count->name, name) != 0)
        continue;
      threads++;
      least = count->sum < least ? count->sum : least;
      most = count->sum > most ? count->sum : most;
    }
  }
  terminal_count(least, few);
  terminal_count(most, many);
  fprintf(report->stream, " %7" PRIu32 " %8s %8s", threads, few, many);
}

void user_counters_text(const struct report *report)
{
  enum { BESIDE_NAME = 72 };
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  category_heading(&terminal, report->stream,
                   "  Values      Sum      Min     Mean      Max Threads  Sum min  Sum max  Counter");
  for (const char *name = next_name(report, NULL); name; name = next_name(report, name)) {
    struct profile_user_count sums = sums_of(report, name);
    const uint64_t figures[] = {sums.count, sums.sum, sums.least, sums.sum / sums.count, sums.most};
    char text[16], fitting[TERMINAL_TEXT_MAX];
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
      terminal_count(figures[i], text);
      fprintf(report->stream, "%s%8s", i ? " " : "", text);
    }
    print_spread(report, name);
    terminal_cut(&terminal, name, terminal_room(&terminal, BESIDE_NAME), fitting);
    fprintf(report->stream, "  %s\n", fitting);
  }
  terminal_wrap(&terminal, report->stream, "", "",
                "Sum min, Sum max: of a thread. By context: columns NAME_incl, NAME_excl of topdown -f csv");
}
