/* Grains: single ones as a table, groups of them as a table and as text.
 *
 * Context: BATCH.  The rows of single grains come while the grains are read.
 */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/constructs/count_columns.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/notes.h"
#include "hpcprof-lite/report/text_table.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- single grains ---- */

enum { PATH_MAX_BYTES = 4200, CONSTRUCT_KIND_MAX = 128 };

/* What the cells of a grain are filled from; the texts are those of the row that was filled last. */
struct grain_filling {
  const struct report *report;
  char *path, *problems;
};

static struct cell amount_cell(bool time, uint64_t amount)
{
  return amount == GRAIN_UNKNOWN ? cell_empty() : cell_amount(amount, time);
}

static struct cell iteration_cell(uint64_t iteration)
{
  return iteration == GRAIN_UNKNOWN ? cell_empty() : cell_signed((int64_t)iteration);
}

static struct cell metric_cell(double value)
{
  if (isnan(value))
    return cell_empty();
  if (value == floor(value) && value < 0x1p53)
    return cell_count((uint64_t)value);
  if (value < 1e12) /* printf() would take most of the time */
    return (struct cell){.kind = CELL_NUMBER, .decimals = 4, .whole = (uint64_t)(value * 1e4 + 0.5)};
  return cell_real(value, 4);
}

static void fill_grain(const void *context, const void *of, struct cell *cell)
{
  const struct grain_filling *filling = context;
  const struct grain_row *row = of;
  const struct grain *grain = row->grain;
  const struct workspan_row *construct = &filling->report->spans.workspan.rows[row->directive];
  const char *path = grain->path;
  bool time = filling->report->profile->workspan.is_time;
  if (*row->prefix) {
    snprintf(filling->path, PATH_MAX_BYTES, "%s%s", row->prefix, path);
    path = filling->path;
  }
  grain_problem_names(row->problems, filling->problems);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/constructs/grains_view.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column grain_columns[] = {
#include "hpcprof-lite/report/constructs/grains_view.def"
};
#undef COLUMN
static const struct schema grains_schema = SCHEMA(grain_columns, fill_grain);

static int each_grain(const void *source, table_take *take, void *to)
{
  const struct report *report = source;
  if (!report->grains.rows.each)
    return 0;
  return report->grains.rows.each(report->grains.rows.context, take, to);
}

void grains_table(const struct report *report, struct table *table)
{
  struct grain_filling *filling = table_memory(table, sizeof *filling);
  char *path = table_memory(table, PATH_MAX_BYTES), *problems = table_memory(table, GRAIN_PROBLEM_NAMES);
  *filling = (struct grain_filling){report, path, problems};
  table->each = each_grain;
  table->source = report;
  table_add(table, &grains_schema, filling);
  count_columns_add(table, report->profile, COUNTED_GRAINS);
}

/* ---- groups ---- */

static void fill_group(const void *context, const void *row, struct cell *cell)
{
  const struct report *report = context;
  const struct grain_group *group = row;
  const struct workspan_row *construct = &report->spans.workspan.rows[group->directive];
  const struct workspan_row *creator = &report->spans.workspan.rows[group->creator];
  bool time = report->profile->workspan.is_time;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/constructs/grain_groups.def"
#undef COLUMN
}

/* "chunk of for", or "the program" */
static struct construct_place place_of(const struct report *report, uint32_t directive, const char *before,
                                       char kind[CONSTRUCT_KIND_MAX])
{
  assert(directive < report->profile->workspan.directives_count);
  const struct workspan_row *row = &report->spans.workspan.rows[directive];
  const char *what = "the program", *name = "";
  if (row->directive) {
    what = row->kind;
    name = row->name;
  }
  snprintf(kind, CONSTRUCT_KIND_MAX, "%s%.100s", before, what);
  return (struct construct_place){kind, name, row->file, row->line};
}

static struct cell place_cell(const struct construct_filling *filling, const struct grain_group *group)
{
  assert(group->kind < GRAIN_KINDS);
  static const char *const before[GRAIN_KINDS] = {"", "threads of ", "", "chunk of "};
  char kind[CONSTRUCT_KIND_MAX];
  if (group->kind == GRAIN_INITIAL)
    return cell_text("serial code");
  struct construct_place place = place_of(filling->report, group->directive, before[group->kind], kind);
  return construct_text_cell(filling, &place);
}

static void fill_text(const void *context, const void *row, struct cell *cell)
{
  const struct construct_filling *filling = context;
  const struct report *report = filling->report;
  const struct grain_group *group = row;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/constructs/grain_groups_text.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column group_columns[] = {
#include "hpcprof-lite/report/constructs/grain_groups.def"
};
static const struct table_column text_columns[] = {
#include "hpcprof-lite/report/constructs/grain_groups_text.def"
};
#undef COLUMN
static const struct schema grain_groups_schema = SCHEMA(group_columns, fill_group);
static const struct schema text_schema = SCHEMA(text_columns, fill_text);

REPORT_EACH(each_group, report->grains.groups->groups, report->grains.groups ? report->grains.groups->count : 0)

/* ---- the parallelism over the span ---- */

struct curve_part {
  unsigned number;
  uint64_t most, least;
};

#define CURVE(COLUMN)                                                                                                  \
  COLUMN("part", ID, cell_count(part->number), "number of the part of the longest chain, from 0")                      \
  COLUMN("most", COUNT, cell_count(part->most), "grains that could run in it")                                         \
  COLUMN("least", COUNT, cell_count(part->least), "grains that could run all the time")

static void fill_part(const void *context, const void *row, struct cell *cell)
{
  const struct curve_part *part = row;
  (void)context;
  CURVE(COLUMN_CELL)
}

static const struct table_column curve_columns[] = {CURVE(COLUMN_ENTRY)};
static const struct schema curve_schema = SCHEMA(curve_columns, fill_part);

static int each_part(const void *source, table_take *take, void *to)
{
  const struct grain_curve *curve = source;
  int status = 0;
  for (unsigned i = 0; i < GRAIN_CURVE_SLOTS && !status; i++) {
    struct curve_part part = {i, curve->touching[i], curve->covering[i]};
    status = take(to, &part);
  }
  return status;
}

static void add_curve(const struct report *report, struct table *table)
{
  assert(report->grains.curve);
  struct table *array = table_further(table, "curve");
  array->each = each_part;
  array->source = report->grains.curve;
  table_add(array, &curve_schema, NULL);
}

void grain_groups_table(const struct report *report, struct table *table)
{
  if (!report->profile->workspan.known) { /* there are no grains at all */
    grains_table(report, table);
    return;
  }
  table->each = each_group;
  table->source = report;
  table_add(table, &grain_groups_schema, report);
  count_columns_add(table, report->profile, COUNTED_GROUPS);
  table_add(table, &text_schema, construct_text_filling(report, table));
  if (report->grains.curve)
    add_curve(report, table);
}

/* ---- text ---- */

enum { CELL = 16 };

/* Prints "in for @ solve.c:42 (solve)", cut to the remaining width, one column to the right of the row's name. */
static void print_creator(const struct text_table *text, const struct grain_group *group)
{
  char kind[CONSTRUCT_KIND_MAX], name[TERMINAL_TEXT_MAX];
  struct construct_place place = place_of(text->report, group->creator, "in ", kind);
  construct_text_name(&text->terminal, &place, text_table_room(text, 0), name);
  fprintf(text->report->stream, "%*s%s\n", (int)text->rest_at, "", name);
}

static void print_group(struct text_table *text, const struct grain_group *group)
{
  const struct report *report = text->report;
  text_table_row(text, group);
  if (report->chosen_count)
    return;
  if (group->kind == GRAIN_TASK || (group->kind == GRAIN_CHUNK && group->creator != group->directive))
    print_creator(text, group);
  for (unsigned i = 0; i < GRAIN_METRICS; i++)
    if (group->problems[i])
      fprintf(report->stream, "%*" PRIu64 " grain%s: %s\n", (int)text->rest_at - 1, group->problems[i],
              terminal_plural(group->problems[i]), grain_metric_names[i]);
  count_columns_group_text(&report->profile->constructs.counters, group, &text->terminal, report->stream);
}

/* One digit or letter for each slot: 0 for none, otherwise 1 + the binary logarithm. */
static void print_curve(const struct report *report, const char *name, const uint64_t slots[GRAIN_CURVE_SLOTS])
{
  char line[GRAIN_CURVE_SLOTS + 1];
  for (unsigned i = 0; i < GRAIN_CURVE_SLOTS; i++) {
    unsigned digits = slots[i] ? 64 - (unsigned)__builtin_clzll(slots[i]) : 0;
    line[i] = (char)(digits < 10 ? '0' + digits : 'a' + digits - 10);
  }
  line[GRAIN_CURVE_SLOTS] = '\0';
  fprintf(report->stream, "%-6s %s\n", name, line);
}

static void print_curves(const struct report *report, const struct terminal *terminal)
{
  fputs("\n", report->stream);
  terminal_wrapf(
      terminal, report->stream, "", "",
      "How many grains could run at once on unlimited cores, from the begin to the end of the longest chain, "
      "in %d equal parts.  0=none, 1=one, 2=2-3, 3=4-7, 4=8-15 ... 9=256-511, a=512-1023, b=1024-2047 ...",
      GRAIN_CURVE_SLOTS);
  print_curve(report, "most", report->grains.curve->touching);
  print_curve(report, "least", report->grains.curve->covering);
}

static void print_legend(const struct report *report, const struct terminal *terminal)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  char unit[TERMINAL_TEXT_MAX], line[256], full[2048];
  terminal_fit(terminal, workspan->is_time ? "CPU time" : workspan->unit, 20, unit);
  snprintf(line, sizeof line, "Exec: %.20s of all; Prob%%: of all work, in grains with problems; see --legend\n", unit);
  snprintf(full, sizeof full,
           "Exec: %.20s that the grains have taken, without what they waited;\n"
           "Median, Longest: of one grain.\n"
           "Prob%%: share of all work of the run that is in the row's grains with problems.\n"
           "Threads of a region: what they run outside tasks and chunks.\n"
           "Problems, and how many grains have them:\n"
           "  parallel_benefit: shorter than its creation and its share of the wait that\n"
           "    joins it\n"
           "  instantaneous_parallelism: at some time while it runs, fewer grains could run\n"
           "    than the run has threads\n"
           "  scatter: its siblings ran on distant NUMA nodes\n"
           "  memory_utilisation: its cycles were stalled more often than not\n"
           "  work_deviation: longer than in the reference run\n"
           "  load_balance: it or one of its siblings, or of its loop's threads, is longer\n"
           "    than their mean by a third; all of them count\n"
           "--grain-limit sets what is a problem; -f csv shows single grains.\n",
           unit);
  legend_print(report, line, full);
}

static void print_summary(const struct report *report, const struct terminal *terminal)
{
  const struct grain_groups *groups = report->grains.groups;
  uint64_t count[GRAIN_KINDS] = {0}, work = 0, problems = 0;
  char percent[CELL];
  for (uint32_t i = 0; i < groups->count; i++) {
    count[groups->groups[i].kind] += groups->groups[i].count;
    work += groups->groups[i].exec;
    problems += groups->groups[i].problem_exec;
  }
  terminal_percent(problems, work, percent);
  terminal_wrapf(terminal, report->stream, "", "",
                 "%" PRIu64 " tasks, %" PRIu64 " chunks, %" PRIu64 " implicit and %" PRIu64
                 " initial tasks; grains with problems hold %s %% of the work.",
                 count[GRAIN_TASK], count[GRAIN_CHUNK], count[GRAIN_IMPLICIT], count[GRAIN_INITIAL],
                 percent + strspn(percent, " "));
}

static void print_groups(struct text_table *text)
{
  const struct report *report = text->report;
  text->rest_at++; /* names are cut as those of creators, which are indented */
  print_summary(report, &text->terminal);
  putc('\n', report->stream);
  text_table_heading(text);
  for (uint32_t i = 0; i < report->grains.groups->count; i++)
    print_group(text, &report->grains.groups->groups[i]);
  if (report->grains.curve)
    print_curves(report, &text->terminal);
  print_legend(report, &text->terminal);
}

void grains_view_text(const struct report *report)
{
  struct text_table text;
  if (!report->grains.groups) {
    notes_missing(report, "Grains", "log");
    return;
  }
  text_table_init(&text, report, grain_groups_table);
  print_groups(&text);
  text_table_release(&text);
  notes_chunks(report);
  notes_log_differs(report);
}
