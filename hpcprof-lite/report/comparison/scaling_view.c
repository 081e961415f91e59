#include "hpcprof-lite/report/comparison/scaling_view.h"

#include "hpcprof-lite/report/call_path.h"
#include "hpcprof-lite/report/comparison/scaling_plot.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELL = 24, SHARE = 5, CONTEXT_FIGURES = 1 + (1 + SCALING_PARTS + SCALING_LATER) * SHARE + 3, PATH_WIDTH = 2000 };

/* The part of all threads' time that is named where it was spent waiting for a core. */
static const double CORE_WAIT_SHOWN = 0.05;

static const struct scaling_loss *loss_of(const struct scaling *scaling, uint32_t row, uint32_t point)
{
  return &scaling->losses[(size_t)row * scaling->points_count + point];
}

/* ---- text ---- */

/* Prints a number right-aligned, "-" if it is not known. */
static void print_number(const struct report *report, double value, int width, int decimals)
{
  char text[CELL];
  snprintf(text, sizeof text, "%.*f", decimals, value);
  if (isfinite(value) && strlen(text) >= (size_t)width)
    snprintf(text, sizeof text, "%.1e", value);
  bool zero = text[0] == '-' && strspn(text + 1, "0.") == strlen(text + 1);
  fprintf(report->stream, "%*s", width, isfinite(value) ? text + zero : "-");
}

static void print_percent(const struct report *report, double part, int width)
{
  print_number(report, 100 * part, width, 1);
}

static void print_heading(const struct report *report, const struct terminal *terminal)
{
  const struct scaling *scaling = report->scaling;
  char command[TERMINAL_TEXT_MAX];
  terminal_fit(terminal, report->totals->command, terminal->width, command);
  fprintf(report->stream, "%s\n%s scaling, against %" PRIu32 " thread%s%s\n\n", command,
          scaling->weak ? "Weak" : "Strong", scaling->points[0].threads, scaling->points[0].threads == 1 ? "" : "s",
          scaling->points[0].threads == 1 ? "" : ", the smallest number that was measured");
}

static void print_speedups(const struct report *report, const struct terminal *terminal)
{
  const struct scaling *scaling = report->scaling;
  fprintf(report->stream, "%s%57s%18s\n", terminal_bold(terminal), "Serial", "Forecast from");
  fprintf(report->stream, "%7s%6s%11s%8s%9s%8s%8s%11s%9s%s\n", "Threads", "Runs", "Elapsed s", "+-%", "Speedup",
          "Effic.%", "part%", "base", "itself", terminal_plain(terminal));
  for (uint32_t i = 0; i < scaling->points_count; i++) {
    const struct scaling_point *point = &scaling->points[i];
    double half = (point->most_s - point->least_s) / 2 / point->elapsed_s;
    fprintf(report->stream, "%7" PRIu32 "%6" PRIu32, point->threads, point->runs);
    print_number(report, point->elapsed_s, 11, 3);
    print_percent(report, point->runs > 1 ? half : NAN, 8);
    print_number(report, point->speedup, 9, 2);
    print_percent(report, point->efficiency, 8);
    print_percent(report, point->serial_fraction, 8);
    print_number(report, point->forecast_base, 11, 2);
    print_number(report, point->forecast, 9, 2);
    putc('\n', report->stream);
  }
  for (int i = 0; i < SCALING_LATER && scaling->forecast; i++) {
    const struct scaling_later *later = &scaling->later[i];
    double p = (double)later->threads / scaling->points[0].threads;
    fprintf(report->stream, "%7" PRIu32 "%6s", later->threads, "est.");
    print_number(report, later->whole_s / (scaling->weak ? 1 : later->threads), 11, 3);
    print_number(report, NAN, 8, 0);
    print_number(report, later->speedup, 9, 2);
    print_percent(report, later->speedup / p, 8);
    putc('\n', report->stream);
  }
}

/* What of the machine and of the program limits the threads. */
static void print_used(const struct report *report)
{
  const struct scaling *scaling = report->scaling;
  uint32_t last = scaling->points_count - 1;
  if (scaling->cores && scaling->points[last].threads > scaling->cores)
    fprintf(report->stream,
            "Runs with more than %" PRIu32 " thread%s shared %" PRIu32 " core%s: no program gains from that.\n",
            scaling->cores, scaling->cores == 1 ? "" : "s", scaling->cores, scaling->cores == 1 ? "" : "s");
  for (uint32_t i = 0; i < scaling->points_count; i++) {
    const struct scaling_point *point = &scaling->points[i];
    if (point->core_wait > CORE_WAIT_SHOWN)
      fprintf(report->stream, "The machine was busy: %" PRIu32 " thread%s waited %.1f %% of the time for a core.\n",
              point->threads, point->threads == 1 ? "" : "s", 100 * point->core_wait);
    if (point->used_most && (point->used_least != point->threads || point->used_most != point->threads))
      fprintf(report->stream, "With %" PRIu32 " thread%s asked for, at most %" PRIu32 " %s in use at once.\n",
              point->threads, point->threads == 1 ? "" : "s", point->used_most, point->used_most == 1 ? "was" : "were");
  }
  if (!scaling->forecast)
    fputs("There is no forecast: the program does not use more threads where more are\n"
          "asked for.  If it takes their number as an argument, write {N} there.\n",
          report->stream);
}

static void print_factors(const struct report *report, const struct terminal *terminal)
{
  static const char *const names[SCALING_FACTORS] = {"Parallel", "Balance", "Serial", "Locks", "Runtime"};
  const struct scaling *scaling = report->scaling;
  fprintf(report->stream, "%sEfficiencies, in %%%s\n%7s", terminal_bold(terminal), terminal_plain(terminal), "Threads");
  for (int i = 0; i < SCALING_FACTORS; i++)
    fprintf(report->stream, "%10s", names[i]);
  fprintf(report->stream, "%10s%10s\n", "Work", "Global");
  for (uint32_t i = 0; i < scaling->points_count; i++) {
    const struct scaling_point *point = &scaling->points[i];
    fprintf(report->stream, "%7" PRIu32, point->threads);
    for (int factor = 0; factor < SCALING_FACTORS; factor++)
      print_percent(report, point->factors[factor], 10);
    print_percent(report, point->work_scaling, 10);
    print_percent(report, point->factors[0] * point->work_scaling, 10);
    putc('\n', report->stream);
  }
  putc('\n', report->stream);
}

/* A percentage, with one decimal if there is room for it. */
static void print_share(const struct report *report, double share)
{
  char text[CELL];
  snprintf(text, sizeof text, "%.1f", 100 * share);
  print_number(report, 100 * share, SHARE, strlen(text) < SHARE ? 1 : 0);
}

/* The name of a context.  The runtime's own time is that of the context that called it. */
static void context_text(const struct report *report, const struct terminal *terminal, uint32_t number,
                         char path[CALL_PATH_TEXT_MAX])
{
  static const char runtime[] = " > runtime";
  const struct tree_row *row = &report->scaling->tree->rows[number];
  bool is_runtime = row->kind == ROW_RUNTIME && row->parent;
  unsigned room = terminal_room(terminal, CONTEXT_FIGURES + (is_runtime ? sizeof runtime - 1 : 0));
  call_path_text(terminal, report->scaling->tree, is_runtime ? row->parent : number, room, path);
  if (is_runtime && strlen(path) + sizeof runtime <= CALL_PATH_TEXT_MAX)
    strcat(path, runtime);
}

/* One line: what the program or a context loses on the most threads, and its extrapolated losses. */
static void print_loss(const struct report *report, const struct terminal *terminal, uint32_t row)
{
  const struct scaling *scaling = report->scaling;
  uint32_t last = scaling->points_count - 1;
  const struct scaling_loss *loss = loss_of(scaling, row, last);
  double whole_s = scaling->points[last].whole_s;
  char path[CALL_PATH_TEXT_MAX] = "(the program)";
  print_share(report, loss->loss_s / whole_s);
  putc(compare_is_significant(&loss->figure) ? '!' : ' ', report->stream);
  for (int part = 0; part < SCALING_PARTS; part++)
    print_share(report, scaling->timed ? loss->part_s[part] / whole_s : NAN);
  for (int i = 0; i < SCALING_LATER && scaling->forecast; i++)
    print_share(report, scaling_share(scaling, row, i));
  if (row)
    context_text(report, terminal, row, path);
  fprintf(report->stream, "  %s\n", path);
}

/* What of the program's loss no context is charged with. */
static void print_other(const struct report *report)
{
  const struct scaling *scaling = report->scaling;
  uint32_t last = scaling->points_count - 1;
  fprintf(report->stream, "The program's loss also has %.1f %% that is none of Infl, Over, Lock and Idle.\n",
          100 * loss_of(scaling, 0, last)->other_s / scaling->points[last].whole_s);
}

static void print_contexts(const struct report *report, const struct terminal *terminal)
{
  const struct scaling *scaling = report->scaling;
  uint32_t last = scaling->points_count - 1;
  char threads[CELL];
  fprintf(report->stream, "%sLost with %" PRIu32 " threads, in %% of %s%s\n", terminal_bold(terminal),
          scaling->points[last].threads, scaling->weak ? "the elapsed time" : "all threads' time",
          terminal_plain(terminal));
  fprintf(report->stream, "%5s %5s%5s%5s%5s", "Loss", "Infl", "Over", "Lock", "Idle");
  for (int i = 0; i < SCALING_LATER && scaling->forecast; i++) {
    snprintf(threads, sizeof threads, "@%" PRIu32, scaling->later[i].threads);
    fprintf(report->stream, "%5s", threads);
  }
  fputs("  Context\n", report->stream);
  print_loss(report, terminal, 0);
  for (uint32_t i = 0; i < report->rows_limit; i++)
    print_loss(report, terminal, scaling->order[i]);
  if (!scaling->timed) {
    fputs("Contexts are not known: not all runs were sampled by time.\n", report->stream);
    return;
  }
  if (report->left_out)
    fprintf(report->stream, "%" PRIu32 " context%s omitted; --max-rows N shows more.\n", report->left_out,
            report->left_out == 1 ? "" : "s");
  print_other(report);
}

static void print_legend(const struct report *report)
{
  const struct scaling *scaling = report->scaling;
  char line[256], full[4096];
  snprintf(line, sizeof line, "%s%ssee --legend\n",
           scaling->forecast ? "est., @N: loss extrapolated linearly to N threads; " : "",
           scaling->compared ? "! significant; " : "");
  snprintf(full, sizeof full,
           "Speedup: %s\n"
           "Elapsed: the median of the runs; +-: half the distance from the shortest to\n"
           "   the longest run.\n"
           "Serial part: Karp and Flatt's serial fraction; one that grows with the threads\n"
           "   shows overhead or waiting rather than serial code.\n"
           "Forecast: speedup from work and span, see --view speedup: of the runs of the\n"
           "   base, and of the runs with that many threads.\n"
           "Efficiencies: as in --view efficiency; Parallel = 100 %% - the losses of Balance,\n"
           "   Serial, Locks and Runtime; Work: work of the base / work; Global: Parallel x\n"
           "   Work.\n"
           "Loss: %s,\n"
           "   split into work inflation, runtime overhead, lock waiting and idleness that\n"
           "   the context caused.  Contexts stand in the order of their loss @%" PRIu32 ",\n"
           "   or on the most threads that were measured if there is no forecast.\n"
           "est., @N: estimates: each loss grows on the straight line through the two\n"
           "   largest numbers of threads that were measured.  What only begins beyond\n"
           "   them, such as the limit of memory bandwidth, is not in it.\n"
           "!: significant at %g %%, corrected for the %zu losses tested; those of a single run\n"
           "   are tested by its samples, of repeated runs by their variance.\n",
           scaling->weak ? "P / B x elapsed time of the base / elapsed time (weak scaling)."
                         : "elapsed time of the base / elapsed time.",
           scaling->weak ? "elapsed time - that of the base, per thread" : "threads x elapsed time - that of the base",
           scaling->points[scaling->points_count - 1].threads * scaling_later_factors[1], 100 * SIGNIFICANCE_LEVEL,
           scaling->compared);
  legend_print(report, line, full);
}

void scaling_view_text(const struct report *report)
{
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  print_heading(report, &terminal);
  print_speedups(report, &terminal);
  print_used(report);
  putc('\n', report->stream);
  fprintf(report->stream, "%sSpeedup%s: * measured%s\n", terminal_bold(&terminal), terminal_plain(&terminal),
          report->scaling->forecast ? ", + estimated, forecast from the base b, from itself o" : "");
  scaling_plot(report);
  putc('\n', report->stream);
  print_factors(report, &terminal);
  print_contexts(report, &terminal);
  print_legend(report);
  legend_filtered(report);
}

/* ---- CSV and JSON ---- */

static void real_cell(struct row_writer *writer, double value, int decimals)
{
  if (isfinite(value))
    row_writer_real(writer, value, decimals);
  else
    row_writer_empty(writer);
}

static void empty_cells(struct row_writer *writer, unsigned count)
{
  for (unsigned i = 0; i < count; i++)
    row_writer_empty(writer);
}

/* The columns from name to context; those of the program are empty. */
static void context_cells(const struct report *report, struct row_writer *writer, uint32_t number)
{
  const struct tree_row *row = &report->scaling->tree->rows[number];
  const struct terminal wide = {.width = PATH_WIDTH, .utf8 = true, .raw = true};
  char path[CALL_PATH_TEXT_MAX];
  if (!number) {
    empty_cells(writer, 4);
    return;
  }
  call_path_text(&wide, report->scaling->tree, number, PATH_WIDTH, path);
  row_writer_text(writer, row->name);
  row_writer_text(writer, row->file);
  row_writer_optional(writer, row->line > 0, row->line);
  row_writer_text(writer, path);
}

/* The columns from time_s on. */
static void loss_cells(const struct report *report, struct row_writer *writer, uint32_t row, uint32_t point)
{
  const struct scaling *scaling = report->scaling;
  const struct scaling_loss *loss = loss_of(scaling, row, point);
  row_writer_real(writer, loss->whole_s, 9);
  row_writer_real(writer, loss->loss_s, 9);
  for (int part = 0; part < SCALING_PARTS; part++)
    real_cell(writer, scaling->timed ? loss->part_s[part] : NAN, 9);
  row_writer_real(writer, loss->other_s, 9);
  real_cell(writer, 100 * loss->loss_s / scaling->points[point].whole_s, 4);
  real_cell(writer, loss->figure.probability, 6);
}

static void run_row(const struct report *report, struct row_writer *writer, uint32_t number)
{
  const struct scaling_point *point = &report->scaling->points[number];
  row_writer_text(writer, "run");
  row_writer_uint(writer, point->threads);
  row_writer_optional(writer, point->used_most, point->used_most);
  row_writer_uint(writer, point->runs);
  row_writer_real(writer, point->elapsed_s, 9);
  row_writer_real(writer, point->least_s, 9);
  row_writer_real(writer, point->most_s, 9);
  real_cell(writer, point->speedup, 4);
  real_cell(writer, point->efficiency, 4);
  real_cell(writer, point->serial_fraction, 6);
  real_cell(writer, point->forecast_base, 4);
  real_cell(writer, point->forecast, 4);
  for (int i = 0; i < SCALING_FACTORS; i++)
    real_cell(writer, point->factors[i], 6);
  real_cell(writer, point->work_scaling, 6);
  context_cells(report, writer, 0);
  loss_cells(report, writer, 0, number);
}

static void context_row(const struct report *report, struct row_writer *writer, uint32_t row, uint32_t point)
{
  row_writer_text(writer, "context");
  row_writer_uint(writer, report->scaling->points[point].threads);
  empty_cells(writer, 16);
  context_cells(report, writer, row);
  loss_cells(report, writer, row, point);
}

static void estimate_row(const struct report *report, struct row_writer *writer, uint32_t row, int number)
{
  const struct scaling *scaling = report->scaling;
  const struct scaling_later *later = &scaling->later[number];
  row_writer_text(writer, "estimate");
  row_writer_uint(writer, later->threads);
  empty_cells(writer, 2);
  real_cell(writer, row ? NAN : later->whole_s / (scaling->weak ? 1 : later->threads), 9);
  empty_cells(writer, 2);
  real_cell(writer, row ? NAN : later->speedup, 4);
  real_cell(writer, row ? NAN : later->speedup * scaling->points[0].threads / later->threads, 4);
  empty_cells(writer, 9);
  context_cells(report, writer, row);
  real_cell(writer, row ? NAN : later->whole_s, 9);
  row_writer_real(writer, scaling->later_s[(size_t)row * SCALING_LATER + (size_t)number], 9);
  empty_cells(writer, 5);
  real_cell(writer, 100 * scaling_share(scaling, row, number), 4);
  row_writer_empty(writer);
}

int scaling_view_table(const struct report *report, bool json)
{
  static const char *const columns[] = {"kind",
                                        "threads",
                                        "threads_used",
                                        "runs",
                                        "elapsed_s",
                                        "elapsed_least_s",
                                        "elapsed_most_s",
                                        "speedup",
                                        "efficiency",
                                        "serial_fraction",
                                        "forecast_base",
                                        "forecast",
                                        "parallel_efficiency",
                                        "load_balance",
                                        "serialisation",
                                        "lock_waiting",
                                        "runtime_overhead",
                                        "work_scaling",
                                        "name",
                                        "file",
                                        "line",
                                        "context",
                                        "time_s",
                                        "loss_s",
                                        "inflation_s",
                                        "overhead_s",
                                        "lockwait_s",
                                        "idleness_s",
                                        "other_s",
                                        "loss_pct",
                                        "significance"};
  const struct scaling *scaling = report->scaling;
  struct row_writer writer;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, columns, sizeof columns / sizeof *columns);
  for (uint32_t point = 0; point < scaling->points_count; point++)
    run_row(report, &writer, point);
  for (int later = 0; later < SCALING_LATER && scaling->forecast; later++)
    estimate_row(report, &writer, 0, later);
  for (uint32_t i = 0; i < report->rows_limit; i++) {
    for (uint32_t point = 0; point < scaling->points_count; point++)
      context_row(report, &writer, scaling->order[i], point);
    for (int later = 0; later < SCALING_LATER && scaling->forecast; later++)
      estimate_row(report, &writer, scaling->order[i], later);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}
