/* The timeline as text: a line for each lane, a letter for each part of time.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "common/order.h"
#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/report/timeline/device_lines.h"
#include "hpcprof-lite/report/timeline/phases_view.h"
#include "hpcprof-lite/report/timeline/state_chart.h"
#include "hpcprof-lite/report/timeline/timeline_counters.h"
#include "hpcprof-lite/report/timeline/timeline_folding.h"
#include "hpcprof-lite/report/timeline/timeline_marks.h"
#include "hpcprof-lite/report/timeline/timeline_rows.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { MARK_EVERY = 12, MARKS_MAX = 512 }; /* columns between times on the axis, at least; columns of a line, at most */

static const char legend[] = "Each letter says what a thread did for most of a column:\n"
                             "  W work          it ran code of the program\n"
                             "  o overhead      it ran code of the OpenMP runtime\n"
                             "  L lock wait     it waited for a lock, critical, ordered or atomic construct\n"
                             "  . idle          it waited at a barrier, for tasks or for the next region\n"
                             "  D waiting for a device  in a target construct\n"
                             "  b blocked       it slept in a system call\n"
                             "  c ready without a core: other threads had the cores, or a quota was used up\n"
                             "  n waiting at a barrier for a thread without a core\n"
                             "  t tool          it ran code of this profiler\n"
                             "  ? not recorded  measuring was paused, or the trace was at its limit, or only\n"
                             "                  samples were recorded (-tsamples)\n"
                             "  blank           it had not started yet, or had ended\n"
                             "L and . are exact, except with -tsamples; samples tell what else a thread did.\n"
                             "3-9: seven threads that did alike; its letters are what most of their time is.\n"
                             "1: a thread; 7.1: thread 1 of process 7, or of MPI rank 7; 0/7.1: of process 7,\n"
                             "  where several have rank 0.\n"
                             "#1, #2: where phases begin, as far as there is room.\n"
                             "vNAME: a mark of the program; [NAME: a phase that it begins; v, [: there is no\n"
                             "  room for the name.  --view marks lists them.\n"
                             "^ -: the thread was on the critical path for at least half of the column; for\n"
                             "  a smaller part.\n"
                             "Digits below a process or node: the tenths of its threads' time that are work;\n"
                             "  its letter is what most of that time is.\n"
                             "NAME: how many events were counted in all lines together; below, their rate\n"
                             "  in ninths of the highest one: . : - = + * # % @, blank: none.\n"
                             "Total: of all lines; Mean: for each of them; Min, Max: the least and most, and\n"
                             "  the line that has it.  Work, Ovhd, Lock, Idle, Block, Core, NoCore, Tool, Gap:\n"
                             "  work, overhead, lock wait, idle, blocked, ready without a core, waiting for a\n"
                             "  thread without a core, tool, not recorded.\n";

/* A drawing and what was seen in it. */
struct drawing {
  const struct report *report;
  struct terminal terminal;
  struct timeline_rows rows;
  unsigned used;                /* bits: categories with a letter */
  bool on_path, partly_on_path; /* there are such marks */
  bool counters;                /* there are rows of them */
  double agreement;             /* of threads that share a row; 1: none does */
};

static const struct profile_process *process_of(const struct drawing *drawing, uint32_t row)
{
  assert(row < drawing->rows.count);
  return report_lane_process(drawing->report, drawing->rows.rows[row].lane);
}

/* The category with the most time; TIMELINE_CATEGORIES if nothing lived. */
static unsigned category_of(const struct timeline_cell *cell)
{
  unsigned most = TIMELINE_CATEGORIES;
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    if (cell->ns[i] && (most == TIMELINE_CATEGORIES || cell->ns[i] > cell->ns[most]))
      most = i;
  return most;
}

static void print_letters(struct drawing *drawing, const struct timeline_row *row)
{
  FILE *stream = drawing->report->stream;
  const struct terminal *terminal = &drawing->terminal;
  unsigned last = TIMELINE_CATEGORIES;
  uint32_t end = drawing->rows.columns;
  while (end && category_of(&row->cells[end - 1]) == TIMELINE_CATEGORIES)
    end--;
  fprintf(stream, "%*s ", (int)drawing->rows.label_width, row->label);
  for (uint32_t i = 0; i < end; i++) {
    unsigned category = category_of(&row->cells[i]);
    bool lives = category < TIMELINE_CATEGORIES;
    if (terminal->colour && category != last)
      fprintf(stream, "%s%s", terminal_plain(terminal), lives ? category_colour(terminal, category) : "");
    fputc(lives ? category_looks[category].letter : ' ', stream);
    last = category;
    if (lives)
      drawing->used |= 1u << category;
  }
  fprintf(stream, "%s\n", terminal_plain(terminal));
}

/* A line of marks, without those at its end that are blank. */
static void print_marks(const struct drawing *drawing, const char *marks)
{
  assert(drawing->rows.columns <= MARKS_MAX);
  uint32_t end = drawing->rows.columns;
  while (end && marks[end - 1] == ' ')
    end--;
  if (end)
    fprintf(drawing->report->stream, "%*s %.*s\n", (int)drawing->rows.label_width, "", (int)end, marks);
}

/* Below a thread: where it is on the critical path. */
static void print_path(struct drawing *drawing, const struct timeline_row *row)
{
  char marks[MARKS_MAX];
  for (uint32_t i = 0; i < drawing->rows.columns; i++) {
    uint64_t critical = row->cells[i].critical_ns;
    bool most = critical && critical >= category_sum(row->cells[i].ns) - critical;
    marks[i] = critical ? '-' : ' ';
    if (most)
      marks[i] = '^';
    drawing->on_path |= most;
    drawing->partly_on_path |= critical && !most;
  }
  print_marks(drawing, marks);
}

/* Below several threads: the tenths of their time that are work. */
static void print_tenths(const struct drawing *drawing, const struct timeline_row *row)
{
  char marks[MARKS_MAX];
  for (uint32_t i = 0; i < drawing->rows.columns; i++) {
    uint64_t all = category_sum(row->cells[i].ns), work = row->cells[i].ns[TIMELINE_WORK];
    unsigned tenths = all ? (unsigned)(10 * (double)work / (double)all) : 0;
    marks[i] = all ? (char)('0' + MIN(tenths, 9)) : ' ';
  }
  print_marks(drawing, marks);
}

/* Whether another command or another node begins with a row: a line above it then names it. */
static bool begins_place(const struct drawing *drawing, uint32_t row)
{
  assert(row < drawing->rows.count);
  if (!row)
    return true;
  const struct profile_process *process = process_of(drawing, row), *before = process_of(drawing, row - 1);
  return process != before &&
         (strcmp(process->host, before->host) != 0 || strcmp(process->command, before->command) != 0);
}

/* "node7: ./solve" */
static void print_place(const struct drawing *drawing, uint32_t row)
{
  const struct profile_process *process = process_of(drawing, row);
  char text[1024], fitting[TERMINAL_TEXT_MAX];
  snprintf(text, sizeof text, "%.100s: %.900s", report_known(process->host), report_known(process->command));
  terminal_fit(&drawing->terminal, text, drawing->terminal.width, fitting);
  fprintf(drawing->report->stream, "%s%s%s\n", terminal_bold(&drawing->terminal), fitting,
          terminal_plain(&drawing->terminal));
}

/* ---- the axis ---- */

/* Seconds with as many digits as tell times apart that differ by a step. */
static int seconds_text(uint64_t ns, uint64_t step_ns, char out[32])
{
  int decimals = 0;
  for (uint64_t unit = 1000000000; unit > step_ns && decimals < 9; unit /= 10)
    decimals++;
  return snprintf(out, 32, "%.*f", decimals, (double)ns / 1e9);
}

/* The smallest of 1, 2, 5, 10, ... ns that leaves room for the times on the axis. */
static uint64_t axis_step(const struct timeline_rows *rows)
{
  assert(rows->columns);
  static const unsigned factors[] = {1, 2, 5};
  double column_ns = (double)(rows->to_ns - rows->from_ns) / rows->columns;
  uint64_t unit = 1;
  for (unsigned i = 0; unit < UINT64_MAX / 100; i++) {
    char text[32];
    uint64_t step = factors[i % 3] * unit;
    int columns = seconds_text(rows->to_ns, step, text) + 3;
    columns = MAX(columns, MARK_EVERY);
    if ((double)step >= column_ns * columns)
      return step;
    if (i % 3 == 2)
      unit *= 10;
  }
  return UINT64_MAX / 2;
}

static void print_axis(const struct drawing *drawing)
{
  const struct timeline_rows *rows = &drawing->rows;
  char marks[MARKS_MAX];
  uint64_t step = axis_step(rows), at = rows->from_ns / step * step;
  memset(marks, ' ', sizeof marks);
  if (at < rows->from_ns)
    at += step;
  for (; at < rows->to_ns; at += step) {
    char text[32];
    uint32_t place = (uint32_t)((double)(at - rows->from_ns) / (double)(rows->to_ns - rows->from_ns) * rows->columns);
    size_t length = (size_t)seconds_text(at, step, text);
    if (place + length + 1 > rows->columns || at > UINT64_MAX - step)
      break;
    marks[place] = '|';
    memcpy(marks + place + 1, text, length);
  }
  print_marks(drawing, marks);
}

/* Above the lanes of one process: where its phases begin. */
static void print_phases_axis(const struct drawing *drawing)
{
  char marks[MARKS_MAX];
  const struct timeline_rows *rows = &drawing->rows;
  const struct phases *phases = drawing->report->time.phases;
  uint64_t length_ns = rows->to_ns - rows->from_ns;
  uint32_t next = 0;
  if (drawing->report->time.phases_count != 1 || phases->count < 2)
    return;
  memset(marks, ' ', sizeof marks);
  for (uint32_t i = phases->first; i < phases->end; i++) {
    char text[16];
    uint64_t at_ns = phases->phases[i].start_ns;
    double place = at_ns <= rows->from_ns ? 0 : (double)(at_ns - rows->from_ns) / (double)length_ns * rows->columns;
    int length = snprintf(text, sizeof text, "#%" PRIu32, i + 1);
    if (place < next || place + length > rows->columns)
      continue;
    memcpy(marks + (uint32_t)place, text, (size_t)length);
    next = (uint32_t)place + (uint32_t)length;
  }
  print_marks(drawing, marks);
}

static void print_title(const struct drawing *drawing)
{
  const struct timeline_rows *rows = &drawing->rows;
  uint64_t length_ns = rows->to_ns - rows->from_ns;
  char step[16], from[32], to[32];
  terminal_short_time(length_ns / rows->columns, step);
  seconds_text(rows->from_ns, length_ns / 400, from);
  seconds_text(rows->to_ns, length_ns / 400, to);
  const char *lines = timeline_line_names[drawing->report->time.lanes];
  fprintf(drawing->report->stream, "%s%s%s, from %s to %s s, a column is %s%s\n", terminal_bold(&drawing->terminal),
          drawing->agreement < 1 ? "Lines of threads alike" : "A line for each ", drawing->agreement < 1 ? "" : lines,
          from, to, step, terminal_plain(&drawing->terminal));
}

/* ---- what the drawing means ---- */

static void print_letters_used(const struct drawing *drawing)
{
  FILE *stream = drawing->report->stream;
  size_t used = 0;
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++) {
    if (!(drawing->used & 1u << i))
      continue;
    size_t length = strlen(category_looks[i].name) + 2;
    bool fits = used + 2 + length <= drawing->terminal.width;
    if (used)
      fputs(fits ? "  " : "\n", stream);
    fprintf(stream, "%s%c%s %s", category_colour(&drawing->terminal, i), category_looks[i].letter,
            terminal_plain(&drawing->terminal), category_looks[i].name);
    used = used && fits ? used + 2 + length : length;
  }
  fputc('\n', stream);
}

static void __attribute__((format(printf, 2, 3))) print_note(const struct drawing *drawing, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  terminal_vwrapf(&drawing->terminal, drawing->report->stream, "", "  ", format, arguments);
  va_end(arguments);
}

/* What the drawing does not show, or what disturbed the run. */
static void print_doubts(const struct drawing *drawing, const struct state_times *lane_times)
{
  enum { MUCH = 10 };
  const struct timeline *timeline = drawing->report->time.timeline;
  struct state_times sums = {0};
  uint64_t column_ns = (drawing->rows.to_ns - drawing->rows.from_ns) / drawing->rows.columns;
  char percent[16], period[16], twice[16];
  for (uint32_t i = 0; i < timeline->lanes_count; i++) /* also of lines that --max-rows leaves out */
    state_times_join(&sums, &lane_times[i]);
  const uint64_t waited = sums.ns[TIMELINE_CORE_WAIT], all = category_sum(sums.ns);
  terminal_percent(waited, all, percent);
  terminal_short_time(timeline->period_ns, period);
  terminal_short_time(2 * timeline->period_ns, twice);
  if (timeline->samples_only && timeline->period_ns)
    print_note(drawing, "Only samples were recorded (-tsamples), every %s: what threads did between them is not known.",
               period);
  else if (timeline->samples_only)
    print_note(drawing, "Only samples were recorded (-tsamples): what threads did between them is not known.");
  else if (column_ns < timeline->period_ns)
    print_note(drawing, "Samples are %s apart: letters other than L and . are right to %s only.", period, twice);
  if (waited > all / MUCH)
    print_note(
        drawing,
        "For %s %% of their time threads were ready to run but had no core (c): more threads than cores, a quota, "
        "or other programs. At barriers, others waited for such threads (n).",
        percent);
}

static void print_meaning(const struct drawing *drawing, const struct state_times *lane_times)
{
  print_letters_used(drawing);
  if (drawing->report->time.lanes != TIMELINE_THREADS)
    print_note(drawing, "Digits: tenths of the threads' time that are work; letters: what most of it is.");
  if (drawing->agreement < 1)
    print_note(drawing,
               "Of several threads in a line, letters hold for at least %.0f %% of the time; --max-rows %" PRIu32
               " has a line for each.",
               floor(100 * drawing->agreement), drawing->report->time.timeline->lanes_count);
  if (drawing->partly_on_path)
    print_note(drawing, "^ on the critical path for at least half of the column, - for less");
  else if (drawing->on_path)
    print_note(drawing, "^ on the critical path");
  const struct timeline *timeline = drawing->report->time.timeline;
  if (timeline->mpi_threads)
    print_note(drawing, "Not shown: %" PRIu32 " thread%s that MPI created, with %.1f ms of work in the whole run.",
               timeline->mpi_threads, terminal_plural(timeline->mpi_threads), (double)timeline->mpi_threads_ns / 1e6);
  if (drawing->counters)
    print_note(drawing, "Counters: their rate in each column, of all lines together: from . to @, the highest one.");
  print_doubts(drawing, lane_times);
}

static void print_rows(struct drawing *drawing)
{
  const struct report *report = drawing->report;
  uint32_t count = drawing->rows.count, places = 0;
  uint32_t shown = report->limits.rows && report->limits.rows < count ? report->limits.rows : count;
  bool threads = report->time.lanes == TIMELINE_THREADS, nodes = report->time.lanes == TIMELINE_NODES;
  for (uint32_t i = 0; i < shown && !nodes; i++)
    places += begins_place(drawing, i);
  if (places == 1)
    print_place(drawing, 0);
  print_title(drawing);
  print_axis(drawing);
  timeline_marks_print(report, &drawing->terminal, &drawing->rows);
  print_phases_axis(drawing);
  for (uint32_t i = 0; i < shown; i++) {
    if (places > 1 && begins_place(drawing, i))
      print_place(drawing, i);
    print_letters(drawing, &drawing->rows.rows[i]);
    if (threads)
      print_path(drawing, &drawing->rows.rows[i]);
    else
      print_tenths(drawing, &drawing->rows.rows[i]);
  }
  if (shown < count)
    fprintf(report->stream, "%" PRIu32 " more line%s; see --max-rows\n", count - shown, terminal_plural(count - shown));
}

void timeline_text(const struct report *report)
{
  enum { MANY_LINES = 30 };
  struct drawing drawing = {.report = report, .agreement = 1};
  struct timeline_rows rows;
  terminal_init(&drawing.terminal, report->stream);
  bool folds =
      report->time.lanes == TIMELINE_THREADS && !report->limits.rows && report->time.timeline->lanes_count > MANY_LINES;
  unsigned width = drawing.terminal.width - (folds ? timeline_folding_width(report) : 0);
  timeline_rows_read(report, timeline_rows_columns(report, width), &rows);
  drawing.rows = rows;
  if (folds)
    drawing.agreement = timeline_folding_make(&rows, MANY_LINES, &drawing.rows);
  print_rows(&drawing);
  device_lines_print(report, &drawing.terminal, &drawing.rows);
  drawing.counters = timeline_counters_print(report, &drawing.terminal, &drawing.rows);
  print_meaning(&drawing, rows.lane_times);
  state_chart_text(report, &drawing.terminal, &rows);
  if (folds)
    timeline_rows_release(&drawing.rows);
  timeline_rows_release(&rows);
  fputc('\n', report->stream);
  if (report->time.phases_count)
    phases_view_list(report, &drawing.terminal, false);
  else
    fputs("No phases: times of constructs were not recorded (-p off, or --trace=samples).\n", report->stream);
  if (report->legend)
    fprintf(report->stream, "\n%s", legend);
  if (report->time.phases_count)
    phases_view_legend(report);
  else if (!report->legend)
    fputs("Letters and marks: see --legend\n", report->stream);
}
