/* The report of --scaling: speedups, efficiencies, a plot, and the contexts that lose most.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/report/call_path.h"
#include "hpcprof-lite/report/comparison/scaling_plot.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/missing_cores.h"
#include "hpcprof-lite/report/terminal.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELL = 24, SHARE = 5, CONTEXT_FIGURES = 1 + (1 + SCALING_PARTS + SCALING_LATER) * SHARE + 3, PATH_WIDTH = 2000 };

/* ---- text ---- */

/* Prints a number right-aligned, "-" if it is not known. */
static void print_number(const struct report *report, double value, int width, int decimals)
{
  assert(width > 0 && width < CELL);
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
          scaling->weak ? "Weak" : "Strong", scaling->points[0].threads, terminal_plural(scaling->points[0].threads),
          scaling->points[0].threads == 1 ? "" : ", the smallest number that was measured");
}

/* Prints which runs are unreliable, and why. */
static void print_missing_cores(const struct report *report, const struct terminal *terminal)
{
  const struct scaling *scaling = report->scaling;
  char indent[2 * CELL];
  bool any = false;
  fputs(terminal_bold(terminal), report->stream);
  for (uint32_t i = 0; i < scaling->points_count; i++) {
    const struct scaling_point *point = &scaling->points[i];
    snprintf(indent, sizeof indent, "%" PRIu32 " thread%s: ", point->threads, terminal_plural(point->threads));
    struct totals_missing_cores missing = {point->without_core, point->stolen};
    any = missing_cores_print_of(report->stream, terminal, &missing, indent, "") || any;
  }
  fprintf(report->stream, "%s%s", terminal_plain(terminal), any ? "\n" : "");
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

/* Prints how the machine and the program limit the threads. */
static void print_used(const struct report *report)
{
  const struct scaling *scaling = report->scaling;
  uint32_t last = scaling->points_count - 1;
  if (scaling->cores && scaling->points[last].threads > scaling->cores)
    fprintf(report->stream,
            "Runs with more than %" PRIu32 " thread%s shared %" PRIu32 " core%s: no program gains from that.\n",
            scaling->cores, terminal_plural(scaling->cores), scaling->cores, terminal_plural(scaling->cores));
  for (uint32_t i = 0; i < scaling->points_count; i++) {
    const struct scaling_point *point = &scaling->points[i];
    if (point->used_most && (point->used_least != point->threads || point->used_most != point->threads))
      fprintf(report->stream, "With %" PRIu32 " thread%s asked for, at most %" PRIu32 " %s in use at once.\n",
              point->threads, terminal_plural(point->threads), point->used_most,
              point->used_most == 1 ? "was" : "were");
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
  assert(number < report->scaling->rows);
  static const char runtime[] = " > runtime";
  const struct tree_row *row = &report->scaling->tree->rows[number];
  bool is_runtime = row->kind == ROW_RUNTIME && row->parent;
  unsigned room = terminal_room(terminal, CONTEXT_FIGURES + (is_runtime ? sizeof runtime - 1 : 0));
  call_path_text(terminal, report->scaling->tree, is_runtime ? row->parent : number, room, path);
  if (is_runtime && strlen(path) + sizeof runtime <= CALL_PATH_TEXT_MAX)
    strcat(path, runtime);
}

/* One line: what the program or a context loses on the most threads, and its extrapolated lost time. */
static void print_lost(const struct report *report, const struct terminal *terminal, uint32_t row)
{
  assert(row < report->scaling->rows);
  const struct scaling *scaling = report->scaling;
  uint32_t last = scaling->points_count - 1;
  const struct scaling_lost *lost = scaling_lost_of(scaling, row, last);
  double whole_s = scaling->points[last].whole_s;
  char path[CALL_PATH_TEXT_MAX] = "(the program)";
  print_share(report, lost->lost_s / whole_s);
  putc(compare_is_significant(&lost->figure) ? '!' : ' ', report->stream);
  for (int part = 0; part < SCALING_PARTS; part++)
    print_share(report, scaling->timed ? lost->part_s[part] / whole_s : NAN);
  for (int i = 0; i < SCALING_LATER && scaling->forecast; i++)
    print_share(report, scaling_share(scaling, row, i));
  if (row)
    context_text(report, terminal, row, path);
  fprintf(report->stream, "  %s\n", path);
}

/* Prints the part of the program's loss that no context is charged with. */
static void print_other(const struct report *report)
{
  const struct scaling *scaling = report->scaling;
  uint32_t last = scaling->points_count - 1;
  fprintf(report->stream, "The program's loss also has %.1f %% that is none of Infl, Over, Lock and Idle.\n",
          100 * scaling_lost_of(scaling, 0, last)->other_s / scaling->points[last].whole_s);
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
  print_lost(report, terminal, 0);
  for (uint32_t i = 0; i < report->limits.rows; i++)
    print_lost(report, terminal, scaling->order[i]);
  if (!scaling->timed) {
    fputs("Contexts are not known: not all runs were sampled by time.\n", report->stream);
    return;
  }
  if (report->limits.left_out)
    fprintf(report->stream, "%" PRIu32 " context%s omitted; --max-rows N shows more.\n", report->limits.left_out,
            terminal_plural(report->limits.left_out));
  print_other(report);
}

static void print_legend(const struct report *report)
{
  const struct scaling *scaling = report->scaling;
  const char *speedup = "elapsed time of the base / elapsed time.";
  const char *lost = "threads x elapsed time - that of the base";
  char line[256], full[4096];
  if (scaling->weak) {
    speedup = "P / B x elapsed time of the base / elapsed time (weak scaling).";
    lost = "elapsed time - that of the base, per thread";
  }
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
           speedup, lost, scaling->points[scaling->points_count - 1].threads * scaling_later_factors[1],
           100 * SIGNIFICANCE_LEVEL, scaling->compared);
  legend_print(report, line, full);
}

void scaling_view_text(const struct report *report)
{
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  print_heading(report, &terminal);
  print_missing_cores(report, &terminal);
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

/* ---- the table ---- */

/* What a row is about: all runs with a number of threads, what a context loses in them, or an estimate of either for
 * more threads.  Figures that it does not have are NAN, or 0 if they are whole numbers. */
struct scaling_row {
  const char *kind;
  uint32_t context; /* 0: the program */
  struct scaling_point point;
  struct scaling_lost lost;
  double lost_pct;
};

/* What fills the rows: the report, and room for the call path of a context. */
struct filler {
  const struct report *report;
  char path[CALL_PATH_TEXT_MAX];
};

/* Empty unless it is finite. */
static struct cell finite_cell(double value, uint8_t decimals)
{
  return cell_optional_real(isfinite(value), value, decimals);
}

static void fill(const void *to, const void *which, struct cell *cell)
{
  static const struct tree_row program = {.name = "", .file = ""};
  const struct terminal wide = {.width = PATH_WIDTH, .utf8 = true, .raw = true};
  struct filler *filler = (struct filler *)to;
  const struct tree *tree = filler->report->scaling->tree;
  const struct scaling_row *row = which;
  const struct tree_row *context = row->context ? &tree->rows[row->context] : &program;
  *filler->path = 0;
  if (row->context)
    call_path_text(&wide, tree, row->context, PATH_WIDTH, filler->path);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/comparison/scaling.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/comparison/scaling.def"
};
#undef COLUMN
static const struct schema scaling_schema = SCHEMA(columns, fill);

static struct scaling_row row_without_figures(const char *kind, uint32_t context, uint32_t threads)
{
  struct scaling_row row = {.kind = kind,
                            .context = context,
                            .point = {.threads = threads,
                                      .elapsed_s = NAN,
                                      .least_s = NAN,
                                      .most_s = NAN,
                                      .speedup = NAN,
                                      .efficiency = NAN,
                                      .serial_fraction = NAN,
                                      .forecast_base = NAN,
                                      .forecast = NAN,
                                      .work_scaling = NAN},
                            .lost = {.other_s = NAN, .whole_s = NAN, .figure.probability = NAN}};
  for (int factor = 0; factor < SCALING_FACTORS; factor++)
    row.point.factors[factor] = NAN;
  for (int part = 0; part < SCALING_PARTS; part++)
    row.lost.part_s[part] = NAN;
  return row;
}

/* The row of the program, or of a context, on a number of threads that was measured. */
static struct scaling_row measured_row(const struct scaling *scaling, uint32_t context, uint32_t number)
{
  assert(context < scaling->rows && number < scaling->points_count);
  const struct scaling_point *point = &scaling->points[number];
  struct scaling_row row = row_without_figures(context ? "context" : "run", context, point->threads);
  if (!context)
    row.point = *point;
  row.lost = *scaling_lost_of(scaling, context, number);
  row.lost_pct = 100 * row.lost.lost_s / point->whole_s;
  for (int part = 0; part < SCALING_PARTS && !scaling->timed; part++)
    row.lost.part_s[part] = NAN;
  return row;
}

static struct scaling_row estimated_row(const struct scaling *scaling, uint32_t context, int number)
{
  assert(context < scaling->rows && number < SCALING_LATER);
  const struct scaling_later *later = &scaling->later[number];
  struct scaling_row row = row_without_figures("estimate", context, later->threads);
  if (!context) {
    row.point.elapsed_s = later->whole_s / (scaling->weak ? 1 : later->threads);
    row.point.speedup = later->speedup;
    row.point.efficiency = later->speedup * scaling->points[0].threads / later->threads;
    row.lost.whole_s = later->whole_s;
  }
  row.lost.lost_s = scaling->later_s[(size_t)context * SCALING_LATER + (size_t)number];
  row.lost_pct = 100 * scaling_share(scaling, context, number);
  return row;
}

/* Gives the rows of the program or of a context: those of each number of threads, then its estimates. */
static int each_of_context(const struct scaling *scaling, uint32_t context, table_take *take, void *to)
{
  int status = 0;
  for (uint32_t point = 0; point < scaling->points_count && !status; point++) {
    const struct scaling_row row = measured_row(scaling, context, point);
    status = take(to, &row);
  }
  for (int later = 0; later < SCALING_LATER && scaling->forecast && !status; later++) {
    const struct scaling_row row = estimated_row(scaling, context, later);
    status = take(to, &row);
  }
  return status;
}

static int each_row(const void *source, table_take *take, void *to)
{
  const struct report *report = source;
  int status = each_of_context(report->scaling, 0, take, to);
  for (uint32_t i = 0; i < report->limits.rows && !status; i++)
    status = each_of_context(report->scaling, report->scaling->order[i], take, to);
  return status;
}

void scaling_view_table(const struct report *report, struct table *table)
{
  struct filler *filler = table_memory(table, sizeof *filler);
  table->each = each_row;
  table->source = report;
  filler->report = report;
  table_add(table, &scaling_schema, filler);
}
