#include "hpcprof-lite/analysis/whatif.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 8 };

static const char best_case[] = "best case: another path may become critical; work unchanged";
static const char off_path[] = "not on the critical path: no gain; work unchanged";

/* One thing that runs faster: what a selector names, or a function of the flat view. */
struct faster {
  const struct view_selector *selector;
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
    return view_same_function(&run->tree->rows[row], faster->flat);
  return view_selects(run->names, faster->selector, &run->tree->rows[row]);
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
static bool selects_context(const struct whatif_run *run, const struct view_selector *selector, uint32_t node)
{
  uint32_t address = run->names->address_of[node];
  if (address == PROFILE_NONE)
    return false;
  const struct names_address *steps = &run->names->addresses[address];
  for (uint32_t i = 0; i < steps->count; i++) {
    const struct names_step *step = &run->names->steps[steps->first + i];
    if (view_selects_line(selector, step->file, step->line))
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
  const struct profile_directive *region = &run->profile->graph.directives[directive];
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
  for (uint32_t i = 0; i < run->profile->graph.directives_count; i++)
    for (uint32_t j = 0; j < count; j++)
      faster[j].matched = faster[j].matched || selects_region(run, &faster[j], i);
}

/* Sets the factor of each part of the span. */
static int find_factors(const struct whatif_run *run, struct faster *faster, uint32_t count, double *factors)
{
  const struct contexts *contexts = &run->profile->contexts;
  double *rows = calloc(run->tree->count, sizeof *rows), *nodes = calloc(contexts->count, sizeof *nodes);
  int status = rows && nodes ? 0 : ERR_NOMEM;
  if (!status) {
    find_rows(run, faster, count, rows);
    find_lines(run, faster, count, nodes);
    match_regions(run, faster, count);
  }
  for (uint32_t i = 0; i < contexts->shares_count && !status; i++) {
    const struct profile_share *share = &contexts->shares[i];
    bool placed = share->context != PROFILE_NONE;
    uint32_t row = run->row_of[placed ? share->context : contexts->count + share->directive];
    factors[i] = region_factor(run, faster, count, share->directive);
    if (placed)
      lift(&factors[i], nodes[share->context]);
    if (row != PROFILE_NONE)
      lift(&factors[i], rows[row]);
  }
  free(rows);
  free(nodes);
  return status;
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

int whatif_factors(const struct whatif_run *run, const struct scenario *scenario, double *factors,
                   const char **unmatched)
{
  struct faster faster[SCENARIO_TERMS];
  for (uint32_t i = 0; i < scenario->count; i++)
    faster[i] = (struct faster){.selector = &scenario->terms[i].selector, .factor = scenario->terms[i].factor};
  *unmatched = NULL;
  if (find_factors(run, faster, scenario->count, factors))
    return ERR_NOMEM;
  for (uint32_t i = scenario->count; i-- > 0;)
    if (!faster[i].matched)
      *unmatched = scenario->terms[i].text;
  return 0;
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
    row->span_low = shorten(run, factors, &selected);
    row->note = selected > 0 ? best_case : off_path;
    status = *unmatched ? ERR_INPUT : 0;
  }
  free(factors);
  return status;
}

/* The functions that come into question, those with most of the path of their own first.  Returns their number. */
static uint32_t find_candidates(const struct tree *flat, uint32_t column, const struct tree_row *found[CANDIDATES])
{
  uint64_t span = tree_incl(flat, 0, column), own[CANDIDATES];
  uint32_t count = 0;
  for (uint32_t row = flat->rows[0].first_child; row != PROFILE_NONE; row = flat->rows[row].next) {
    uint64_t excl = tree_excl(flat, row, column), incl = tree_incl(flat, row, column);
    enum tree_kind kind = flat->rows[row].kind;
    bool code = kind == ROW_FUNCTION || kind == ROW_PARALLEL || kind == ROW_TASK;
    if (!code || !excl || excl < span / 100 || excl < incl / 2)
      continue;
    uint32_t place = count;
    while (place && own[place - 1] < excl)
      place--;
    if (place == CANDIDATES)
      continue;
    count += count < CANDIDATES;
    for (uint32_t i = count - 1; i > place; i--) {
      found[i] = found[i - 1];
      own[i] = own[i - 1];
    }
    found[place] = &flat->rows[row];
    own[place] = excl;
  }
  return count;
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
    if (find_factors(run, &faster, 1, all + i * width))
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
  if (x->span_low != y->span_low)
    return x->span_low < y->span_low ? -1 : 1;
  return strcmp(x->selector, y->selector);
}

/* The row for one or two candidates that run faster. */
static int try_candidates(const struct whatif_run *run, const struct tree_row *one, const struct tree_row *other,
                          double *factors, struct whatif_row *row)
{
  struct faster faster[] = {{.flat = one, .factor = WHATIF_FACTOR}, {.flat = other, .factor = WHATIF_FACTOR}};
  char *text;
  double selected;
  if (asprintf(&text, "%s%s%s", one->name, other ? "," : "", other ? other->name : "") < 0)
    return ERR_NOMEM;
  *row = (struct whatif_row){.selector = names_own(run->names, text), .factor = WHATIF_FACTOR, .note = best_case};
  if (!row->selector || find_factors(run, faster, other ? 2 : 1, factors))
    return ERR_NOMEM;
  row->span_low = shorten(run, factors, &selected);
  return 0;
}

/* Sorts the rows from `first` on and keeps the best. */
static void keep_best(struct whatif *whatif, uint32_t first, uint32_t most)
{
  qsort(whatif->rows + first, whatif->count - first, sizeof *whatif->rows, by_span);
  if (whatif->count - first > most)
    whatif->count = first + most;
}

int whatif_rank(const struct whatif_run *run, const struct tree *flat, const struct tree_columns *columns,
                struct whatif *whatif)
{
  const struct tree_row *candidates[CANDIDATES];
  uint32_t count = columns->critical == PROFILE_NONE ? 0 : find_candidates(flat, columns->critical, candidates);
  double *factors = calloc(((size_t)run->profile->contexts.shares_count + 1) * CANDIDATES, sizeof *factors);
  *whatif =
      (struct whatif){.rows = calloc(CANDIDATES + CANDIDATES * CANDIDATES, sizeof *whatif->rows), .automatic = true};
  int status = factors && whatif->rows ? drop_nested(run, candidates, &count, factors) : ERR_NOMEM;
  for (uint32_t i = 0; i < count && !status; i++)
    status = try_candidates(run, candidates[i], NULL, factors, &whatif->rows[whatif->count++]);
  if (!status)
    keep_best(whatif, 0, WHATIF_SINGLES);
  uint32_t singles = whatif->count;
  for (uint32_t i = 0; i < count && !status; i++)
    for (uint32_t j = i + 1; j < count && !status; j++)
      status = try_candidates(run, candidates[i], candidates[j], factors, &whatif->rows[whatif->count++]);
  if (!status)
    keep_best(whatif, singles, WHATIF_PAIRS);
  for (uint32_t i = 0; i < whatif->count; i++)
    whatif->rows[i].scenario = i + 1;
  free(factors);
  return status;
}

void whatif_release(struct whatif *whatif)
{
  free(whatif->rows);
  *whatif = (struct whatif){0};
}
