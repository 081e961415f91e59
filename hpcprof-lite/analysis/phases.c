#include "hpcprof-lite/analysis/phases.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/algorithms/hot_path.h"
#include "hpcprof-lite/algorithms/repeats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* A part of the life that is shorter than 1/LEAST_PART of it is not a phase of its own; serial time that is less than
 * 1/LEAST_SERIAL of a pattern is not a step of its own. */
enum { LEAST_PART = 200, LEAST_SERIAL = 100 };

/* Makes phases from left to right.  Parts that are too short wait until it is known what follows them. */
struct maker {
  struct phases *phases;
  struct phases_region *regions;
  struct repeats repeats;
  uint64_t least_ns, waiting_ns; /* since when parts wait */
  uint32_t waiting_region;       /* the first region of those */
  uint32_t *step_of;             /* [construct] its step in the phase that `phase_of` names + 1 */
  uint32_t *phase_of;
};

/* Returns the new step, which belongs to the last phase. */
static uint32_t add_step(struct phases *phases, uint32_t construct)
{
  assert(phases->count);
  uint32_t number = phases->steps_count;
  struct phases_phase *phase = &phases->phases[phases->count - 1];
  *XAPPEND(phases->steps, phases->steps_count, phases->steps_room) = (struct phases_step){
      .construct = construct, .after = phase->first_step, .into = number, .figures = {.context = MODEL_NONE}};
  phase->steps++;
  return number;
}

static void add_phase(struct maker *maker, enum phases_kind kind, uint64_t start_ns, uint64_t end_ns,
                      uint32_t first_region)
{
  assert(start_ns <= end_ns);
  struct phases *phases = maker->phases;
  *XAPPEND(phases->phases, phases->count, phases->room) = (struct phases_phase){.kind = kind,
                                                                                .start_ns = start_ns,
                                                                                .end_ns = end_ns,
                                                                                .first_region = first_region,
                                                                                .first_step = phases->steps_count,
                                                                                .first_token = phases->tokens_count,
                                                                                .figures = {.context = MODEL_NONE}};
  add_step(phases, MODEL_NONE);
}

/* Gives regions a step of the last phase, by their construct. */
static void add_regions(struct maker *maker, uint32_t end)
{
  struct phases *phases = maker->phases;
  for (; maker->waiting_region < end; maker->waiting_region++) {
    struct phases_region *region = &maker->regions[maker->waiting_region];
    if (maker->phase_of[region->construct] != phases->count) {
      maker->phase_of[region->construct] = phases->count;
      maker->step_of[region->construct] = add_step(phases, region->construct);
    }
    region->step = maker->step_of[region->construct];
    phases->phases[phases->count - 1].regions++;
  }
}

/* What waits becomes a phase, or a part of the last one; it reaches until that time and region. */
static void settle(struct maker *maker, uint64_t until_ns, uint32_t end)
{
  assert(maker->waiting_ns <= until_ns && maker->waiting_region <= end);
  struct phases *phases = maker->phases;
  uint32_t regions = end - maker->waiting_region;
  uint64_t length_ns = until_ns - maker->waiting_ns;
  enum phases_kind kind = regions ? PHASES_REGION : PHASES_SERIAL;
  if (!length_ns || (!phases->count && !regions))
    return; /* the next phase begins with it */
  if (!phases->count || length_ns >= maker->least_ns)
    add_phase(maker, regions > 1 ? PHASES_MIXED : kind, maker->waiting_ns, until_ns, maker->waiting_region);
  else
    phases->phases[phases->count - 1].end_ns = until_ns;
  maker->waiting_ns = until_ns;
  add_regions(maker, end);
}

static void add_part(struct maker *maker, enum phases_kind kind, uint64_t start_ns, uint64_t end_ns,
                     uint32_t next_region)
{
  assert(start_ns <= end_ns);
  if (end_ns == start_ns || end_ns - start_ns < maker->least_ns)
    return;
  settle(maker, start_ns, next_region);
  add_phase(maker, kind, maker->waiting_ns, end_ns, next_region);
  maker->waiting_ns = end_ns;
}

/* The first gap that ends then or later; NULL if there is none. */
static const struct phases_gap *gap_from(const struct phases *phases, uint64_t at_ns)
{
  size_t first = FIRST_WHERE(i, phases->gaps_count, phases->gaps[i].end_ns >= at_ns);
  return first < phases->gaps_count ? &phases->gaps[first] : NULL;
}

/* Adds what lies between two regions: serial time, and gaps. */
static void add_between(struct maker *maker, uint64_t at_ns, uint64_t end_ns, uint32_t next_region)
{
  assert(at_ns <= end_ns);
  const struct phases *phases = maker->phases;
  const struct phases_gap *gap = gap_from(phases, at_ns);
  for (; gap && gap < phases->gaps + phases->gaps_count && gap->start_ns < end_ns; gap++) {
    uint64_t from_ns = MAX(gap->start_ns, at_ns), to_ns = MIN(gap->end_ns, end_ns);
    if (to_ns - from_ns < maker->least_ns)
      continue;
    add_part(maker, PHASES_SERIAL, at_ns, from_ns, next_region);
    add_part(maker, PHASES_GAP, from_ns, to_ns, next_region);
    at_ns = to_ns;
  }
  add_part(maker, PHASES_SERIAL, at_ns, end_ns, next_region);
}

static bool begins(const struct repeats *repeats, const struct repeats_item *item, uint32_t element)
{
  return item->symbol < repeats->plain || (repeats->leaves[element] & REPEATS_BEGINS);
}

/* Until when an item lasts: with the mean of the serial times between its repetitions. */
static uint64_t item_end(const struct maker *maker, const struct repeats_item *item, uint32_t end)
{
  assert(end > item->first && end <= maker->phases->regions_count);
  const struct phases *phases = maker->phases;
  const struct phases_region *regions = maker->regions;
  uint64_t end_ns = regions[end - 1].end_ns, between_ns = 0, count = 0;
  for (uint32_t i = item->first + 1; i < end; i++)
    if (begins(&maker->repeats, item, i)) {
      between_ns += regions[i].start_ns - regions[i - 1].end_ns;
      count++;
    }
  const struct phases_gap *gap = gap_from(phases, end_ns);
  uint64_t next_ns = end < phases->regions_count ? regions[end].start_ns : phases->end_ns;
  if (gap && gap->start_ns < next_ns)
    next_ns = MAX(gap->start_ns, end_ns);
  uint64_t mean_ns = count ? between_ns / count : 0;
  return end_ns + MIN(mean_ns, next_ns - end_ns);
}

static void add_token(struct phases *phases, struct phases_token token)
{
  assert(phases->count);
  *XAPPEND(phases->tokens, phases->tokens_count, phases->tokens_room) = token;
  phases->phases[phases->count - 1].tokens++;
}

/* How often the regions of each leaf of an item follow themselves: regions / runs of them. */
struct leaf_runs {
  uint64_t regions, runs;
};

/* Appends a region and the serial time after it.  alone: it is the whole pattern. */
static void add_leaf(struct phases *phases, uint32_t step, const struct leaf_runs *leaf, bool alone)
{
  assert(leaf->runs && leaf->runs <= leaf->regions);
  bool several = !alone && leaf->regions > leaf->runs;
  double times = (double)leaf->regions / (double)leaf->runs;
  if (several)
    add_token(phases, (struct phases_token){.kind = PHASES_OPEN, .times = times});
  add_token(phases, (struct phases_token){.kind = PHASES_STEP, .step = step});
  add_token(phases, (struct phases_token){.kind = PHASES_STEP, .step = step + 1});
  if (several)
    add_token(phases, (struct phases_token){.kind = PHASES_CLOSE});
}

/* Appends the order of a loop's steps; the next leaf is *leaf. */
static void add_order(struct maker *maker, uint32_t symbol, const struct leaf_runs *runs, uint32_t *leaf)
{
  struct phases *phases = maker->phases;
  const struct repeats *repeats = &maker->repeats;
  uint32_t first_step = phases->phases[phases->count - 1].first_step + 1;
  if (symbol < repeats->plain) {
    uint32_t number = (*leaf)++;
    add_leaf(phases, first_step + 2 * number, &runs[number], false);
    return;
  }
  const struct repeats_loop *loop = &repeats->loops[symbol - repeats->plain];
  double times = (double)loop->repetitions / (double)loop->runs;
  add_token(phases, (struct phases_token){.kind = PHASES_OPEN, .times = times});
  for (uint32_t i = 0; i < loop->length; i++) /* as deep as loops were found in loops: a few dozen at most */
    add_order(maker, repeats->units[loop->first + i], runs, leaf);
  add_token(phases, (struct phases_token){.kind = PHASES_CLOSE});
}

static void spread_add(const struct phases *phases, struct phases_spread *spread, uint64_t start_ns, uint64_t end_ns)
{
  assert(start_ns <= end_ns);
  const struct phases_gap *gap = gap_from(phases, start_ns);
  uint64_t ns = end_ns - start_ns;
  spread->count++;
  spread->total_ns += ns;
  if (gap && gap->start_ns <= end_ns)
    return;
  spread->whole++;
  double before = (double)ns - spread->mean_ns;
  spread->mean_ns += before / (double)spread->whole;
  spread->squares += before * ((double)ns - spread->mean_ns);
  if (ns > spread->slowest_ns) {
    spread->slowest = spread->count;
    spread->slowest_ns = ns;
    spread->slowest_start_ns = start_ns;
  }
}

/* Gives the regions of an item their steps, and its repetitions their spread. */
static void fill_steps(struct maker *maker, const struct repeats_item *item, uint32_t end, uint64_t end_ns,
                       struct leaf_runs *runs)
{
  assert(item->first < end);
  struct phases *phases = maker->phases;
  struct phases_phase *phase = &phases->phases[phases->count - 1];
  uint64_t since_ns = maker->regions[item->first].start_ns;
  uint32_t last = MODEL_NONE;
  for (uint32_t i = item->first; i < end; i++) {
    struct phases_region *region = &maker->regions[i];
    uint32_t leaf = maker->repeats.leaves[i] & ~REPEATS_BEGINS, step = phase->first_step + 1 + 2 * leaf;
    region->step = step;
    phases->steps[step].construct = region->construct;
    phases->steps[step].after = step + 1;
    runs[leaf].regions++;
    runs[leaf].runs += leaf != last;
    last = leaf;
    if (i > item->first && begins(&maker->repeats, item, i)) {
      spread_add(phases, &phase->spread, since_ns, region->start_ns);
      since_ns = region->start_ns;
    }
    region->repetition = (uint32_t)phase->spread.count + 1;
  }
  spread_add(phases, &phase->spread, since_ns, end_ns);
  phase->repeated_ns = end_ns;
  phase->regions = end - item->first;
}

/* The steps of an item, and their order. */
static void fill_item(struct maker *maker, const struct repeats_item *item, uint32_t end, uint64_t end_ns)
{
  struct phases *phases = maker->phases;
  uint32_t leaves = repeats_leaves(&maker->repeats, item->symbol), leaf = 0;
  uint32_t first_step = phases->steps_count;
  struct leaf_runs *runs = xcalloc(leaves, sizeof *runs);
  for (uint32_t i = 0; i < 2 * leaves; i++)
    add_step(phases, MODEL_NONE);
  fill_steps(maker, item, end, end_ns, runs);
  if (item->symbol < maker->repeats.plain)
    add_leaf(phases, first_step, runs, true);
  else
    add_order(maker, item->symbol, runs, &leaf);
  free(runs);
}

static void add_item(struct maker *maker, const struct repeats_item *item, uint32_t end, uint64_t end_ns)
{
  assert(item->first < end && end_ns >= maker->regions[item->first].start_ns);
  uint64_t start_ns = maker->regions[item->first].start_ns;
  if (end_ns - start_ns < maker->least_ns)
    return;
  settle(maker, start_ns, item->first);
  add_phase(maker, end - item->first == 1 ? PHASES_REGION : PHASES_PATTERN, maker->waiting_ns, end_ns, item->first);
  fill_item(maker, item, end, end_ns);
  maker->waiting_ns = end_ns;
  maker->waiting_region = end;
}

static void make_phases(struct maker *maker)
{
  assert(maker->phases->start_ns <= maker->phases->end_ns);
  struct phases *phases = maker->phases;
  const struct repeats *repeats = &maker->repeats;
  uint64_t at_ns = phases->start_ns;
  maker->waiting_ns = at_ns;
  maker->least_ns = (phases->end_ns - phases->start_ns) / LEAST_PART;
  for (uint32_t i = 0; i < repeats->count; i++) {
    struct repeats_item item = repeats->items[i];
    uint32_t end = repeats_end(repeats, i), once = end - item.first < PHASES_LEAST ? 1 : end - item.first;
    for (; item.first < end; item.first += once) {
      uint64_t end_ns = item_end(maker, &item, item.first + once);
      add_between(maker, at_ns, maker->regions[item.first].start_ns, item.first);
      add_item(maker, &item, item.first + once, end_ns);
      at_ns = end_ns;
    }
  }
  add_between(maker, at_ns, phases->end_ns, phases->regions_count);
  settle(maker, phases->end_ns, phases->regions_count);
  if (!phases->count && phases->end_ns > phases->start_ns)
    add_phase(maker, PHASES_SERIAL, phases->start_ns, phases->end_ns, 0);
}

/* Returns the step at a time, which must not be less than at the call before; *end_ns is until when. */
static uint32_t step_at(const struct phases *phases, struct phases_cursor *cursor, uint64_t at_ns, uint64_t *end_ns)
{
  assert(cursor->phase < phases->count);
  const struct phases_region *regions = phases->regions;
  while (cursor->region < phases->regions_count && regions[cursor->region].end_ns <= at_ns)
    cursor->region++;
  while (cursor->phase + 1 < phases->count && phases->phases[cursor->phase].end_ns <= at_ns)
    cursor->phase++;
  const struct phases_phase *phase = &phases->phases[cursor->phase];
  uint32_t next = cursor->region, step = phase->first_step;
  if (next < phases->regions_count && regions[next].start_ns <= at_ns) {
    *end_ns = regions[next].end_ns;
    return phases->steps[regions[next].step].into;
  }
  *end_ns = next < phases->regions_count ? regions[next].start_ns : UINT64_MAX;
  if (cursor->phase + 1 < phases->count && phase->end_ns < *end_ns)
    *end_ns = phase->end_ns;
  if (next > phase->first_region)
    step = phases->steps[regions[next - 1].step].after;
  return phases->steps[step].into;
}

/* How the steps' executions spread. */
static void spread_steps(struct phases *phases)
{
  struct phases_cursor cursor = {0};
  for (uint64_t at_ns = phases->start_ns, end_ns; at_ns < phases->end_ns; at_ns = end_ns) {
    uint32_t step = step_at(phases, &cursor, at_ns, &end_ns);
    end_ns = MIN(end_ns, phases->end_ns);
    spread_add(phases, &phases->steps[step].spread, at_ns, end_ns);
  }
}

/* Serial times that are short become one step, the first of the phase. */
static void include_short_steps(struct phases *phases, const struct phases_phase *phase)
{
  assert(phase->first_step + phase->steps <= phases->steps_count);
  for (uint32_t i = 1; i < phase->steps; i++) {
    struct phases_step *step = &phases->steps[phase->first_step + i];
    if (step->construct == MODEL_NONE && step->spread.total_ns < (phase->end_ns - phase->start_ns) / LEAST_SERIAL)
      step->into = phase->first_step;
  }
}

static void spread_all(struct phases *phases)
{
  spread_steps(phases);
  for (uint32_t i = 0; i < phases->count; i++) {
    struct phases_phase *phase = &phases->phases[i];
    if (phase->kind == PHASES_PATTERN) {
      include_short_steps(phases, phase);
    } else {
      phase->spread = (struct phases_spread){0};
      spread_add(phases, &phase->spread, phase->start_ns, phase->end_ns);
    }
  }
  for (uint32_t i = 0; i < phases->steps_count; i++)
    phases->steps[i].spread = (struct phases_spread){0};
  spread_steps(phases); /* again, with the joined steps */
}

void phases_find(const struct phases_regions *regions, uint32_t constructs, uint64_t start_ns, uint64_t end_ns,
                 struct phases *phases)
{
  assert(start_ns <= end_ns && (regions->regions || !regions->count));
  uint32_t count = regions->count;
  *phases = (struct phases){.start_ns = start_ns,
                            .end_ns = end_ns,
                            .regions = regions->regions,
                            .gaps = regions->gaps,
                            .regions_count = count,
                            .gaps_count = regions->gaps_count};
  struct maker maker = {.phases = phases,
                        .regions = regions->regions,
                        .step_of = xcalloc(constructs, sizeof *maker.step_of),
                        .phase_of = xcalloc(constructs, sizeof *maker.phase_of)};
  uint32_t *symbols = xmalloc(count * sizeof *symbols);
  for (uint32_t i = 0; i < count; i++)
    symbols[i] = regions->regions[i].construct;
  repeats_find(symbols, count, constructs, &maker.repeats);
  free(symbols);
  make_phases(&maker);
  repeats_release(&maker.repeats);
  free(maker.step_of);
  free(maker.phase_of);
  if (phases->count)
    spread_all(phases);
  phases->end = phases->count;
}

void phases_release(struct phases *phases)
{
  free(phases->phases);
  free(phases->steps);
  free(phases->tokens);
  *phases = (struct phases){0};
}

/* ---- parts ---- */

struct part {
  uint64_t from_ns, to_ns;
};

/* Adds what lies in the part of an execution or repetition. */
static void spread_part(const struct phases *phases, struct phases_spread *spread, uint64_t start_ns, uint64_t end_ns,
                        uint64_t number, const struct part *part)
{
  assert(start_ns <= end_ns && part->from_ns <= part->to_ns);
  uint64_t from_ns = MAX(start_ns, part->from_ns), to_ns = MIN(end_ns, part->to_ns);
  uint64_t slowest_ns = spread->slowest_ns;
  if (start_ns >= part->from_ns && end_ns <= part->to_ns) {
    spread_add(phases, spread, start_ns, end_ns);
    if (spread->slowest_ns > slowest_ns)
      spread->slowest = number;
  } else if (from_ns < to_ns) {
    spread->count += start_ns >= part->from_ns;
    spread->total_ns += to_ns - from_ns;
  }
}

/* The first region that ends after a time. */
static uint32_t region_at(const struct phases *phases, uint64_t at_ns)
{
  return (uint32_t)FIRST_WHERE(i, phases->regions_count, phases->regions[i].end_ns > at_ns);
}

/* When the execution of a step began that lasts at a time, in a phase. */
static uint64_t step_start(const struct phases *phases, const struct phases_phase *phase, uint64_t at_ns)
{
  uint32_t next = region_at(phases, at_ns);
  uint64_t start_ns = next ? phases->regions[next - 1].end_ns : 0;
  if (next < phases->regions_count && phases->regions[next].start_ns <= at_ns)
    start_ns = phases->regions[next].start_ns;
  return MAX(start_ns, phase->start_ns);
}

/* How executions of a phase's steps spread in a part of it. */
static void spread_part_steps(struct phases *phases, uint32_t number, const struct part *part)
{
  assert(number < phases->count);
  const struct phases_phase *phase = &phases->phases[number];
  uint64_t from_ns = MAX(part->from_ns, phase->start_ns);
  uint64_t at_ns = step_start(phases, phase, from_ns);
  struct phases_cursor cursor = {.region = region_at(phases, from_ns), .phase = number};
  for (uint64_t end_ns; at_ns < phase->end_ns && at_ns < part->to_ns; at_ns = end_ns) {
    uint32_t step = step_at(phases, &cursor, at_ns, &end_ns);
    end_ns = MIN(end_ns, phase->end_ns);
    spread_part(phases, &phases->steps[step].spread, at_ns, end_ns, 0, part);
  }
}

/* How the repetitions of a pattern spread in a part of it. */
static void spread_part_repetitions(struct phases *phases, struct phases_phase *phase, const struct part *part)
{
  uint32_t at = region_at(phases, part->from_ns);
  if (at)
    at--; /* its repetition may last longer than it */
  at = MAX(at, phase->first_region);
  for (uint32_t next; at < phases->regions_count && phases->regions[at].start_ns < phase->repeated_ns; at = next) {
    uint32_t repetition = phases->regions[at].repetition;
    uint64_t start_ns = phases->regions[at].start_ns, end_ns = phase->repeated_ns;
    for (next = at + 1; next < phases->regions_count && phases->regions[next].repetition == repetition;)
      next++;
    if (next < phases->regions_count)
      end_ns = MIN(end_ns, phases->regions[next].start_ns);
    spread_part(phases, &phase->spread, start_ns, end_ns, repetition, part);
  }
}

static void cut_phase(struct phases *phases, uint32_t number, const struct part *part, bool regions)
{
  assert(number < phases->count);
  struct phases_phase *phase = &phases->phases[number];
  phase->coverage = regions ? PHASES_PART : PHASES_LENGTH;
  phase->figures = (struct phases_figures){.context = phase->figures.context};
  if (regions) {
    phase->spread = (struct phases_spread){0};
    for (uint32_t i = 0; i < phase->steps; i++)
      phases->steps[phase->first_step + i].spread = (struct phases_spread){0};
    spread_part_steps(phases, number, part);
    if (phase->kind == PHASES_PATTERN)
      spread_part_repetitions(phases, phase, part);
    else
      spread_part(phases, &phase->spread, phase->start_ns, phase->end_ns, 0, part);
  }
}

void phases_cut(struct phases *phases, uint64_t from_ns, uint64_t to_ns, bool regions)
{
  assert(from_ns <= to_ns && phases->first <= phases->end && phases->end <= phases->count);
  const struct part part = {from_ns, to_ns};
  while (phases->first < phases->end && phases->phases[phases->first].end_ns <= from_ns)
    phases->first++;
  while (phases->end > phases->first && phases->phases[phases->end - 1].start_ns >= to_ns)
    phases->end--;
  for (uint32_t i = phases->first; i < phases->end; i++) {
    struct phases_phase *phase = &phases->phases[i];
    if (phase->start_ns < from_ns || phase->end_ns > to_ns)
      cut_phase(phases, i, &part, regions);
    phase->start_ns = MAX(phase->start_ns, from_ns);
    phase->end_ns = MIN(phase->end_ns, to_ns);
    if (regions)
      phase->figures = (struct phases_figures){.context = MODEL_NONE};
  }
  for (uint32_t i = 0; i < phases->steps_count && regions; i++)
    phases->steps[i].figures = (struct phases_figures){.context = MODEL_NONE};
}

/* ---- sums ---- */

static void add_weight(struct phases_sums *sums, uint32_t step, uint32_t context, uint64_t ns)
{
  assert(ns);
  uint64_t key = (uint64_t)step << 32 | (context + 1);
  uint32_t number = hash_map_find(&sums->map, key);
  if (!number) {
    *XAPPEND(sums->weights, sums->weights_count, sums->weights_room) =
        (struct phases_weight){.step = step, .context = context};
    number = sums->weights_count;
    hash_map_add(&sums->map, key, number);
  }
  sums->weights[number - 1].ns = model_sum(sums->weights[number - 1].ns, ns);
}

void phases_add(const struct phases *phases, struct phases_cursor *cursor, const struct timeline_interval *interval,
                struct phases_sums *sums)
{
  assert(interval->category < TIMELINE_CATEGORIES && interval->start_ns < interval->end_ns);
  uint32_t category = interval->category, context = MODEL_NONE;
  if (!phases->count)
    return;
  xarray_reserve_zero(&sums->ns, &sums->ns_room, phases->steps_count, sizeof *sums->ns);
  if (category == TIMELINE_WORK || category == TIMELINE_OVERHEAD)
    context = interval->context;
  else if (category == TIMELINE_IDLE || category == TIMELINE_LOCK_WAIT)
    context = interval->wait_for;
  for (uint64_t at_ns = interval->start_ns, end_ns; at_ns < interval->end_ns; at_ns = end_ns) {
    uint32_t step = step_at(phases, cursor, at_ns, &end_ns);
    end_ns = MIN(end_ns, interval->end_ns);
    model_add(&sums->ns[step][category], end_ns - at_ns);
    if (context != MODEL_NONE)
      add_weight(sums, step, context, end_ns - at_ns);
  }
}

void phases_sums_release(struct phases_sums *sums)
{
  free(sums->ns);
  free(sums->weights);
  hash_map_release(&sums->map);
  *sums = (struct phases_sums){0};
}

ORDER(by_step, struct phases_weight, COMPARE(x->step, y->step))

/* The weights of a step, from *at on, are added to its path and to that of its phase.  Returns their sum. */
static uint64_t add_path(struct hot_path *of_step, struct hot_path *of_phase, const struct tree *tree,
                         const struct phases_weight *weights, uint32_t count, uint32_t step, uint32_t *at)
{
  uint64_t ns = 0;
  for (; *at < count && weights[*at].step == step; ++*at) {
    hot_path_add(of_step, tree, weights[*at].context, weights[*at].ns);
    hot_path_add(of_phase, tree, weights[*at].context, weights[*at].ns);
    model_add(&ns, weights[*at].ns);
  }
  return ns;
}

/* Finds the context of each step and of each phase, which are in the order of their steps. */
static void find_contexts(struct phases *phases, const struct phases_sums *sums, uint32_t count,
                          const struct tree *tree, uint64_t period_ns)
{
  struct hot_path of_step, of_phase;
  uint32_t all = 0, at = 0;
  for (uint32_t i = 0; i < count; i++)
    all += sums[i].weights_count;
  struct phases_weight *weights = xmalloc(all * sizeof *weights);
  hot_path_init(&of_step, tree);
  hot_path_init(&of_phase, tree);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < sums[i].weights_count; j++)
      weights[at++] = sums[i].weights[j];
  qsort(weights, at, sizeof *weights, by_step);
  at = 0;
  for (uint32_t i = 0; i < phases->count; i++) {
    struct phases_phase *phase = &phases->phases[i];
    uint64_t phase_ns = 0;
    for (uint32_t step = phase->first_step; step < phase->first_step + phase->steps; step++) {
      uint64_t ns = add_path(&of_step, &of_phase, tree, weights, all, step, &at);
      uint32_t context = hot_path_end(&of_step, tree);
      phases->steps[step].figures.context = ns < period_ns || phase->kind == PHASES_GAP ? MODEL_NONE : context;
      model_add(&phase_ns, ns);
    }
    uint32_t context = hot_path_end(&of_phase, tree);
    phase->figures.context = phase_ns < period_ns || phase->kind == PHASES_GAP ? MODEL_NONE : context;
  }
  hot_path_release(&of_step);
  hot_path_release(&of_phase);
  free(weights);
}

void phases_finish(struct phases *phases, const struct phases_sums *sums, uint32_t count, const struct tree *tree,
                   uint64_t period_ns)
{
  assert(sums || !count);
  for (uint32_t i = 0; i < phases->count; i++)
    for (uint32_t j = 0; j < phases->phases[i].steps; j++) {
      uint32_t step = phases->phases[i].first_step + j;
      for (uint32_t k = 0; k < count; k++)
        for (uint32_t c = 0; c < TIMELINE_CATEGORIES && sums[k].ns; c++) {
          uint64_t ns = sums[k].ns[step][c], *into = &phases->steps[step].figures.ns[c];
          model_add(into, ns);
          model_add(&phases->phases[i].figures.ns[c], ns);
        }
    }
  find_contexts(phases, sums, count, tree, period_ns);
}

double phases_deviation(const struct phases_spread *spread)
{
  return spread->whole > 1 ? sqrt(spread->squares / (double)(spread->whole - 1)) : 0;
}

double phases_efficiency(const struct phases *phases, const struct phases_figures *figures, uint64_t time_ns)
{
  double whole = (double)time_ns * phases->threads;
  return whole > 0 ? 100 * (double)figures->ns[TIMELINE_WORK] / whole : 0;
}
