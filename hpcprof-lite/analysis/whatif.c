#include "hpcprof-lite/analysis/whatif.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/construct_tree.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rows of all candidates and their pairs, 9 + 36, fit into one replay (REPLAY_SCENARIOS). */
enum { CANDIDATES_ON_PATH = 6, CANDIDATES_MAX = 9 };

static const char best_case[] = "best case: another path may become critical; work unchanged";
static const char best_case_estimated[] =
    "best case: another path may become critical; shares are estimates; work unchanged";
static const char exact[] = "replayed from the graph log: exact; work unchanged";
static const char estimate[] = "replayed from the graph log: estimate +- two standard errors; work unchanged";
static const char unplaced[] =
    "replayed from the graph log: not exact, the code of some counted work is not known; work unchanged";
static const char unseen[] =
    "replayed from the graph log, which does not follow some calls of MPI: not exact; work unchanged";
static const char doubtful[] = "replayed from the graph log, which differs from the measurement; work unchanged";
static const char off_path[] = "not on the critical path: no gain; work unchanged";

static const char *best_case_note(const struct whatif_run *run)
{
  bool light = profile_light(run->profile).light || profile_light_regions(run->profile).light ||
               profile_untimed(run->profile).tasks;
  return light ? best_case_estimated : best_case;
}

/* ---- what runs faster ---- */

/* Code that runs faster: what a selector selects, or a function of the flat view; the other one is NULL. */
struct target {
  const struct selector *selector;
  const struct tree_row *flat;
  double factor;
  bool matched; /* it selects something */
};

static void raise_to(double *factor, double value)
{
  assert(value >= 1);
  *factor = MAX(*factor, value);
}

static bool selects_row(const struct whatif_run *run, const struct target *target, uint32_t row)
{
  assert(row < run->tree->count && (target->flat || target->selector));
  if (target->flat)
    return tree_same_function(&run->tree->rows[row], target->flat);
  return selector_matches(run->names, target->selector, &run->tree->rows[row]);
}

/* Sets rows[row of the tree] to the factor of a row, which holds for all rows below it. */
static void factors_of_rows(const struct whatif_run *run, struct target *targets, uint32_t count, double *rows)
{
  assert(run->tree->order);
  for (uint32_t i = 0; i < run->tree->count; i++) {
    uint32_t row = run->tree->order[i];
    rows[row] = row ? rows[run->tree->rows[row].parent] : 1;
    for (uint32_t j = 0; j < count; j++) {
      if (!selects_row(run, &targets[j], row))
        continue;
      targets[j].matched = true;
      raise_to(&rows[row], targets[j].factor);
    }
  }
}

/* Whether the address of a context, or a call inlined there, is in the selected lines. */
static bool selects_context(const struct whatif_run *run, const struct selector *selector, uint32_t node)
{
  assert(node && node < run->profile->contexts.count);
  uint32_t address = run->names->address_of[node];
  if (address == MODEL_NONE)
    return false;
  const struct names_address *steps = &run->names->addresses[address];
  for (uint32_t i = 0; i < steps->count; i++) {
    const struct names_frame *step = &run->names->frames[steps->first + i];
    if (selector_matches_line(selector, step->file, step->line))
      return true;
  }
  return false;
}

/* Sets nodes[context] to the factor of a context because of selected lines, which holds for all contexts below it. */
static void factors_of_contexts(const struct whatif_run *run, struct target *targets, uint32_t count, double *nodes)
{
  const struct contexts *contexts = &run->profile->contexts;
  nodes[0] = 1;
  for (uint32_t node = 1; node < contexts->count; node++) {
    nodes[node] = nodes[contexts->nodes[node].parent];
    for (uint32_t j = 0; j < count; j++) {
      if (!targets[j].selector || !targets[j].selector->is_lines || !selects_context(run, targets[j].selector, node))
        continue;
      targets[j].matched = true;
      raise_to(&nodes[node], targets[j].factor);
    }
  }
}

/* Whether a directive stands for copies that a target selects. */
static bool selects_copies(const struct whatif_run *run, const struct selector *selector, uint32_t number)
{
  uint32_t kind = run->profile->workspan.directives[number].kind, address = run->names->directive_at[number];
  bool selected = !selector->from && selector_matches_copy(selector, kind, "", 0);
  uint32_t steps = selector->from && address != MODEL_NONE ? run->names->addresses[address].count : 0;
  for (uint32_t i = 0; i < steps && !selected; i++) {
    const struct names_frame *step = &run->names->frames[run->names->addresses[address].first + i];
    selected = selector_matches_copy(selector, kind, step->file, step->line);
  }
  return selected;
}

/* Whether a target selects a directive by what it is: it is the user region, or stands for the copies. */
static bool selects_kind(const struct whatif_run *run, const struct target *target, uint32_t directive)
{
  assert(directive < run->profile->workspan.directives_count);
  const struct profile_directive *region = &run->profile->workspan.directives[directive];
  if (target->selector && target->selector->copy_kind)
    return selects_copies(run, target->selector, directive);
  return region->kind == DIRECTIVE_USER_REGION && target->selector && target->selector->is_region &&
         !strcmp(target->selector->text + 1, region->name);
}

static double kind_factor(const struct whatif_run *run, const struct target *targets, uint32_t count,
                          uint32_t directive)
{
  double factor = 1;
  for (uint32_t j = 0; j < count; j++)
    if (selects_kind(run, &targets[j], directive))
      raise_to(&factor, targets[j].factor);
  return factor;
}

/* Sets factors[share], and `matched` of each target. */
static void factors_of_shares(const struct whatif_run *run, struct target *targets, uint32_t count,
                              const struct context_share *shares, uint32_t shares_count, double *factors)
{
  assert(run->row_of && (shares || !shares_count));
  const struct contexts *contexts = &run->profile->contexts;
  double *rows = xcalloc(run->tree->count, sizeof *rows), *nodes = xcalloc(contexts->count, sizeof *nodes);
  factors_of_rows(run, targets, count, rows);
  factors_of_contexts(run, targets, count, nodes);
  for (uint32_t i = 0; i < run->profile->workspan.directives_count; i++)
    for (uint32_t j = 0; j < count; j++)
      targets[j].matched = targets[j].matched || selects_kind(run, &targets[j], i);
  for (uint32_t i = 0; i < shares_count; i++) {
    const struct context_share *share = &shares[i];
    bool placed = share->context != MODEL_NONE;
    uint32_t row = run->row_of[placed ? share->context : contexts->count + share->directive];
    factors[i] = kind_factor(run, targets, count, share->directive);
    if (placed)
      raise_to(&factors[i], nodes[share->context]);
    raise_to(&factors[i], rows[row == MODEL_NONE ? 0 : row]); /* without a row, it is somewhere below the root */
  }
  free(rows);
  free(nodes);
}

/* Sets factors[share of the profile's span]. */
static void factors_of_path(const struct whatif_run *run, struct target *targets, uint32_t count, double *factors)
{
  const struct contexts *contexts = &run->profile->contexts;
  factors_of_shares(run, targets, count, contexts->shares, contexts->shares_count, factors);
}

/* Returns the span in the best case; sets *selected to the selected part of the measured one. */
static double shortened_span(const struct whatif_run *run, const double *factors, double *selected)
{
  double span = 0;
  *selected = 0;
  for (uint32_t i = 0; i < run->profile->contexts.shares_count; i++) {
    double amount = (double)run->profile->contexts.shares[i].amount;
    span += amount / factors[i];
    *selected += factors[i] > 1 ? amount : 0;
  }
  return span;
}

static void targets_of_scenario(const struct scenario *scenario, struct target targets[SCENARIO_TERMS])
{
  assert(scenario->count <= SCENARIO_TERMS);
  for (uint32_t i = 0; i < scenario->count; i++)
    targets[i] = (struct target){.selector = &scenario->terms[i].selector, .factor = scenario->terms[i].factor};
}

/* Makes targets of one or two functions; `other` may be NULL.  Returns their number. */
static uint32_t targets_of_functions(const struct tree_row *one, const struct tree_row *other, struct target targets[2])
{
  targets[0] = (struct target){.flat = one, .factor = WHATIF_FACTOR};
  targets[1] = (struct target){.flat = other, .factor = WHATIF_FACTOR};
  return other ? 2 : 1;
}

/* ---- scenarios of the user ---- */

void whatif_factors(const struct whatif_run *run, const struct scenario *scenario, double *factors,
                    const char **unmatched)
{
  struct target targets[SCENARIO_TERMS];
  targets_of_scenario(scenario, targets);
  *unmatched = NULL;
  factors_of_path(run, targets, scenario->count, factors);
  for (uint32_t i = scenario->count; i-- > 0;)
    if (!targets[i].matched)
      *unmatched = scenario->terms[i].text;
}

/* Sets the bounds of a row: the best case, and that nothing is gained. */
static void set_bounds(const struct whatif_run *run, double span, struct whatif_row *row)
{
  row->span = row->span_low = span;
  row->span_high = (double)run->profile->workspan.span;
}

/* Sets the selector of a row to "f,g" or, if the factors differ, "f=2,g=16". */
static void name_row(const struct whatif_run *run, const struct scenario *scenario, struct whatif_row *row)
{
  char *selector = xstrdup("");
  bool several = false;
  for (uint32_t i = 1; i < scenario->count; i++)
    several = several || scenario->terms[i].factor != scenario->terms[0].factor;
  for (uint32_t i = 0; i < scenario->count; i++) {
    const struct scenario_term *term = &scenario->terms[i];
    char factor[32] = "";
    if (several)
      snprintf(factor, sizeof factor, "=%g", term->factor);
    char *longer = xasprintf("%s%s%s%s", selector, i ? "," : "", term->text, factor);
    free(selector);
    selector = longer;
  }
  row->selector = names_own(run->names, selector);
  row->factor = several ? 0 : scenario->terms[0].factor;
}

int whatif_compute(const struct whatif_run *run, const struct scenario *scenarios, uint32_t count,
                   struct whatif *whatif, const char **unmatched)
{
  assert(scenarios || !count);
  double *factors = xcalloc(run->profile->contexts.shares_count, sizeof *factors), selected;
  *whatif = (struct whatif){.rows = xcalloc(count, sizeof *whatif->rows)};
  *unmatched = NULL;
  for (uint32_t i = 0; i < count && !*unmatched; i++) {
    struct whatif_row *row = &whatif->rows[whatif->count++];
    row->scenario = i + 1;
    name_row(run, &scenarios[i], row);
    whatif_factors(run, &scenarios[i], factors, unmatched);
    row->scenario_given = &scenarios[i];
    set_bounds(run, shortened_span(run, factors, &selected), row);
    row->note = selected > 0 ? best_case_note(run) : off_path;
  }
  free(factors);
  return *unmatched ? ERR_INPUT : 0;
}

/* ---- suggestions ---- */

static bool is_code(const struct tree_row *row)
{
  return row->kind == ROW_FUNCTION || row->kind == ROW_PARALLEL || row->kind == ROW_TASK;
}

static bool is_candidate(const struct tree *flat, uint32_t row, uint32_t column)
{
  return is_code(&flat->rows[row]) && tree_excl(flat, row, column) >= tree_incl(flat, row, column) / 2;
}

/* Fills found[] with the candidates on the critical path (whatif.h), those with most of it first.  Returns their
 * number. */
static uint32_t find_candidates(const struct tree *flat, uint32_t column, const struct tree_row *found[CANDIDATES_MAX])
{
  uint32_t rows[CANDIDATES_ON_PATH];
  uint64_t least = tree_incl(flat, 0, column) / 100;
  uint32_t count = tree_largest(flat, column, least, is_candidate, CANDIDATES_ON_PATH, rows);
  for (uint32_t i = 0; i < count; i++)
    found[i] = &flat->rows[rows[i]];
  return count;
}

/* Returns a new array with the work of each row of the tree, from the shares of a recorded graph.  The work of lines is
 * counted in their function. */
static double *work_of_rows(const struct whatif_run *run, const struct context_share *shares, uint32_t count)
{
  double *work = xcalloc(run->tree->count, sizeof *work);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t row = shares[i].context == MODEL_NONE ? MODEL_NONE : run->row_of[shares[i].context];
    if (row != MODEL_NONE && run->tree->rows[row].kind == ROW_LINE)
      row = run->tree->rows[row].parent;
    if (row != MODEL_NONE)
      work[row] += (double)shares[i].amount;
  }
  return work;
}

/* Returns the inclusive work of a function.  covered[] is scratch memory, one element for each row of the tree. */
static double inclusive_work(const struct whatif_run *run, const struct tree_row *flat, const double *work,
                             bool *covered)
{
  double sum = 0;
  for (uint32_t i = 0; i < run->tree->count; i++) {
    uint32_t row = run->tree->order[i];
    const struct tree_row *here = &run->tree->rows[row];
    covered[row] = (row && covered[here->parent]) || tree_same_function(here, flat);
    sum += covered[row] ? work[row] : 0;
  }
  return sum;
}

/* Adds the exclusive work of each function to own[row of the flat view]. */
static void work_of_functions(const struct whatif_run *run, const struct tree *flat, const double *work, double *own)
{
  for (uint32_t i = 0; i < run->tree->count; i++) {
    uint32_t row = work[i] > 0 ? flat->rows[0].first_child : MODEL_NONE;
    while (row != MODEL_NONE && !tree_same_function(&run->tree->rows[i], &flat->rows[row]))
      row = flat->rows[row].next;
    if (row != MODEL_NONE && is_code(&flat->rows[row]))
      own[row] += work[i];
  }
}

/* Adds the functions with most exclusive work in a recorded graph: at least 1 % of all work, and half of their
 * inclusive work.  Off the critical path they gain nothing alone, but they may limit the gain of others. */
static void add_by_work(const struct whatif_run *run, const struct tree *flat, const struct context_share *shares,
                        uint32_t shares_count, const struct tree_row *found[CANDIDATES_MAX], uint32_t *count)
{
  assert(*count <= CANDIDATES_MAX && (shares || !shares_count));
  double *work = work_of_rows(run, shares, shares_count), *own = xcalloc(flat->count, sizeof *own);
  bool *covered = xcalloc(run->tree->count, sizeof *covered);
  work_of_functions(run, flat, work, own);
  for (uint32_t i = 0; i < *count; i++)
    own[found[i] - flat->rows] = 0;
  while (*count < CANDIDATES_MAX) {
    uint32_t best = 0;
    for (uint32_t row = 1; row < flat->count; row++)
      if (own[row] > own[best])
        best = row;
    if (own[best] <= (double)run->profile->workspan.work / 100)
      break;
    if (own[best] >= inclusive_work(run, &flat->rows[best], work, covered) / 2)
      found[(*count)++] = &flat->rows[best];
    own[best] = 0;
  }
  free(work);
  free(own);
  free(covered);
}

/* Returns the part of the span that two candidates have in common, which is all of its part for a candidate with
 * itself. */
static double common_part(const struct whatif_run *run, const double *one, const double *other)
{
  double sum = 0;
  for (uint32_t i = 0; i < run->profile->contexts.shares_count; i++)
    sum += one[i] > 1 && other[i] > 1 ? (double)run->profile->contexts.shares[i].amount : 0;
  return sum;
}

/* Removes candidates whose part of the span is nearly all below another candidate with a larger part.  all: scratch
 * memory for the factors of each candidate. */
static void drop_nested(const struct whatif_run *run, const struct tree_row *found[CANDIDATES_MAX], uint32_t *count,
                        double *all)
{
  assert(*count <= CANDIDATES_MAX);
  size_t width = run->profile->contexts.shares_count;
  bool nested[CANDIDATES_MAX] = {false};
  for (uint32_t i = 0; i < *count; i++) {
    struct target target = {.flat = found[i], .factor = WHATIF_FACTOR};
    factors_of_path(run, &target, 1, all + i * width);
  }
  for (uint32_t i = 0; i < *count; i++)
    for (uint32_t j = 0; j < *count; j++) {
      double own = common_part(run, all + i * width, all + i * width),
             more = common_part(run, all + j * width, all + j * width);
      if (own < more && common_part(run, all + i * width, all + j * width) >= 0.95 * own)
        nested[i] = true;
    }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < *count; i++)
    if (!nested[i])
      found[kept++] = found[i];
  *count = kept;
}

/* Fills the row of one or two candidates.  factors[] is scratch memory. */
static void add_row(const struct whatif_run *run, const struct tree_row *one, const struct tree_row *other,
                    double *factors, struct whatif_row *row)
{
  assert(one != other);
  struct target targets[2];
  uint32_t count = targets_of_functions(one, other, targets);
  double selected;
  char *text = other ? xasprintf("%s,%s", one->name, other->name) : xstrdup(one->name);
  *row = (struct whatif_row){.selector = names_own(run->names, text),
                             .factor = WHATIF_FACTOR,
                             .note = best_case_note(run),
                             .one = one,
                             .other = other};
  factors_of_path(run, targets, count, factors);
  set_bounds(run, shortened_span(run, factors, &selected), row);
}

void whatif_rank(const struct whatif_run *run, const struct tree *flat, const struct tree_columns *columns,
                 const struct context_share *shares, uint32_t shares_count, struct whatif *whatif)
{
  const struct tree_row *candidates[CANDIDATES_MAX];
  uint32_t count = find_candidates(flat, columns->critical, candidates); /* none of a column that is not there */
  double *factors = xcalloc((size_t)run->profile->contexts.shares_count * CANDIDATES_MAX, sizeof *factors);
  *whatif = (struct whatif){.rows = xcalloc(CANDIDATES_MAX + CANDIDATES_MAX * CANDIDATES_MAX, sizeof *whatif->rows),
                            .automatic = true};
  drop_nested(run, candidates, &count, factors);
  if (shares_count)
    add_by_work(run, flat, shares, shares_count, candidates, &count);
  for (uint32_t i = 0; i < count; i++)
    add_row(run, candidates[i], NULL, factors, &whatif->rows[whatif->count++]);
  whatif->singles = whatif->count;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = i + 1; j < count; j++)
      add_row(run, candidates[i], candidates[j], factors, &whatif->rows[whatif->count++]);
  free(factors);
}

ORDER(by_span, struct whatif_row, COMPARE(x->span, y->span) ?: strcmp(x->selector, y->selector))

/* Returns the smallest span if only one function of the pair runs faster. */
static double best_single(const struct whatif *whatif, const struct whatif_row *pair)
{
  double span = INFINITY;
  for (uint32_t i = 0; i < whatif->singles; i++)
    if (whatif->rows[i].one == pair->one || whatif->rows[i].one == pair->other)
      span = MIN(span, whatif->rows[i].span);
  return span;
}

/* Removes functions that gain nothing, and pairs that gain no more than one of their functions.  Pairs come first,
 * because they are compared with the rows of single functions. */
static void drop_useless(struct whatif *whatif, double span)
{
  assert(whatif->singles <= whatif->count);
  const double enough = 1 - 1e-9; /* smaller gains are rounding */
  uint32_t singles = 0, count = whatif->singles;
  for (uint32_t i = whatif->singles; i < whatif->count; i++) {
    double single = best_single(whatif, &whatif->rows[i]);
    if (whatif->rows[i].span < MIN(single, span) * enough)
      whatif->rows[count++] = whatif->rows[i];
  }
  for (uint32_t i = 0; i < whatif->singles; i++)
    if (whatif->rows[i].span < span * enough)
      whatif->rows[singles++] = whatif->rows[i];
  memmove(whatif->rows + singles, whatif->rows + whatif->singles, (count - whatif->singles) * sizeof *whatif->rows);
  whatif->count = singles + count - whatif->singles;
  whatif->singles = singles;
}

void whatif_choose(const struct whatif_run *run, struct whatif *whatif)
{
  drop_useless(whatif, (double)run->profile->workspan.span);
  uint32_t singles = whatif->singles, pairs = whatif->count - singles;
  if (!whatif->count)
    return;
  qsort(whatif->rows, singles, sizeof *whatif->rows, by_span);
  qsort(whatif->rows + singles, pairs, sizeof *whatif->rows, by_span);
  whatif->singles = MIN(singles, WHATIF_SINGLES);
  pairs = MIN(pairs, WHATIF_PAIRS);
  memmove(whatif->rows + whatif->singles, whatif->rows + singles, pairs * sizeof *whatif->rows);
  whatif->count = whatif->singles + pairs;
  for (uint32_t i = 0; i < whatif->count; i++)
    whatif->rows[i].scenario = i + 1;
}

/* ---- with a recorded graph ---- */

/* Whether a function is selected.  An outlined function is also selected by the function that contains its construct.
 */
static bool selects_function(const struct whatif_run *run, const struct target *target, uint32_t number)
{
  assert(number < run->names->functions_count);
  const struct names_function *function = &run->names->functions[number];
  const char *origin = function->origin == MODEL_NONE ? "" : run->names->functions[function->origin].name;
  if (target->flat) {
    const struct tree_row *flat = target->flat;
    bool inside = flat->kind == ROW_FUNCTION && *origin && flat->module == function->module;
    return flat->function == number || (inside && !strcmp(flat->name, origin));
  }
  struct tree_row row = {.kind = ROW_FUNCTION, .function = number, .name = function->name, .file = ""};
  struct tree_row outer = {.kind = ROW_FUNCTION, .function = MODEL_NONE, .name = origin, .file = ""};
  return selector_matches(run->names, target->selector, &row) ||
         (*origin && selector_matches(run->names, target->selector, &outer));
}

/* Whether everything in the instances of a directive is selected: by what it is, because it is in the selected
 * function, or it is called from the selected lines. */
static bool selects_directive(const struct whatif_run *run, const struct target *target, uint32_t number)
{
  assert(number < run->profile->workspan.directives_count);
  const struct profile_directive *directive = &run->profile->workspan.directives[number];
  uint32_t address = run->names->directive_at[number];
  bool lines = target->selector && target->selector->is_lines;
  if (selects_kind(run, target, number))
    return true;
  if (address == MODEL_NONE ||
      (target->selector && (target->selector->is_id || target->selector->is_region || target->selector->copy_kind)))
    return false;
  const struct names_address *steps = &run->names->addresses[address];
  for (uint32_t i = 0; i < steps->count; i++) {
    const struct names_frame *step = &run->names->frames[steps->first + i];
    bool selected;
    if (lines)
      selected =
          construct_is_outlined(directive->kind) && selector_matches_line(target->selector, step->file, step->line);
    else
      selected = selects_function(run, target, step->function);
    if (selected)
      return true;
  }
  return false;
}

void whatif_select(const struct whatif_run *run, const struct whatif_row *row, const struct context_share *shares,
                   uint32_t count, double *factors, double *directives)
{
  assert(row->scenario_given || row->one);
  struct target targets[SCENARIO_TERMS];
  uint32_t terms;
  if (row->scenario_given) {
    terms = row->scenario_given->count;
    targets_of_scenario(row->scenario_given, targets);
  } else {
    terms = targets_of_functions(row->one, row->other, targets);
  }
  for (uint32_t i = 0; i < run->profile->workspan.directives_count; i++) {
    directives[i] = 1;
    for (uint32_t j = 0; j < terms; j++)
      if (selects_directive(run, &targets[j], i))
        raise_to(&directives[i], targets[j].factor);
  }
  factors_of_shares(run, targets, terms, shares, count, factors);
}

static double largest_factor(const struct whatif_row *row)
{
  double factor = row->scenario_given ? 1 : WHATIF_FACTOR;
  for (uint32_t i = 0; row->scenario_given && i < row->scenario_given->count; i++)
    raise_to(&factor, row->scenario_given->terms[i].factor);
  return factor;
}

void whatif_enter(const struct whatif_run *run, const struct whatif_replayed *replayed, struct whatif_row *row)
{
  double share = 1 - 1 / largest_factor(row), error = 0, span = (double)run->profile->workspan.span;
  double selected = share > 0 ? replayed->removed / share : 0;
  if (selected > 0 && selected < replayed->sampled) {
    double samples = replayed->per_sample > 0 ? selected / replayed->per_sample : 1;
    error = 2 * replayed->removed * sqrt((1 - selected / replayed->sampled) / MAX(samples, 1));
  }
  row->span = replayed->differs ? replayed->span : MIN(replayed->span, span); /* the measured span is rounded */
  row->span_low = MAX(row->span - error, 0);
  row->span_high = row->span + error;
  if (row->span_high > span && span >= row->span)
    row->span_high = span;
  row->exact = !replayed->by_sample && !replayed->unplaced && !run->profile->span_unseen_calls;
  row->note = row->exact ? exact : estimate;
  if (replayed->unplaced)
    row->note = unplaced;
  if (run->profile->span_unseen_calls)
    row->note = unseen;
  if (replayed->differs)
    row->note = doubtful;
}

void whatif_release(struct whatif *whatif)
{
  free(whatif->rows);
  *whatif = (struct whatif){0};
}
