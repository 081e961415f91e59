#include "hpcprof-lite/comparison/gate.h"

#include "common/xalloc.h"
#include "hpcprof-lite/comparison/amounts.h"
#include "hpcprof-lite/report/comparison/run_figures.h"
#include "hpcprof-lite/report/comparison/gate_view.h"
#include "hpcprof-lite/report/views.h"
#include "hpcprof-lite/views/construct_rows.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A condition's metric in one run. */
struct measured {
  bool known;   /* the run has such a metric */
  bool matched; /* the selector matches something that has such a figure */
  bool empty;   /* it matches something that has none */
  double value;
  const char *unit; /* "s", "ratio", or "" for counts */
  enum compare_basis basis;
  double sample;    /* the amount that a sample stands for */
  uint64_t samples; /* those of a distributed metric */
  uint64_t all;     /* those of the run */
};

static struct measured measure_run(const struct job *run, const char *metric)
{
  uint32_t number = 0;
  while (number < RUN_FIGURES && strcmp(metric, run_figure(number).name) != 0)
    number++;
  assert(number < RUN_FIGURES);
  double value = run_figure_value(&run->report, number);
  return (struct measured){.known = !isnan(value),
                           .matched = true,
                           .value = value,
                           .unit = run_figure_unit(&run->report, number),
                           .basis = COMPARE_EXACT};
}

/* The values of a row itself, and of its lines, which --lines separates from it. */
static uint64_t own_value(const struct tree *tree, uint32_t row, uint32_t column)
{
  assert(row < tree->count);
  uint64_t value = tree_excl(tree, row, column);
  for (uint32_t child = tree->rows[row].first_child; child != MODEL_NONE; child = tree->rows[child].next)
    if (tree->rows[child].kind == ROW_LINE && tree->rows[row].kind != ROW_LINE)
      model_add(&value, tree_excl(tree, child, column));
  return value;
}

/* Adds up the outermost rows that match, or the exclusive values of all that match. */
static bool sum_rows(const struct job *run, const struct condition *condition, uint32_t column, bool inclusive,
                     uint64_t *sum, uint64_t *samples)
{
  assert(run->tree.order);
  const struct tree *tree = &run->tree;
  bool matched = false;
  for (uint32_t i = 0; i < tree->count;) {
    uint32_t row = tree->order[i];
    bool here = condition->selector_text ? selector_matches(&run->names, &condition->selector, &tree->rows[row]) : !row;
    uint64_t (*value)(const struct tree *, uint32_t, uint32_t) =
        inclusive || !condition->selector_text ? tree_incl : own_value;
    if (here) {
      matched = true;
      model_add(sum, value(tree, row, column));
      model_add(samples, value(tree, row, run->columns.samples));
    }
    i = here && value == tree_incl ? tree->end[i] : i + 1;
  }
  return matched;
}

static struct measured measure_contexts(const struct job *run, const struct condition *condition)
{
  struct measured measured = {0};
  uint64_t sum = 0;
  uint32_t number;
  bool inclusive;
  if (!tree_columns_find(&run->columns, condition->column, &number, &inclusive))
    return measured;
  struct amounts_column column = amounts_of(run, number);
  measured.known = true;
  measured.matched = sum_rows(run, condition, number, inclusive, &sum, &measured.samples);
  measured.unit = column.unit;
  measured.value = (double)sum * column.scale;
  measured.basis = column.basis == COMPARE_DISTRIBUTED && !condition->selector_text ? COMPARE_EXACT : column.basis;
  measured.sample = column.sample * column.scale;
  measured.all = amounts_samples(run, number);
  return measured;
}

/* Whether a construct is selected, by its function, its user region or its line. */
static bool selects(const struct job *run, const struct condition *condition, const struct construct_entry *entry)
{
  struct tree_row row = {.kind = entry->kind == DIRECTIVE_USER_REGION ? ROW_USER_REGION : ROW_PARALLEL,
                         .function = MODEL_NONE,
                         .name = entry->name,
                         .file = entry->file,
                         .line = entry->line};
  return selector_matches(&run->names, &condition->selector, &row);
}

/* Adds up a column of the view regions over the constructs that are selected. */
static struct measured sum_constructs(const struct job *run, const struct condition *condition,
                                      const struct construct_tree *list)
{
  assert(condition->selector_text);
  struct table table = {0};
  struct report report = run->report;
  report.constructs = list;
  regions_table(&report, &table);
  struct cell *cells = xcalloc(table.columns_count, sizeof *cells);
  uint32_t column = table_number(&table, condition->column);
  struct measured measured = {.known = list->count && column != MODEL_NONE, .unit = "", .basis = COMPARE_EXACT};
  if (measured.known && table_column(&table, column)->type == COLUMN_SECONDS)
    measured.unit = "s";
  for (uint32_t i = 1; i < list->count && measured.known; i++) {
    if (!selects(run, condition, &list->entries[i]))
      continue;
    table_cells(&table, &(struct construct_line){&list->entries[i], NULL}, cells);
    if (cells[column].kind != CELL_NUMBER) {
      measured.empty = true;
      continue;
    }
    measured.matched = true;
    measured.value += cell_value(&cells[column]);
  }
  free(cells);
  table_release(&table);
  return measured;
}

static struct measured measure_constructs(struct job *run, const struct condition *condition)
{
  struct construct_tree tree, list;
  construct_rows(&run->profile, &run->names, &run->tree, run->row_of, &tree);
  construct_rows_flat(&tree, &run->names, &list);
  struct measured measured = sum_constructs(run, condition, &list);
  construct_tree_release(&list);
  construct_tree_release(&tree);
  return measured;
}

static struct measured measure(struct job *run, const struct condition *condition)
{
  switch (condition->scope) {
  case CONDITION_CONSTRUCTS:
    return measure_constructs(run, condition);
  case CONDITION_RUN:
    return measure_run(run, condition->column);
  default:
    return measure_contexts(run, condition);
  }
}

/* All runs of a side. */
struct side_measured {
  double *values;
  struct measured last; /* of the last run; matched: in any run */
  uint64_t samples, all;
  const struct job *unknown; /* a run that has no such metric, or NULL */
};

static struct side_measured measure_side(const struct gate_side *side, const struct condition *condition)
{
  assert(side->count);
  bool matched = false;
  struct side_measured result = {.values = xcalloc(side->count, sizeof *result.values)};
  for (uint32_t i = 0; i < side->count; i++) {
    result.last = measure(&side->runs[i], condition);
    if (!result.last.known)
      result.unknown = &side->runs[i];
    matched = matched || result.last.matched;
    result.values[i] = result.last.value;
    result.samples += result.last.samples;
    result.all += result.last.all;
  }
  result.last.matched = matched;
  return result;
}

static int fail(const struct condition *condition, const char *why)
{
  job_print_error("--fail-if '%s' cannot be checked: %s", condition->text, why);
  return EXIT_USAGE;
}

/* Whether the condition can be checked at all. */
static int check_measured(const struct condition *condition, const struct side_measured *base,
                          const struct side_measured *now)
{
  const struct job *unknown = now->unknown;
  if (!unknown && base)
    unknown = base->unknown;
  if (unknown) {
    job_print_error("--fail-if '%s' cannot be checked: %s was measured without '%s'", condition->text,
                    unknown->options.input.directories[0], condition->metric);
    return EXIT_USAGE;
  }
  if (!now->last.matched && !(base && base->last.matched)) {
    if (now->last.empty)
      return fail(condition, "the constructs that it selects have no such figure");
    return fail(condition, "nothing matches its selector: see the names and lines of --view topdown -f csv");
  }
  const char *unit = now->last.unit;
  bool ratio = !strcmp(unit, "ratio");
  if (base && strcmp(base->last.unit, unit) != 0)
    return fail(condition, "work and span have different units on the two sides");
  if (condition->relative || condition->unit == (*unit == 's' ? CONDITION_SECONDS : CONDITION_NUMBER) ||
      (ratio && condition->unit == CONDITION_PERCENT))
    return 0;
  if (condition->unit == CONDITION_PERCENT)
    return fail(condition, "of what is that a percentage? A change has a sign: +5%; otherwise give an amount");
  if (ratio)
    return fail(condition, "the metric is a ratio, without a unit: 70% or 0.7");
  if (*unit == 's')
    return fail(condition, "the metric is a time: 2.5 s or 10 ms");
  return fail(condition, "the metric is a number, without a unit: 1000");
}

/* Whether a run's executable has no names: it is stripped, gone, or not the one that was measured. */
static bool is_nameless(const struct job *run)
{
  bool nameless = false;
  for (uint32_t i = 0; i < run->names.functions_count; i++) {
    const struct names_function *function = &run->names.functions[i];
    if (function->module == MODEL_NONE || !(run->profile.catalog.modules[function->module].flags & MODULE_MAIN))
      continue;
    if (!function->unknown)
      return false;
    nameless = true;
  }
  return nameless;
}

/* Refuses a condition that selects nothing on one side because nothing has a name there. */
static int check_names(const struct condition *condition, const struct gate_side *side,
                       const struct side_measured *measured)
{
  for (uint32_t i = 0; i < side->count && condition->selector_text && !measured->last.matched; i++)
    if (!condition->selector.is_region && is_nameless(&side->runs[i])) {
      job_print_error("--fail-if '%s' cannot be checked: '%s' has no names, as its executable is stripped, gone or "
                      "another build: keep each build in a directory of its own",
                      condition->text, side->runs[i].options.input.directories[0]);
      return EXIT_USAGE;
    }
  return 0;
}

/* The smallest significant change of a sampled figure of single runs, 0 otherwise. */
static double smallest_change(const struct compare_values *base, const struct compare_values *now,
                              enum compare_basis basis)
{
  if (base->runs != 1 || now->runs != 1 || basis == COMPARE_EXACT)
    return 0;
  struct significance_part a = compare_part(base, basis, base->values[0]);
  struct significance_part b = compare_part(now, basis, now->values[0]);
  return a.samples && b.samples ? significance_smallest_change(&a, &b) : 0;
}

/* A condition names the direction of a change: the probability of such a difference in that direction. */
static double one_sided(const struct compare_figure *figure, bool above)
{
  bool that_way = above ? figure->now > figure->base : figure->now < figure->base;
  return that_way ? figure->probability / 2 : 1 - figure->probability / 2;
}

/* The function of the file that begins last before the selector's first line. */
static const struct names_function *function_at(const struct names *names, const struct selector *selector)
{
  const struct names_function *found = NULL;
  for (uint32_t i = 0; i < names->functions_count; i++) {
    const struct names_function *function = &names->functions[i];
    struct selector before = *selector;
    before.from = 1;
    before.to = selector->from;
    if (function->outline == OUTLINE_NONE && selector_matches_line(&before, function->file, function->line) &&
        (!found || function->line > found->line))
      found = function;
  }
  return found;
}

/* Moves the lines of a selector from the sources of one build to those of another: a line keeps its distance from the
 * beginning of its function.  Returns false, and leaves them, if it names lines whose function is not known in both. */
static bool move_lines(const struct names *from, const struct names *to, struct selector *selector)
{
  const struct names_function *function = selector->is_lines ? function_at(from, selector) : NULL;
  for (uint32_t i = 0; function && i < to->functions_count; i++) {
    const struct names_function *other = &to->functions[i];
    if (other->outline != OUTLINE_NONE || !other->line || strcmp(other->raw, function->raw) != 0 ||
        strcmp(names_base(other->file), names_base(function->file)) != 0)
      continue;
    selector->from = selector->from - function->line + other->line;
    selector->to = selector->to - function->line + other->line;
    return true;
  }
  return !selector->is_lines;
}

/* Whether missing cores can be why a figure is beyond its limit: they lengthen times, but not those in which threads
 * run, and lower efficiencies. */
static bool needs_cores(const struct condition *condition, const char *unit)
{
  static const char *const without[] = {"cpu",         "work",          "overhead",          "user", "system", "span",
                                        "parallelism", "critical_path", "elapsed_with_cores"};
  for (size_t i = 0; i < sizeof without / sizeof *without; i++)
    if (!strncmp(condition->column, without[i], strlen(without[i])))
      return false;
  return !strcmp(unit, condition->above ? "s" : "ratio");
}

/* Refuses to judge by such a figure of a run whose threads had no core for a noticeable time: that of a new run is
 * beyond the limit, or that of a base may be. */
static int check_cores(const struct condition *condition, const char *unit, const struct gate_side *side)
{
  for (uint32_t i = 0; i < side->count && needs_cores(condition, unit); i++) {
    const struct totals *run = side->runs[i].report.totals;
    if (!totals_miss_cores(run))
      continue;
    job_print_error("--fail-if '%s' cannot be checked by '%s', whose threads had no core for %.0f %% of the time in "
                    "which they wanted to run (steal: %.0f %%): measure without other programs, or use a condition on "
                    "work%s",
                    condition->text, side->runs[i].options.input.directories[0], 100 * totals_without_core(run),
                    100 * totals_stolen(run), run->with_cores_ns ? " or elapsed_with_cores" : "");
    return EXIT_USAGE;
  }
  return 0;
}

static int check(const struct condition *condition, const struct gate_side *base, const struct gate_side *now,
                 struct compare_gate *gate)
{
  struct condition of_base = *condition; /* the lines of a selector are those of the new side */
  bool placed =
      !base || !condition->selector_text || move_lines(&now->runs[0].names, &base->runs[0].names, &of_base.selector);
  struct side_measured new = measure_side(now, condition), old = {0};
  if (base)
    old = measure_side(base, &of_base);
  int status = check_measured(condition, base ? &old : NULL, &new);
  if (!status && base && condition->relative)
    status = check_names(condition, base, &old);
  if (!status && base && condition->relative)
    status = check_names(condition, now, &new);
  if (!status && !placed && old.last.matched != new.last.matched)
    status = fail(condition, "its lines are only on one side, and may have moved: name the function");
  if (!status) {
    struct compare_values a = {old.values, base ? base->count : 0, old.last.sample, old.samples, old.all};
    struct compare_values b = {new.values, now->count, new.last.sample, new.samples, new.all};
    *gate =
        (struct compare_gate){.condition = condition, .unit = new.last.unit, .exact = new.last.basis == COMPARE_EXACT};
    gate->figure = compare_values(&a, &b, new.last.basis);
    gate->figure.probability = one_sided(&gate->figure, condition->above);
    gate->smallest = smallest_change(&a, &b, new.last.basis);
    gate->few = isnan(gate->figure.probability) && new.last.basis != COMPARE_EXACT;
    gate->beyond = condition_holds(condition, condition->relative ? compare_change(&gate->figure) : gate->figure.now);
    if (gate->beyond)
      status = check_cores(condition, gate->unit, now);
    if (!status && base && condition->relative)
      status = check_cores(condition, gate->unit, base);
  }
  free(old.values);
  free(new.values);
  return status;
}

/* Returns a process that was killed or still runs, and that no other process of the run started; NULL if there is
 * none. */
static const struct profile_process *cut_short(const struct profile *profile)
{
  for (uint32_t i = 0; i < profile->processes_usable; i++) {
    const struct profile_process *process = &profile->processes[i];
    bool child = false;
    for (uint32_t j = 0; process->unfinished && j < profile->processes_usable && !child; j++)
      child = profile->processes[j].pid == process->parent_pid;
    if (process->unfinished && !child)
      return process;
  }
  return NULL;
}

/* Refuses a run that is not complete: its figures are too small. */
static int check_complete(const struct gate_side *side)
{
  for (uint32_t i = 0; side && i < side->count; i++) {
    const struct profile_process *process = cut_short(&side->runs[i].profile);
    if (!process)
      continue;
    job_print_error("--fail-if cannot be checked: process %u of '%s' %s: measure a complete run", process->pid,
                    side->runs[i].options.input.directories[0],
                    process->running ? "still runs" : "was killed, or could not write its file");
    return EXIT_USAGE;
  }
  return 0;
}

int gate_check(const struct options *options, const struct gate_side *base, const struct gate_side *now,
               struct compare_gate *gates)
{
  assert(gates || !options->comparison.conditions_count);
  if (!options->comparison.conditions_count)
    return 0;
  if (check_complete(base) || check_complete(now))
    return EXIT_USAGE;
  for (uint32_t i = 0; i < options->comparison.conditions_count; i++) {
    int status = check(&options->comparison.conditions[i], base, now, &gates[i]);
    if (status)
      return status;
    if (!options->comparison.conditions[i].relative) /* an amount has no significance, which a change has */
      gates[i].figure.probability = NAN;
  }
  compare_correct(&gates->figure, options->comparison.conditions_count, sizeof *gates);
  for (uint32_t i = 0; i < options->comparison.conditions_count; i++) {
    bool as_it_is = !gates[i].condition->relative || (gates[i].exact && isnan(gates[i].figure.probability));
    gates[i].failed = gates[i].beyond && (as_it_is || compare_is_significant(&gates[i].figure));
  }
  return 0;
}

int gate_report(const struct compare_gate *gates, uint32_t count)
{
  int status = 0;
  for (uint32_t i = 0; i < count; i++) {
    char text[GATE_TEXT_MAX];
    if (!gates[i].failed)
      continue;
    status = EXIT_GATE;
    gate_view_text(&gates[i], text);
    job_print_error("--fail-if '%s' holds: %s", gates[i].condition->text, text);
  }
  return status;
}
