#include "hpcprof-lite/report/timeline/phases_view.h"

#include "hpcprof-lite/report/views.h"
#include "hpcprof-lite/report/call_path.h"
#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/timeline/phase_names.h"
#include "hpcprof-lite/report/timeline/user_phases.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* NAME_AT: column of the name.  BELOW_AT: of one that needs a line of its own.  HEADING: columns beside the command.
 * LEAST_SHOWN: steps with less of their phase are left out of the text.  CONSPICUOUS: so many times the mean. */
enum { NAME_AT = 49, BELOW_AT = 13, HEADING = 58, LEAST_SHOWN = 200, CONSPICUOUS = 2 };

/* ---- the table ---- */

/* What fills the rows: the report, and room for the call path of one. */
struct filler {
  const struct report *report;
  char path[CALL_PATH_TEXT_MAX];
};

/* Returns the call path of a row, NULL if it has none. */
static const char *path_of(struct filler *filler, const struct phase_row *row)
{
  enum { WIDTH = 1024 };
  const struct terminal plain = {.width = CALL_PATH_TEXT_MAX, .utf8 = true, .raw = true};
  const struct tree *tree = filler->report->tree;
  if (row->context >= tree->count)
    return NULL;
  *filler->path = 0;
  call_path_text(&plain, tree, row->context, WIDTH, filler->path);
  return filler->path;
}

static const uint64_t none[TIMELINE_CATEGORIES];

static void fill(const void *context, const void *which, struct cell *cell)
{
  struct filler *filler = (struct filler *)context;
  const struct phase_row *row = which;
  const struct profile_process *process = row->process;
  const struct tree *tree = filler->report->tree;
  const struct phases_spread *spread = row->spread;
  const uint64_t *ns = row->ns ? row->ns : none;
  const char *path = path_of(filler, row);
  bool found = row->phase && spread->whole;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/timeline/phases.def"
#undef COLUMN
}

static void fill_mpi(const void *context, const void *which, struct cell *cell)
{
  const struct phase_row *row = which;
  const uint64_t *ns = row->ns ? row->ns : none;
  bool timed = row->ns;
  (void)context;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/timeline/timeline_mpi.def"
#undef COLUMN
}

static void fill_device(const void *context, const void *which, struct cell *cell)
{
  const struct phase_row *row = which;
  const uint64_t *ns = row->ns ? row->ns : none;
  bool timed = row->ns;
  (void)context;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/timeline/timeline_device.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/timeline/phases.def"
};
static const struct table_column columns_mpi[] = {
#include "hpcprof-lite/report/timeline/timeline_mpi.def"
};
static const struct table_column columns_device[] = {
#include "hpcprof-lite/report/timeline/timeline_device.def"
};
#undef COLUMN
static const struct schema phases_schema = SCHEMA(columns, fill);
static const struct schema mpi_schema = SCHEMA(columns_mpi, fill_mpi);
static const struct schema device_schema = SCHEMA(columns_device, fill_device);

/* What the figures of a phase, or of its steps, are about. */
static const char *figures_of(const struct phases_phase *phase, bool step)
{
  if (phase->coverage == PHASES_LENGTH)
    return step ? "whole phase" : "part; repetitions and context: whole phase";
  return phase->coverage == PHASES_PART ? "part" : "whole phase";
}

/* Sets what rows of phases and of steps have. */
static void set_figures(const struct report *report, const struct phases *phases, const struct phases_spread *spread,
                        const struct phases_figures *figures, uint64_t time_ns, struct phase_row *row)
{
  row->process = &report->profile->processes[phases->process];
  row->spread = spread;
  row->ns = figures->ns;
  row->context = figures->context;
  if (phases->threads)
    row->efficiency = cell_real(phases_efficiency(phases, figures, time_ns), 4);
}

static const char *step_kind(const struct phases_phase *phase, const struct phases_step *step)
{
  if (phase->kind == PHASES_GAP)
    return phase_kind_name(PHASES_GAP);
  return phase_kind_name(step->construct == MODEL_NONE ? PHASES_SERIAL : PHASES_REGION);
}

static int each_step(const struct report *report, const struct phases *phases, uint32_t number, table_take *take,
                     void *to)
{
  assert(number < phases->count);
  const struct phases_phase *phase = &phases->phases[number];
  uint32_t shown = 0;
  int status = 0;
  for (uint32_t i = 1; i <= phase->steps && !status; i++) { /* serial time that is not a step of its own comes last */
    uint32_t position = phase->first_step + i % phase->steps;
    const struct phases_step *step = &phases->steps[position];
    char name[PHASE_NAME_MAX];
    if (!phase_step_shown(phases, position))
      continue;
    phase_step_name(report, phases, phase, position, false, name);
    struct phase_row row = {.phase = number + 1,
                            .step = ++shown,
                            .kind = step_kind(phase, step),
                            .name = name,
                            .figures_of = figures_of(phase, true)};
    set_figures(report, phases, &step->spread, &step->figures, step->spread.total_ns, &row);
    status = take(to, &row);
  }
  return status;
}

static int each_phase(const struct report *report, const struct phases *phases, table_take *take, void *to)
{
  int status = 0;
  for (uint32_t i = phases->first; i < phases->end && !status; i++) {
    const struct phases_phase *phase = &phases->phases[i];
    char name[PHASE_NAME_MAX];
    phase_name(report, phases, phase, name);
    struct phase_row row = {.phase = i + 1,
                            .kind = phase_kind_name(phase->kind),
                            .name = name,
                            .figures_of = figures_of(phase, false),
                            .start_ns = phase->start_ns,
                            .end_ns = phase->end_ns};
    set_figures(report, phases, &phase->spread, &phase->figures, phase->end_ns - phase->start_ns, &row);
    status = take(to, &row);
    if (!status)
      status = each_step(report, phases, i, take, to);
  }
  return status;
}

static int each_row(const void *source, table_take *take, void *to)
{
  const struct report *report = source;
  int status = user_phases_each(report, take, to);
  for (uint32_t i = 0; i < report->time.phases_count && !status; i++)
    status = each_phase(report, &report->time.phases[i], take, to);
  return status;
}

void phases_view_table(const struct report *report, struct table *table)
{
  struct filler *filler = table_memory(table, sizeof *filler);
  table->each = each_row;
  table->source = report;
  filler->report = report;
  table_add(table, &phases_schema, filler);
  if (report->mpi)
    table_add(table, &mpi_schema, report);
  if (report->awaits)
    table_add(table, &device_schema, report);
}

/* ---- text ---- */

/* Whether a row is code of the program itself, or stands for such code: its executable, and other modules with source
 * lines. The system's libraries have none, or may have them. */
static bool is_own(const struct report *report, const struct tree_row *row)
{
  const struct catalog *catalog = &report->profile->catalog;
  const struct catalog_module *module = row->module < catalog->modules_count ? &catalog->modules[row->module] : NULL;
  if (row->kind != ROW_FUNCTION && row->kind != ROW_INLINED)
    return row->kind != ROW_PARTIAL;
  return module && (module->flags & MODULE_MAIN ||
                    (*row->file && strncmp(module->path, "/lib", 4) != 0 && strncmp(module->path, "/usr/lib", 8) != 0));
}

/* The function that the program calls, of a context in libraries. */
static uint32_t called_by_program(const struct report *report, uint32_t context)
{
  const struct tree_row *rows = report->tree->rows;
  uint32_t below = context;
  for (uint32_t row = context; row; below = row, row = rows[row].parent)
    if (is_own(report, &rows[row]))
      return below;
  return context;
}

static void print_context(const struct report *report, const struct terminal *terminal, uint32_t context)
{
  char path[CALL_PATH_TEXT_MAX] = "";
  if (context < report->tree->count)
    call_path_text(terminal, report->tree, called_by_program(report, context), terminal_room(terminal, 10), path);
  if (*path)
    fprintf(report->stream, "       %sin %s%s\n", terminal_dim(terminal), path, terminal_plain(terminal));
}

/* Digits that tell the starts of phases apart, in 7 columns where that is possible. */
static int start_decimals(const struct phases *phases)
{
  assert(phases->first < phases->end);
  uint64_t end_ns = phases->phases[phases->end - 1].end_ns;
  uint64_t length_ns = end_ns - phases->phases[phases->first].start_ns;
  if (length_ns < 10000000)
    return 6;
  if (length_ns < 1000000000)
    return 4;
  return end_ns < UINT64_C(1000000000000) ? 3 : 1;
}

/* Writes the title of a phase: its name, or how often it repeats. */
static void phase_title(const struct phases_phase *phase, const char *name, char *out, size_t size)
{
  static const char *const before[] = {[PHASES_WHOLE] = "", [PHASES_PART] = "part: ", [PHASES_LENGTH] = "part of: "};
  uint64_t count = phase->spread.count;
  if (phase->kind != PHASES_PATTERN)
    snprintf(out, size, "%s%s", before[phase->coverage], name);
  else if (count)
    snprintf(out, size, "%s%" PRIu64 " repetition%s", before[phase->coverage], count, terminal_plural(count));
  else
    snprintf(out, size, "part of a repetition");
}

static void print_phase(const struct report *report, const struct terminal *terminal, const struct phases *phases,
                        uint32_t number)
{
  assert(number < phases->count && phases->first <= number);
  const struct phases_phase *phase = &phases->phases[number];
  uint64_t time_ns = phase->end_ns - phase->start_ns;
  char name[PHASE_NAME_MAX], fitting[TERMINAL_TEXT_MAX], text[2 * PHASE_NAME_MAX], time[16];
  terminal_short_time(time_ns, time);
  fprintf(report->stream, "%s%3" PRIu32 " %7.*f %7s", terminal_bold(terminal), number + 1, start_decimals(phases),
          (double)phase->start_ns / 1e9, time);
  category_shares(report->stream, phase->figures.ns, time_ns * phases->threads);
  phase_name(report, phases, phase, name);
  phase_title(phase, name, text, sizeof text);
  terminal_fit(terminal, text, terminal_room(terminal, NAME_AT + 2), fitting);
  fprintf(report->stream, "  %s%s\n", fitting, terminal_plain(terminal));
  if (phase->coverage == PHASES_LENGTH)
    fputs("       figures below: of the whole phase\n", report->stream);
  if (phase->kind == PHASES_PATTERN)
    terminal_wrapf(terminal, report->stream, "       ", "         ", "of %s", name);
  if (phase->kind == PHASES_PATTERN && (phase->spread.whole || phase->coverage == PHASES_WHOLE)) {
    phase_spread_text(&phase->spread, text);
    terminal_wrap(terminal, report->stream, "       ", "         ", text);
  }
  print_context(report, terminal, phase->figures.context);
}

/* Whether a step of the phase in another construct has the same name, if it is brief. */
static bool has_namesake(const struct report *report, const struct phases *phases, const struct phases_phase *phase,
                         uint32_t number, const char *name)
{
  char other[PHASE_NAME_MAX];
  for (uint32_t step = phase->first_step; step < phase->first_step + phase->steps; step++) {
    if (!phase_step_shown(phases, step) || phases->steps[step].construct == phases->steps[number].construct)
      continue;
    phase_step_name(report, phases, phase, step, true, other);
    if (!strcmp(name, other))
      return true;
  }
  return false;
}

/* A step's name, with its function only where steps would read alike, and how long the slowest execution took if it is
 * conspicuous; what has no room stands in a line below. */
static void print_step_name(const struct report *report, const struct terminal *terminal, const struct phases *phases,
                            const struct phases_phase *phase, uint32_t number)
{
  assert(number < phases->steps_count);
  const struct phases_spread *spread = &phases->steps[number].spread;
  unsigned room = terminal_room(terminal, NAME_AT + 4), used;
  char brief[PHASE_NAME_MAX], name[PHASE_NAME_MAX], fitting[TERMINAL_TEXT_MAX], slowest[32] = "", time[16];
  phase_step_name(report, phases, phase, number, true, brief);
  phase_step_name(report, phases, phase, number, !has_namesake(report, phases, phase, number, brief), name);
  bool whole = strlen(name) <= room;
  used = terminal_fit(terminal, whole ? name : brief, room, fitting);
  fprintf(report->stream, "    %s", fitting);
  if (spread->whole >= PHASES_LEAST && (double)spread->slowest_ns > CONSPICUOUS * spread->mean_ns) {
    terminal_short_time(spread->slowest_ns, time);
    snprintf(slowest, sizeof slowest, "up to %s", time + strspn(time, " "));
  }
  if (*slowest && used + 2 + strlen(slowest) <= room) {
    fprintf(report->stream, ", %s", slowest);
    *slowest = '\0';
  }
  putc('\n', report->stream);
  if (whole && !*slowest)
    return;
  terminal_fit(terminal, name, terminal_room(terminal, BELOW_AT + (unsigned)strlen(slowest) + 2), fitting);
  fprintf(report->stream, "%*s%s%s%s\n", BELOW_AT, "", whole ? "" : fitting, !whole && *slowest ? ", " : "", slowest);
}

/* How long the steps took.  With the extent LENGTH, steps are those of the whole phase. */
static uint64_t steps_ns(const struct phases *phases, const struct phases_phase *phase)
{
  uint64_t ns = 0;
  if (phase->coverage != PHASES_LENGTH)
    return phase->end_ns - phase->start_ns;
  for (uint32_t i = 0; i < phase->steps; i++)
    if (phase_step_shown(phases, phase->first_step + i))
      model_add(&ns, phases->steps[phase->first_step + i].spread.total_ns);
  return ns;
}

static bool is_shown(const struct phases *phases, uint64_t whole_ns, uint32_t step)
{
  return phase_step_shown(phases, step) && phases->steps[step].spread.total_ns >= whole_ns / LEAST_SHOWN;
}

static void print_steps(const struct report *report, const struct terminal *terminal, const struct phases *phases,
                        const struct phases_phase *phase)
{
  uint64_t whole_ns = steps_ns(phases, phase);
  uint32_t count = 0;
  for (uint32_t i = 0; i < phase->steps; i++)
    count += is_shown(phases, whole_ns, phase->first_step + i);
  for (uint32_t i = 1; i <= phase->steps && count > 1; i++) {
    uint32_t position = phase->first_step + i % phase->steps;
    const struct phases_step *step = &phases->steps[position];
    if (!is_shown(phases, whole_ns, position))
      continue;
    char times[16], time[16];
    terminal_short_count(step->spread.count, times);
    terminal_short_time(step->spread.total_ns, time);
    fprintf(report->stream, "    %6sx %7s", times, time);
    category_shares(report->stream, step->figures.ns, step->spread.total_ns * phases->threads);
    print_step_name(report, terminal, phases, phase, position);
  }
}

static void print_process(const struct report *report, const struct terminal *terminal, const struct phases *phases)
{
  const struct profile_process *process = &report->profile->processes[phases->process];
  char command[TERMINAL_TEXT_MAX];
  if (report->profile->processes_usable > 1) {
    if (process->rank >= 0)
      fprintf(report->stream, "Rank %" PRId32 ", ", process->rank);
    terminal_fit(terminal, process->command, terminal_room(terminal, HEADING), command);
    fprintf(report->stream, "%srocess %" PRIu32 " (%s): ", process->rank >= 0 ? "p" : "P", process->pid, command);
  }
  if (phases->end - phases->first < phases->count)
    fprintf(report->stream, "%" PRIu32 " of ", phases->end - phases->first);
  fprintf(report->stream, "%" PRIu32 " phase%s, %" PRIu32 " thread%s\n", phases->count, terminal_plural(phases->count),
          phases->threads, terminal_plural(phases->threads));
}

void phases_view_list(const struct report *report, const struct terminal *terminal, bool with_steps)
{
  for (uint32_t i = 0; i < report->time.phases_count; i++) {
    const struct phases *phases = &report->time.phases[i];
    print_process(report, terminal, phases);
    category_heading(terminal, report->stream, " No   Start    Time Work% Ovhd% Lock% Idle% Rest%  Phase");
    for (uint32_t j = phases->first; j < phases->end; j++) {
      print_phase(report, terminal, phases, j);
      if (with_steps)
        print_steps(report, terminal, phases, &phases->phases[j]);
    }
  }
}

void phases_view_text(const struct report *report)
{
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  user_phases_text(report, &terminal);
  phases_view_list(report, &terminal, true);
  phases_view_legend(report);
}

void phases_view_legend(const struct report *report)
{
  legend_print(report, "Start in s; columns in percent of all threads' time; see --legend\n",
               "Phases of the program: named by hpcrun_lite_phase(); Times: how often, Mean:\n"
               "how long on average; the percentages need a trace (hpcrun-lite -t).\n"
               "Start: in s.  Work%, Ovhd%, Lock%, Idle%: work, overhead, lock wait and\n"
               "idleness, in percent of all threads' time in the phase; Work% is its parallel\n"
               "efficiency.  Rest%: all other times: blocked, in MPI, waiting for a device, for\n"
               "a core, or for a thread without one, in the tool, not recorded.\n"
               "The sum is less than 100 while threads have not started, or have ended.\n"
               "Of threads that are neither the first one nor OpenMP's, those count that\n"
               "worked at least 1 % of their life.\n"
               "A pattern is a sequence of outermost regions and serial parts that repeats at\n"
               "least three times.  +-: standard deviation of its repetitions.  Those that\n"
               "are cut by the ends of the part, or by time that was not recorded, do not\n"
               "count for mean, deviation and slowest.  Below a phase: the context with the\n"
               "most work, overhead and waiting of other threads charged to it, as far as the\n"
               "function that the program calls; then its steps with how often they were\n"
               "executed and their time altogether (steps below 0.5 % of it are left out), and\n"
               "the longest execution if it took more than twice the mean.  \"part:\" is a\n"
               "phase that --from or --to cut; what was cut counts where it began.  \"part of:\"\n"
               "is another one: only its line is about the part, all below it about the whole\n"
               "phase.\n");
}
