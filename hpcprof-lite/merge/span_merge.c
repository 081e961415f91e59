#include "hpcprof-lite/merge/span_merge.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Whether the process counts towards the work and span of the run, which are in `unit`. */
static bool has_unit(const struct profile_process *process, const char *unit)
{
  return process->usable && process->workspan.known && !strcmp(process->workspan.unit, unit);
}

/* The process with the largest span, MODEL_NONE if none has one.  A span in time precedes one in another unit. */
static uint32_t find_leader(const struct profile *profile)
{
  uint32_t best = MODEL_NONE;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!process->usable || !process->workspan.known)
      continue;
    const struct profile_workspan *workspan = &process->workspan;
    const struct profile_workspan *most = best == MODEL_NONE ? NULL : &profile->processes[best].workspan;
    if (!most || workspan->is_time > most->is_time ||
        (workspan->is_time == most->is_time && workspan->span > most->span))
      best = i;
  }
  return best;
}

void span_leaders(const struct profile *profile, bool *leads)
{
  uint32_t best = find_leader(profile);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    const struct profile_workspan *workspan = &process->workspan;
    if (process->usable && workspan->known && process->number < profile->processes_count)
      leads[process->number] = workspan->is_time == profile->processes[best].workspan.is_time &&
                               workspan->span == profile->processes[best].workspan.span;
  }
}

/* A directive of a process, for sorting. */
struct key {
  const struct profile_directive *directive;
  bool counted;             /* it has figures in the run's unit */
  const uint32_t *rank;     /* of modules */
  uint32_t process, number; /* where it is: the process, the number there */
};

static uint32_t module_rank(const struct key *key)
{
  assert(key->rank);
  return key->directive->module == MODEL_NONE ? MODEL_NONE : key->rank[key->directive->module];
}

/* Orders directives by what identifies them: kind (the program first), module, offset, device, name. */
static int by_identity(const struct key *x, const struct key *y)
{
  const struct profile_directive *a = x->directive, *b = y->directive;
  if (a->kind != b->kind || a->kind == DIRECTIVE_PROGRAM)
    return COMPARE(a->kind, b->kind);
  return COMPARE(module_rank(x), module_rank(y)) ?: COMPARE(a->offset, b->offset) ?: COMPARE(a->device, b->device)
             ?: strcmp(a->name, b->name);
}

ORDER(by_key, struct key, by_identity(x, y) ?: COMPARE(x->process, y->process) ?: COMPARE(x->number, y->number))

/* Adds a directive to the last one of workspan, if it is the same, or appends it. */
static void add_directive(struct profile_workspan *workspan, const struct key *key, bool same)
{
  const struct profile_directive *from = key->directive;
  if (!same) {
    workspan->directives[workspan->directives_count++] = (struct profile_directive){.kind = from->kind,
                                                                                    .module = from->module,
                                                                                    .offset = from->offset,
                                                                                    .device = from->device,
                                                                                    .name = xstrdup(from->name)};
  }
  struct profile_directive *into = &workspan->directives[workspan->directives_count - 1];
  if (!key->counted)
    return;
  into->counted = 1;
  into->flags |= from->flags;
  model_add(&into->instances, from->instances);
  model_add(&into->work, from->work);
  model_add(&into->span, from->span);
  model_add(&into->device_time, from->device_time);
  model_add(&into->iterations, from->iterations);
  model_add(&into->light, from->light);
  model_add(&into->untimed, from->untimed);
  model_add(&into->early, from->early);
  model_add(&into->error_squares, from->error_squares);
  into->lock_bound = MAX(from->lock_bound, into->lock_bound);
}

/* Whether the directive is only the place of waits of a doacross loop, of a reduction, or of operations for a device
 * that are no copies.  In a part of a run, others have no instances either. */
static bool is_place_only(const struct profile *profile, const struct profile_directive *directive)
{
  bool exclusive = directive->kind == DIRECTIVE_ORDERED || directive->kind == DIRECTIVE_CRITICAL;
  if (construct_is_operation(directive->kind))
    return !construct_is_copy(directive->kind);
  return exclusive && !directive->instances && !profile->range.limited;
}

/* Lists the directives of all processes, sorted.  The caller frees the array. */
static struct key *sort_directives(const struct profile *profile, const uint32_t *rank, size_t *count)
{
  *count = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    *count += profile->processes[i].workspan.directives_count;
  struct key *keys = xcalloc(*count, sizeof *keys);
  size_t filled = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    bool counted = profile->workspan.known && has_unit(process, profile->workspan.unit);
    for (uint32_t j = 0; j < process->workspan.directives_count; j++) {
      const struct profile_directive *directive = &process->workspan.directives[j];
      keys[filled++] = (struct key){directive, counted && !is_place_only(profile, directive), rank, i, j};
    }
  }
  qsort(keys, *count, sizeof *keys, by_key);
  return keys;
}

/* Merges the directives; the directive_map of each process maps its own to the merged ones. */
static void merge_directives(struct profile *profile)
{
  assert(!profile->workspan.directives);
  struct profile_workspan *workspan = &profile->workspan;
  uint32_t *rank = xcalloc(profile->catalog.modules_count, sizeof *rank);
  catalog_module_rank(&profile->catalog, rank);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    struct profile_process *process = &profile->processes[i];
    process->directive_map = xcalloc((size_t)process->workspan.directives_count + 1, sizeof *process->directive_map);
  }
  size_t count;
  struct key *keys = sort_directives(profile, rank, &count);
  workspan->directives = xcalloc(count, sizeof *workspan->directives);
  for (size_t i = 0; i < count; i++) {
    add_directive(workspan, &keys[i], i && !by_identity(&keys[i - 1], &keys[i]));
    profile->processes[keys[i].process].directive_map[keys[i].number] = workspan->directives_count - 1;
  }
  free(keys);
  free(rank);
}

ORDER(by_context, struct context_share,
      COMPARE(x->directive, y->directive) ?: COMPARE(x->context, y->context) ?: COMPARE(x->position, y->position))

/* Keeps the shares of the chosen process, each directive and context once.  The shares of a directive are sorted by
 * context, whose numbers vary from one reading to the next; span_spread() sorts by position in the file. */
static void keep_shares(struct contexts *contexts, uint32_t owner, const uint32_t *map)
{
  struct context_share *shares = contexts->shares;
  uint32_t kept = 0, count = 0;
  for (uint32_t i = 0; i < contexts->shares_count; i++) {
    struct context_share share = shares[i];
    if (share.owner != owner)
      continue;
    share.directive = map[share.directive];
    shares[kept++] = share;
  }
  if (kept)
    qsort(shares, kept, sizeof *shares, by_context);
  for (uint32_t i = 0; i < kept; i++) {
    bool same =
        count && shares[count - 1].directive == shares[i].directive && shares[count - 1].context == shares[i].context;
    if (same)
      shares[count - 1].amount += shares[i].amount;
    else
      shares[count++] = shares[i];
  }
  contexts->shares_count = count;
}

/* Distributes an amount over shares in proportion to them.  The sum up to each share is rounded, so that the total is
 * exact.  False if all shares are 0. */
static bool distribute(struct context_share *shares, uint32_t count, uint64_t amount)
{
  assert(shares || !count);
  uint64_t total = 0, sum = 0, given = 0;
  for (uint32_t i = 0; i < count; i++)
    total += shares[i].amount;
  if (!total)
    return false;
  for (uint32_t i = 0; i < count; i++) {
    sum += shares[i].amount;
    uint64_t due = (uint64_t)((__uint128_t)amount * sum / total);
    shares[i].amount += due - given;
    given = due;
  }
  return true;
}

/* By directive and position in the file, shares without a context last. */
ORDER(by_position, struct context_share,
      COMPARE(x->directive, y->directive)
          ?: COMPARE(x->context == MODEL_NONE, y->context == MODEL_NONE) ?: COMPARE(x->position, y->position))

void span_spread(struct context_share *shares, uint32_t *count)
{
  uint32_t kept = 0, first = 0;
  if (*count)
    qsort(shares, *count, sizeof *shares, by_position);
  for (uint32_t i = 0; i < *count; i++) {
    if (i && shares[i].directive != shares[i - 1].directive)
      first = kept;
    struct context_share share = shares[i];
    if (share.context != MODEL_NONE || !distribute(&shares[first], kept - first, share.amount))
      shares[kept++] = share;
  }
  *count = kept;
}

void span_elapsed(struct profile *profile)
{
  uint64_t begin = UINT64_MAX, end = 0;
  double wall = 0, paused = 0;
  if (!profile->workspan.known)
    return;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!has_unit(process, profile->workspan.unit))
      continue;
    begin = MIN(process->start_ns, begin);
    end = MAX(profile_end_ns(process), end);
    wall += (double)process->wall_ns;
    paused += (double)process->paused_ns;
  }
  if (profile->range.limited) {
    begin = MAX(begin, model_sum(profile->range.begin_ns, profile->range.from_ns));
    end = MIN(end, model_sum(profile->range.begin_ns, profile->range.to_ns));
  }
  profile->span_elapsed_ns = model_difference(end, begin);
  if (paused > 0 && !profile->range.limited)
    profile->span_elapsed_ns = (uint64_t)((double)profile->span_elapsed_ns * (1 - paused / wall));
}

/* Sums up the processes that have the unit of the chosen one. */
static void sum_processes(struct profile *profile, const struct profile_process *chosen)
{
  struct profile_workspan *workspan = &profile->workspan;
  *workspan = (struct profile_workspan){.known = true,
                                        .unit = xstrdup(chosen->workspan.unit),
                                        .is_time = chosen->workspan.is_time,
                                        .span = chosen->workspan.span,
                                        .burdened = chosen->workspan.burdened};
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!has_unit(process, workspan->unit))
      continue;
    profile->span_processes++;
    profile->span_threads += process->threads_max > UINT32_MAX - profile->span_threads ? 0 : process->threads_max;
    workspan->unseen |= process->workspan.unseen;
    model_add(&workspan->work, process->workspan.work);
  }
  span_elapsed(profile);
}

void span_merge(struct profile *profile)
{
  assert(!profile->span_rows);
  profile->span_process = find_leader(profile);
  const struct profile_process *chosen =
      profile->span_process == MODEL_NONE ? NULL : &profile->processes[profile->span_process];
  if (chosen)
    sum_processes(profile, chosen);
  merge_directives(profile);
  if (chosen) {
    profile->span_rows = chosen->directive_map;
    keep_shares(&profile->contexts, chosen->number, profile->span_rows);
    span_spread(profile->contexts.shares, &profile->contexts.shares_count);
  }
}

void span_enter_shares(struct profile *profile)
{
  if (!profile->workspan.known)
    return;
  struct catalog_column column = {
      .name = "critical path", .unit = profile->workspan.is_time ? "ns" : "", .role = COLUMN_CRITICAL};
  struct contexts *contexts = &profile->contexts;
  uint32_t number;
  catalog_add_column(&profile->catalog, &column, &number);
  for (uint32_t i = 0; i < contexts->shares_count; i++)
    if (contexts->shares[i].context != MODEL_NONE)
      contexts_value(contexts, contexts->shares[i].context, number, contexts->shares[i].amount);
}
