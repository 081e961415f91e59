#include "hpcprof-lite/analysis/whatif.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ON_PATH = 6, CANDIDATES = 9 }; /* pairs and singles of them fit into one replay */

static const char best_case[] = "best case: another path may become critical; work unchanged";
static const char exact[] = "from the log: exact; work unchanged";
static const char estimate[] = "from the log: by samples, low and high are 2 sigma apart from it; work unchanged";
static const char doubtful[] = "from the log, which differs from the measurement; work unchanged";
static const char off_path[] = "not on the critical path: no gain; work unchanged";

/* One thing that runs faster: what a selector names, or a function of the flat view. */
struct faster {
  const struct selector *selector;
  const struct tree_row *flat;
  double factor;
  bool matched;
};

static void lift(double *place, double value)
{
  *place = value > *place ? value : *place;
}

static bool selects_row(const struct whatif_run *run, const struct faster *faster, uint32_t row)
{
  if (faster->flat)
    return tree_same_function(&run->tree->rows[row], faster->flat);
  return selector_matches(run->names, faster->selector, &run->tree->rows[row]);
}

/* Factors of the tree's rows, and of what stands below them. */
static void find_rows(const struct whatif_run *run, struct faster *faster, uint32_t count, double *rows)
{
  for (uint32_t i = 0; i < run->tree->count; i++) {
    uint32_t row = run->tree->order[i];
    rows[row] = row ? rows[run->tree->rows[row].parent] : 1;
    for (uint32_t j = 0; j < count; j++) {
      if (!selects_row(run, &faster[j], row))
        continue;
      faster[j].matched = true;
      lift(&rows[row], faster[j].factor);
    }
  }
}

/* Whether a context's code, or the place where it calls, is in the selected lines. */
static bool selects_context(const struct whatif_run *run, const struct selector *selector, uint32_t node)
{
  uint32_t address = run->names->address_of[node];
  if (address == PROFILE_NONE)
    return false;
  const struct names_address *steps = &run->names->addresses[address];
  for (uint32_t i = 0; i < steps->count; i++) {
    const struct names_step *step = &run->names->steps[steps->first + i];
    if (selector_matches_line(selector, step->file, step->line))
      return true;
  }
  return false;
}

/* Factors of contexts whose lines are selected, and of what stands below them. */
static void find_lines(const struct whatif_run *run, struct faster *faster, uint32_t count, double *nodes)
{
  const struct contexts *contexts = &run->profile->contexts;
  nodes[0] = 1;
  for (uint32_t node = 1; node < contexts->count; node++) {
    nodes[node] = nodes[contexts->nodes[node].parent];
    for (uint32_t j = 0; j < count; j++) {
      if (!faster[j].selector || !faster[j].selector->is_lines || !selects_context(run, faster[j].selector, node))
        continue;
      faster[j].matched = true;
      lift(&nodes[node], faster[j].factor);
    }
  }
}

/* Whether a directive is a user region of that name. */
static bool selects_region(const struct whatif_run *run, const struct faster *faster, uint32_t directive)
{
  const struct profile_directive *region = &run->profile->workspan.directives[directive];
  return region->kind == DIRECTIVE_USER_REGION && faster->selector && faster->selector->is_region &&
         !strcmp(faster->selector->text + 1, region->name);
}

static double region_factor(const struct whatif_run *run, const struct faster *faster, uint32_t count,
                            uint32_t directive)
{
  double factor = 1;
  for (uint32_t j = 0; j < count; j++)
    if (selects_region(run, &faster[j], directive))
      lift(&factor, faster[j].factor);
  return factor;
}

static void match_regions(const struct whatif_run *run, struct faster *faster, uint32_t count)
{
  for (uint32_t i = 0; i < run->profile->workspan.directives_count; i++)
    for (uint32_t j = 0; j < count; j++)
      faster[j].matched = faster[j].matched || selects_region(run, &faster[j], i);
}

/* Sets the factor of each part. */
static int find_factors(const struct whatif_run *run, struct faster *faster, uint32_t count,
                        const struct profile_share *shares, uint32_t shares_count, double *factors)
{
  const struct contexts *contexts = &run->profile->contexts;
  double *rows = calloc(run->tree->count, sizeof *rows), *nodes = calloc(contexts->count, sizeof *nodes);
  int status = rows && nodes ? 0 : ERR_NOMEM;
  if (!status) {
    find_rows(run, faster, count, rows);
    find_lines(run, faster, count, nodes);
    match_regions(run, faster, count);
  }
  for (uint32_t i = 0; i < shares_count && !status; i++) {
    const struct profile_share *share = &shares[i];
    bool placed = share->context != PROFILE_NONE;
    uint32_t row = run->row_of[placed ? share->context : contexts->count + share->directive];
    factors[i] = region_factor(run, faster, count, share->directive);
    if (placed)
      lift(&factors[i], nodes[share->context]);
    lift(&factors[i], rows[row == PROFILE_NONE ? 0 : row]); /* what has no row is somewhere below the root */
  }
  free(rows);
  free(nodes);
  return status;
}

/* Of the parts of the span. */
static int find_on_path(const struct whatif_run *run, struct faster *faster, uint32_t count, double *factors)
{
  const struct contexts *contexts = &run->profile->contexts;
  return find_factors(run, faster, count, contexts->shares, contexts->shares_count, factors);
}

/* The span at best, and the part of it that was selected. */
static double shorten(const struct whatif_run *run, const double *factors, double *selected)
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

static void take_terms(const struct scenario *scenario, struct faster faster[SCENARIO_TERMS])
{
  for (uint32_t i = 0; i < scenario->count; i++)
    faster[i] = (struct faster){.selector = &scenario->terms[i].selector, .factor = scenario->terms[i].factor};
}

int whatif_factors(const struct whatif_run *run, const struct scenario *scenario, double *factors,
                   const char **unmatched)
{
  struct faster faster[SCENARIO_TERMS];
  take_terms(scenario, faster);
  *unmatched = NULL;
  if (find_on_path(run, faster, scenario->count, factors))
    return ERR_NOMEM;
  for (uint32_t i = scenario->count; i-- > 0;)
    if (!faster[i].matched)
      *unmatched = scenario->terms[i].text;
  return 0;
}

/* From a run whose graph was not recorded: the best case, and that nothing is gained. */
static void set_bounds(const struct whatif_run *run, double span, struct whatif_row *row)
{
  row->span = row->span_low = span;
  row->span_high = (double)run->profile->workspan.span;
}

static double *new_factors(const struct whatif_run *run)
{
  return calloc((size_t)run->profile->contexts.shares_count + 1, sizeof(double));
}

/* "f,g"; where their factors differ "f=2,g=16". */
static int name_row(const struct whatif_run *run, const struct scenario *scenario, struct whatif_row *row)
{
  char *selector = strdup("");
  bool several = false;
  for (uint32_t i = 1; i < scenario->count; i++)
    several = several || scenario->terms[i].factor != scenario->terms[0].factor;
  for (uint32_t i = 0; i < scenario->count && selector; i++) {
    const struct scenario_term *term = &scenario->terms[i];
    char factor[32] = "", *longer = NULL;
    if (several)
      snprintf(factor, sizeof factor, "=%g", term->factor);
    int length = asprintf(&longer, "%s%s%s%s", selector, i ? "," : "", term->text, factor);
    free(selector);
    selector = length < 0 ? NULL : longer;
  }
  row->selector = names_own(run->names, selector);
  row->factor = several ? 0 : scenario->terms[0].factor;
  return row->selector ? 0 : ERR_NOMEM;
}

int whatif_compute(const struct whatif_run *run, const struct scenario *scenarios, uint32_t count,
                   struct whatif *whatif, const char **unmatched)
{
  double *factors = new_factors(run), selected;
  *whatif = (struct whatif){.rows = calloc((size_t)count + 1, sizeof *whatif->rows)};
  *unmatched = NULL;
  int status = factors && whatif->rows ? 0 : ERR_NOMEM;
  for (uint32_t i = 0; i < count && !status; i++) {
    struct whatif_row *row = &whatif->rows[whatif->count++];
    row->scenario = i + 1;
    status = name_row(run, &scenarios[i], row);
    if (!status)
      status = whatif_factors(run, &scenarios[i], factors, unmatched);
    if (status)
      break;
    row->asked = &scenarios[i];
    set_bounds(run, shorten(run, factors, &selected), row);
    row->note = selected > 0 ? best_case : off_path;
    status = *unmatched ? ERR_INPUT : 0;
  }
  free(factors);
  return status;
}

static bool is_code(const struct tree_row *row)
{
  return row->kind == ROW_FUNCTION || row->kind == ROW_PARALLEL || row->kind == ROW_TASK;
}

/* The functions that come into question, those with most of the path of their own first.  Returns their number. */
static uint32_t find_candidates(const struct tree *flat, uint32_t column, const struct tree_row *found[CANDIDATES])
{
  uint64_t span = tree_incl(flat, 0, column), own[ON_PATH];
  uint32_t count = 0;
  for (uint32_t row = flat->rows[0].first_child; row != PROFILE_NONE; row = flat->rows[row].next) {
    uint64_t excl = tree_excl(flat, row, column), incl = tree_incl(flat, row, column);
    if (!is_code(&flat->rows[row]) || !excl || excl < span / 100 || excl < incl / 2)
      continue;
    uint32_t place = count;
    while (place && own[place - 1] < excl)
      place--;
    if (place == ON_PATH)
      continue;
    count += count < ON_PATH;
    for (uint32_t i = count - 1; i > place; i--) {
      found[i] = found[i - 1];
      own[i] = own[i - 1];
    }
    found[place] = &flat->rows[row];
    own[place] = excl;
  }
  return count;
}

/* Work of the tree's rows, by the parts of a recorded graph; that of lines is their function's. */
static double *work_of_rows(const struct whatif_run *run, const struct profile_share *shares, uint32_t count)
{
  double *work = calloc((size_t)run->tree->count + 1, sizeof *work);
  for (uint32_t i = 0; work && i < count; i++) {
    uint32_t row = shares[i].context == PROFILE_NONE ? PROFILE_NONE : run->row_of[shares[i].context];
    if (row != PROFILE_NONE && run->tree->rows[row].kind == ROW_LINE)
      row = run->tree->rows[row].parent;
    if (row != PROFILE_NONE)
      work[row] += (double)shares[i].amount;
  }
  return work;
}

/* Work of a function's rows with all below them. */
static double work_below(const struct whatif_run *run, const struct tree_row *flat, const double *work, bool *covered)
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

/* Of each row of the flat view, its own work. */
static void work_of_functions(const struct whatif_run *run, const struct tree *flat, const double *work, double *own)
{
  for (uint32_t i = 0; i < run->tree->count; i++) {
    uint32_t row = work[i] > 0 ? flat->rows[0].first_child : PROFILE_NONE;
    while (row != PROFILE_NONE && !tree_same_function(&run->tree->rows[i], &flat->rows[row]))
      row = flat->rows[row].next;
    if (row != PROFILE_NONE && is_code(&flat->rows[row]))
      own[row] += work[i];
  }
}

/* Adds the functions with most work of their own in a recorded graph: off the path they gain nothing alone, but may be
 * in the way of others.  At least 1 % of all, and half of what they do with all they call. */
static int add_workers(const struct whatif_run *run, const struct tree *flat, const struct profile_share *shares,
                       uint32_t shares_count, const struct tree_row *found[CANDIDATES], uint32_t *count)
{
  double *work = work_of_rows(run, shares, shares_count), *own = calloc((size_t)flat->count + 1, sizeof *own);
  bool *covered = calloc((size_t)run->tree->count + 1, sizeof *covered);
  int status = work && own && covered ? 0 : ERR_NOMEM;
  if (!status)
    work_of_functions(run, flat, work, own);
  for (uint32_t i = 0; i < *count && !status; i++)
    own[found[i] - flat->rows] = 0;
  while (*count < CANDIDATES && !status) {
    uint32_t best = 0;
    for (uint32_t row = 1; row < flat->count; row++)
      best = own[row] > own[best] ? row : best;
    if (own[best] <= (double)run->profile->workspan.work / 100)
      break;
    if (own[best] >= work_below(run, &flat->rows[best], work, covered) / 2)
      found[(*count)++] = &flat->rows[best];
    own[best] = 0;
  }
  free(work);
  free(own);
  free(covered);
  return status;
}

/* Part of the span that two candidates have in common; of one, its own. */
static double common(const struct whatif_run *run, const double *one, const double *other)
{
  double sum = 0;
  for (uint32_t i = 0; i < run->profile->contexts.shares_count; i++)
    sum += one[i] > 1 && other[i] > 1 ? (double)run->profile->contexts.shares[i].amount : 0;
  return sum;
}

/* Leaves out candidates that hardly run but below another one that has more.  all: count x parts of the span. */
static int drop_nested(const struct whatif_run *run, const struct tree_row *found[CANDIDATES], uint32_t *count,
                       double *all)
{
  size_t width = (size_t)run->profile->contexts.shares_count + 1;
  bool nested[CANDIDATES] = {false};
  for (uint32_t i = 0; i < *count; i++) {
    struct faster faster = {.flat = found[i], .factor = WHATIF_FACTOR};
    if (find_on_path(run, &faster, 1, all + i * width))
      return ERR_NOMEM;
  }
  for (uint32_t i = 0; i < *count; i++)
    for (uint32_t j = 0; j < *count; j++) {
      double own = common(run, all + i * width, all + i * width), more = common(run, all + j * width, all + j * width);
      if (own < more && common(run, all + i * width, all + j * width) >= 0.95 * own)
        nested[i] = true;
    }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < *count; i++)
    if (!nested[i])
      found[kept++] = found[i];
  *count = kept;
  return 0;
}

static int by_span(const void *a, const void *b)
{
  const struct whatif_row *x = a, *y = b;
  if (x->span != y->span)
    return x->span < y->span ? -1 : 1;
  return strcmp(x->selector, y->selector);
}

/* One or two functions that run faster; how many. */
static uint32_t take_functions(const struct tree_row *one, const struct tree_row *other, struct faster faster[2])
{
  faster[0] = (struct faster){.flat = one, .factor = WHATIF_FACTOR};
  faster[1] = (struct faster){.flat = other, .factor = WHATIF_FACTOR};
  return other ? 2 : 1;
}

/* The row for one or two candidates that run faster. */
static int try_candidates(const struct whatif_run *run, const struct tree_row *one, const struct tree_row *other,
                          double *factors, struct whatif_row *row)
{
  struct faster faster[2];
  uint32_t count = take_functions(one, other, faster);
  char *text;
  double selected;
  if (asprintf(&text, "%s%s%s", one->name, other ? "," : "", other ? other->name : "") < 0)
    return ERR_NOMEM;
  *row = (struct whatif_row){
      .selector = names_own(run->names, text), .factor = WHATIF_FACTOR, .note = best_case, .one = one, .other = other};
  if (!row->selector || find_on_path(run, faster, count, factors))
    return ERR_NOMEM;
  set_bounds(run, shorten(run, factors, &selected), row);
  return 0;
}

/* The span with the one function faster that is in the pair; the smaller, with two. */
static double best_single(const struct whatif *whatif, const struct whatif_row *pair)
{
  double span = INFINITY;
  for (uint32_t i = 0; i < whatif->singles; i++)
    if (whatif->rows[i].one == pair->one || whatif->rows[i].one == pair->other)
      span = whatif->rows[i].span < span ? whatif->rows[i].span : span;
  return span;
}

/* Leaves out what gains nothing: pairs that are no better than one of the two.  Pairs go first: they look at singles.
 */
static void drop_useless(struct whatif *whatif, double span)
{
  const double enough = 1 - 1e-9;
  uint32_t singles = 0, count = whatif->singles;
  for (uint32_t i = whatif->singles; i < whatif->count; i++) {
    double before = best_single(whatif, &whatif->rows[i]);
    if (whatif->rows[i].span < (before < span ? before : span) * enough)
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
  whatif->singles = singles < WHATIF_SINGLES ? singles : WHATIF_SINGLES;
  pairs = pairs < WHATIF_PAIRS ? pairs : WHATIF_PAIRS;
  memmove(whatif->rows + whatif->singles, whatif->rows + singles, pairs * sizeof *whatif->rows);
  whatif->count = whatif->singles + pairs;
  for (uint32_t i = 0; i < whatif->count; i++)
    whatif->rows[i].scenario = i + 1;
}

int whatif_rank(const struct whatif_run *run, const struct tree *flat, const struct tree_columns *columns,
                const struct profile_share *shares, uint32_t shares_count, struct whatif *whatif)
{
  const struct tree_row *candidates[CANDIDATES];
  uint32_t count = columns->critical == PROFILE_NONE ? 0 : find_candidates(flat, columns->critical, candidates);
  double *factors = calloc(((size_t)run->profile->contexts.shares_count + 1) * CANDIDATES, sizeof *factors);
  *whatif =
      (struct whatif){.rows = calloc(CANDIDATES + CANDIDATES * CANDIDATES, sizeof *whatif->rows), .automatic = true};
  int status = factors && whatif->rows ? drop_nested(run, candidates, &count, factors) : ERR_NOMEM;
  if (!status && shares_count)
    status = add_workers(run, flat, shares, shares_count, candidates, &count);
  for (uint32_t i = 0; i < count && !status; i++)
    status = try_candidates(run, candidates[i], NULL, factors, &whatif->rows[whatif->count++]);
  whatif->singles = whatif->count;
  for (uint32_t i = 0; i < count && !status; i++)
    for (uint32_t j = i + 1; j < count && !status; j++)
      status = try_candidates(run, candidates[i], candidates[j], factors, &whatif->rows[whatif->count++]);
  free(factors);
  return status;
}

/* ---- with the recorded graph ---- */

/* Whether all that a construct does is called from the place that begins it. */
static bool is_called(uint32_t kind)
{
  return kind == DIRECTIVE_PARALLEL || kind == DIRECTIVE_TEAMS || kind == DIRECTIVE_TASK || kind == DIRECTIVE_TASKLOOP;
}

/* Whether a function is selected; one that was made out of a construct also by the function around that. */
static bool selects_function(const struct whatif_run *run, const struct faster *faster, uint32_t number)
{
  const struct names_function *function = &run->names->functions[number];
  const char *origin = run->names->functions[number].origin;
  if (faster->flat) {
    const struct tree_row *flat = faster->flat;
    bool inside = flat->kind == ROW_FUNCTION && *origin && flat->module == function->module;
    return flat->function == number || (inside && !strcmp(flat->name, origin));
  }
  struct tree_row row = {.kind = ROW_FUNCTION, .function = number, .name = function->name, .file = ""};
  struct tree_row outer = {.kind = ROW_FUNCTION, .function = PROFILE_NONE, .name = origin, .file = ""};
  return selector_matches(run->names, faster->selector, &row) ||
         (*origin && selector_matches(run->names, faster->selector, &outer));
}

/* Whether all that the instances of a directive do is selected: it is a user region of that name, it stands in that
 * function, or its call in those lines. */
static bool selects_directive(const struct whatif_run *run, const struct faster *faster, uint32_t number)
{
  const struct profile_directive *directive = &run->profile->workspan.directives[number];
  uint32_t address = run->names->directive_at[number];
  bool lines = faster->selector && faster->selector->is_lines;
  if (selects_region(run, faster, number))
    return true;
  if (address == PROFILE_NONE || (faster->selector && (faster->selector->is_id || faster->selector->is_region)))
    return false;
  const struct names_address *steps = &run->names->addresses[address];
  for (uint32_t i = 0; i < steps->count; i++) {
    const struct names_step *step = &run->names->steps[steps->first + i];
    if (lines ? is_called(directive->kind) && selector_matches_line(faster->selector, step->file, step->line)
              : selects_function(run, faster, step->function))
      return true;
  }
  return false;
}

int whatif_select(const struct whatif_run *run, const struct whatif_row *row, const struct profile_share *shares,
                  uint32_t count, double *factors, double *directives)
{
  struct faster faster[SCENARIO_TERMS];
  uint32_t terms = row->asked ? row->asked->count : take_functions(row->one, row->other, faster);
  if (row->asked)
    take_terms(row->asked, faster);
  for (uint32_t i = 0; i < run->profile->workspan.directives_count; i++) {
    directives[i] = 1;
    for (uint32_t j = 0; j < terms; j++)
      if (selects_directive(run, &faster[j], i))
        lift(&directives[i], faster[j].factor);
  }
  return find_factors(run, faster, terms, shares, count, factors);
}

static double largest_factor(const struct whatif_row *row)
{
  double factor = row->asked ? 1 : WHATIF_FACTOR;
  for (uint32_t i = 0; row->asked && i < row->asked->count; i++)
    lift(&factor, row->asked->terms[i].factor);
  return factor;
}

void whatif_enter(const struct whatif_run *run, const struct whatif_replayed *replayed, struct whatif_row *row)
{
  double share = 1 - 1 / largest_factor(row), error = 0, span = (double)run->profile->workspan.span;
  double selected = share > 0 ? replayed->removed / share : 0;
  if (selected > 0 && selected < replayed->sampled) {
    double samples = replayed->per_sample > 0 ? selected / replayed->per_sample : 1;
    error = 2 * replayed->removed * sqrt((1 - selected / replayed->sampled) / (samples > 1 ? samples : 1));
  }
  row->span = replayed->span > span && !replayed->differs ? span : replayed->span; /* the measured one is rounded */
  row->span_low = row->span > error ? row->span - error : 0;
  row->span_high = row->span + error;
  if (row->span_high > span && span >= row->span)
    row->span_high = span;
  row->exact = !replayed->by_sample;
  row->note = replayed->differs ? doubtful : replayed->by_sample ? estimate : exact;
}

void whatif_release(struct whatif *whatif)
{
  free(whatif->rows);
  *whatif = (struct whatif){0};
}
