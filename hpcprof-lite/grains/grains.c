#include "hpcprof-lite/grains/grains.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/grains/past_grains.h"
#include "hpcprof-lite/grains/recorder.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SYNCS_MAX = 1 << 28 };

/* A synchronisation that the second pass has passed: it joins grains that end before it. */
struct past_sync {
  uint32_t refs; /* from the grain, region or taskgroup whose next one it is, and the grains that it joins; 0 if free */
  uint64_t grain, number, order; /* order: grows backwards */
  uint64_t instant;              /* what the grain had executed then */
  struct grain_siblings siblings;
};

struct numbers {
  uint32_t *at; /* [region or taskgroup] its synchronisation */
  size_t room;
};

struct grains {
  struct recorder recorder;
  struct grains_totals totals;
  struct past_grains past;
  struct object_pool syncs;
  struct numbers regions, groups;
  uint64_t *bottoms; /* [clock] the longest path from its present value to the end */
  size_t bottoms_room;
  uint64_t order, run_end;
  const struct grains_visitor *visitor;
};

/* ---- the first pass ---- */

/* Work and span of the log must be those that the process computed while it ran. */
static void compare(struct grains *grains, const struct profile_process *process, double span,
                    struct problems *problems)
{
  const struct profile_workspan *workspan = &process->workspan;
  double scale = workspan->is_time ? workspan->tick_ns : 1;
  double measured = (double)workspan->work + (double)workspan->directives[0].device_time;
  double work = (double)grains->totals.work * scale - measured;
  double allowed = workspan->is_time ? 1e-6 * measured + 1000 : 0;
  if (process->unfinished) /* its work and span are those of its last flush, the log goes on */
    return;
  if (fabs(work) <= allowed && fabs(span * scale - (double)workspan->span) <= allowed)
    return;
  grains->totals.differs = true;
  problems_add(problems, "%s: its graph log differs from the measurement: work or span", process->path);
}

static void report_losses(struct grains *grains, const struct log_reader *log, const struct replay_result *result,
                          const char *path, struct problems *problems)
{
  uint64_t lost = result->lost.tasks + result->lost.joins + grains->recorder.grains.lost;
  if (result->lost.invalid)
    problems_add(problems, "%s: graph log: records that contradict the graph, left out: %" PRIu64, path,
                 result->lost.invalid);
  if (lost)
    problems_add(problems, "%s: graph log: tasks, regions and joins beyond the limit, left out: %" PRIu64, path, lost);
  if (log_reader_forced(log))
    problems_add(problems, "%s: graph log: records that refer to what no thread has created: %" PRIu64, path,
                 log_reader_forced(log));
  grains->totals.differs = result->lost.invalid || lost || log_reader_forced(log) || log_reader_damaged(log);
}

static int record_log(struct grains *grains, const struct profile_process *process, struct log_reader *log,
                      struct problems *problems)
{
  struct recorder *recorder = &grains->recorder;
  struct graph_sink sink = {
      {recorder_clock_changed, recorder}, recorder_begin, recorder_before, recorder_after, recorder_end};
  struct replay_request request = {.directives = process->workspan.directives_count, .sink = &sink};
  struct replay_result result;
  recorder_init(recorder, process, log_reader_count(log), problems);
  int status = replay_log(&request, log, &result);
  if (!status) {
    grains->totals.work = recorder->grains.work;
    grains->totals.last_id = recorder->grains.count;
    grains->totals.span = model_rounded(result.span);
    for (unsigned i = 0; i < GRAIN_KINDS; i++)
      grains->totals.count[i] = recorder->grains.of_kind[i];
    report_losses(grains, log, &result, process->path, problems);
    compare(grains, process, result.span, problems);
    status = grain_schedule_compute(&recorder->grains.schedule, grains->totals.span, &grains->totals.curve);
  }
  replay_result_release(&result);
  return status;
}

int grains_open(const struct profile_process *process, struct problems *problems, struct grains **out)
{
  struct log_reader *log = log_reader_open(process->path, problems);
  *out = NULL;
  if (!log)
    return 0;
  log_reader_limit(log, process);
  *out = xcalloc(1, sizeof **out);
  int status = record_log(*out, process, log, problems);
  log_reader_close(log);
  return status;
}

/* Frees what a second pass has made. */
static void release_pass(struct grains *grains)
{
  past_grains_release(&grains->past);
  object_pool_release(&grains->syncs);
  free(grains->regions.at);
  free(grains->groups.at);
  free(grains->bottoms);
}

void grains_close(struct grains *grains)
{
  if (!grains)
    return;
  recorder_release(&grains->recorder);
  release_pass(grains);
  free(grains);
}

const struct grains_totals *grains_totals(const struct grains *grains)
{
  return &grains->totals;
}

/* ---- synchronisations ---- */

static struct past_sync *sync_at(const struct grains *grains, uint32_t index)
{
  return object_pool_at(&grains->syncs, index);
}

static void sync_unref(struct grains *grains, uint32_t index)
{
  assert(!index || sync_at(grains, index)->refs);
  if (index && --sync_at(grains, index)->refs == 0)
    object_pool_put(&grains->syncs, index);
}

/* Makes it the next one of its grain, region or taskgroup. */
static void sync_replace(struct grains *grains, uint32_t *next, uint32_t index)
{
  assert(!grains->past.grains || next != &grains->past.grains[0].sync);
  sync_unref(grains, *next);
  *next = index;
}

static uint32_t sync_new(struct grains *grains, uint64_t grain, uint64_t number, uint64_t instant,
                         const struct grain_siblings *siblings)
{
  uint32_t index = object_pool_get(&grains->syncs);
  if (!index)
    xalloc_die();
  *sync_at(grains, index) = (struct past_sync){.refs = 1,
                                               .grain = past_grain(&grains->past, grain)->id,
                                               .number = number,
                                               .instant = instant,
                                               .order = ++grains->order,
                                               .siblings = *siblings};
  return index;
}

static uint32_t *number_at(struct numbers *numbers, uint64_t number)
{
  xarray_reserve_zero(&numbers->at, &numbers->room, number + 1, sizeof *numbers->at);
  return &numbers->at[number];
}

/* What joins the grains of a region or taskgroup; 0: nothing is known. */
static uint32_t known_at(const struct numbers *numbers, uint64_t number)
{
  return number < numbers->room ? numbers->at[number] : 0;
}

/* Whether the visitor wants the grain; all its ancestors are open. */
static bool is_wanted(struct grains *grains, struct past_grain *grain)
{
  struct past_grain *known = grain; /* the nearest ancestor of which that is known */
  if (!grains->visitor->root)
    return true;
  while (known->inside == PAST_GRAIN_UNDECIDED) {
    past_grains_path(&grains->past, known);
    if (!strcmp(grains->past.path, grains->visitor->root))
      known->inside = PAST_GRAIN_INSIDE;
    else if (!known->parent)
      known->inside = PAST_GRAIN_OUTSIDE;
    else
      known = past_grain(&grains->past, known->parent);
  }
  for (; grain->inside == PAST_GRAIN_UNDECIDED; grain = past_grain(&grains->past, grain->parent))
    grain->inside = known->inside;
  return known->inside == PAST_GRAIN_INSIDE;
}

/* An event of a grain. */
static void tell_event(struct grains *grains, struct past_grain *grain, struct grain_event *event)
{
  assert(grain->id && !(grain->flags & LIVE_GRAIN_DROPPED));
  event->grain = grain->id;
  if (grains->visitor->event && is_wanted(grains, grain))
    grains->visitor->event(grains->visitor->context, event);
}

static void tell_end(struct grains *grains, struct past_grain *grain)
{
  const struct past_sync *sync = sync_at(grains, grain->sync);
  bool region = (grain->flags & LIVE_GRAIN_KIND) == GRAIN_IMPLICIT;
  tell_event(grains, grain,
             &(struct grain_event){
                 .kind = GRAIN_END, .other = sync->grain, .number = sync->number, .sync = region ? 0 : grain->sync});
}

/* Returns what has the next synchronisation of that kind. */
static uint32_t *next_of(struct grains *grains, struct past_grain *grain, enum live_sync kind, uint64_t what)
{
  switch (kind) {
  case LIVE_SYNC_GROUP:
    return number_at(&grains->groups, what);
  case LIVE_SYNC_BARRIER:
    return &grain->next_barrier;
  case LIVE_SYNC_LOOP:
    return &grain->next_loop;
  case LIVE_SYNC_CHILD:
    return &past_grain(&grains->past, what)->sync;
  default:
    return &grain->next_wait;
  }
}

static void on_sync(struct grains *grains, const struct tape_record *record)
{
  const uint64_t *operand = record->operand;
  struct past_grain *grain = past_grain(&grains->past, operand[0]);
  enum live_sync kind = (enum live_sync)operand[2];
  bool barrier = kind == LIVE_SYNC_BARRIER;
  uint32_t index = sync_new(grains, operand[0], operand[1], operand[9],
                            &(struct grain_siblings){.wait = operand[4],
                                                     .count = operand[5],
                                                     .exec = operand[6],
                                                     .longest = operand[7],
                                                     .scatter = (double)operand[8] - 1,
                                                     .chunks = kind == LIVE_SYNC_LOOP ? operand[3] : 0});
  sync_replace(grains, next_of(grains, grain, kind, operand[3]), index);
  tell_event(grains, grain,
             &(struct grain_event){.kind = barrier ? GRAIN_BARRIER : GRAIN_SYNC,
                                   .other = barrier ? operand[3] : 0,
                                   .number = operand[1],
                                   .sync = index});
  if (kind == LIVE_SYNC_CHILD)
    tell_end(grains, past_grain(&grains->past, operand[3]));
}

static void on_region(struct grains *grains, const struct tape_record *record)
{
  const uint64_t *operand = record->operand;
  uint32_t index = 0;
  if (operand[1] && operand[2])
    index = sync_new(
        grains, operand[1], operand[2], operand[7],
        &(struct grain_siblings){
            .count = operand[3], .exec = operand[4], .longest = operand[5], .scatter = (double)operand[6] - 1});
  sync_replace(grains, number_at(&grains->regions, operand[0]), index);
}

/* Returns the earlier of two: it has been passed later. */
static uint32_t earlier(const struct grains *grains, uint32_t a, uint32_t b)
{
  return sync_at(grains, a)->order > sync_at(grains, b)->order ? a : b;
}

/* Returns what joins a grain: the first synchronisation after its end that waits for it. */
static uint32_t joined_by(struct grains *grains, const struct past_grain *grain)
{
  const struct past_grain *parent = past_grain(&grains->past, grain->parent);
  switch (grain->flags & LIVE_GRAIN_KIND) {
  case GRAIN_INITIAL:
    return 0;
  case GRAIN_IMPLICIT:
    return known_at(&grains->regions, grain->joins);
  case GRAIN_CHUNK:
    return parent->next_loop;
  default:
    break;
  }
  if (!grain->parent)
    return 0;
  uint32_t waits = parent->next_wait;
  if (parent->flags & LIVE_GRAIN_OF_LOOP)
    waits = earlier(grains, waits, past_grain(&grains->past, parent->parent)->next_wait);
  if (grain->joins)
    return earlier(grains, waits, known_at(&grains->groups, grain->joins));
  return earlier(grains, waits, past_grain(&grains->past, grain->root)->next_barrier);
}

static void on_end(struct grains *grains, const struct tape_record *record)
{
  struct past_grain *grain = past_grain(&grains->past, record->operand[0]);
  if (grain->flags & LIVE_GRAIN_DROPPED)
    return;
  grain->sync = joined_by(grains, grain);
  sync_at(grains, grain->sync)->refs += grain->sync != 0;
  tell_end(grains, grain);
}

/* ---- clocks ---- */

/* The bottoms of all clocks up to that one, at least. */
static uint64_t *bottoms_to(struct grains *grains, uint64_t clock)
{
  xarray_reserve_zero(&grains->bottoms, &grains->bottoms_room, clock + 1, sizeof *grains->bottoms);
  return grains->bottoms;
}

static void on_clock(struct grains *grains, const struct tape_record *record)
{
  uint64_t clock = record->operand[0], other = record->op == TAPE_FREE ? 0 : record->operand[1];
  uint64_t *at = bottoms_to(grains, MAX(clock, other));
  if (record->op != TAPE_FREE && at[clock] > at[other])
    at[other] = at[clock];
  if (record->op != TAPE_RAISE)
    at[clock] = 0;
  at[0] = 0;
}

static void on_run(struct grains *grains, const struct tape_record *record)
{
  assert(grains->run_end >= record->operand[2]);
  const uint64_t *operand = record->operand;
  struct past_grain *grain = past_grain(&grains->past, operand[0]);
  uint64_t work = operand[2], end = grains->run_end, begin = end - work;
  uint64_t difference = tape_unzigzag(operand[3]);
  uint64_t *below = &bottoms_to(grains, grain->clock)[grain->clock];
  uint64_t through = end + *below;
  *below += work;
  grains->run_end = begin - difference;
  grain->through = MAX(through, grain->through);
  grain->exec += work;
  grain->ran = true;
  if (!grains->visitor->event)
    return;
  const struct live_placement *placement = &grains->past.placements[operand[1]];
  tell_event(grains, grain,
             &(struct grain_event){.kind = GRAIN_FRAGMENT,
                                   .amount = work,
                                   .begin = begin,
                                   .end = end,
                                   .thread = placement->thread,
                                   .cpu = placement->cpu,
                                   .critical = through == grains->totals.span});
}

static int on_stretch(struct grains *grains, const struct tape_record *record)
{
  struct past_grain *grain = past_grain(&grains->past, record->operand[0]);
  uint64_t parallelism;
  if (!grain_schedule_next(&grains->recorder.grains.schedule, &parallelism))
    return ERR_INPUT;
  grain->parallelism = MIN(parallelism, grain->parallelism);
  return 0;
}

/* ---- grains ---- */

static void siblings_of(const struct grains *grains, const struct past_grain *grain, struct grain *out)
{
  const struct past_sync *sync = sync_at(grains, grain->sync);
  out->sync_grain = sync->grain;
  out->sync_number = sync->number;
  out->sync_instant = grain->sync ? sync->instant : GRAIN_UNKNOWN;
  out->siblings = sync->siblings;
  if (!grain->sync)
    out->siblings.scatter = -1;
  if (!(grain->flags & LIVE_GRAIN_OF_LOOP))
    return;
  const struct past_loop *loop = &grains->past.loops[grain->loop];
  out->siblings.count = loop->threads;
  out->siblings.threads = (uint32_t)loop->threads;
  out->siblings.exec = loop->exec;
  out->siblings.longest = loop->longest;
  out->siblings.scatter = (double)loop->scatter - 1;
}

static int tell_grain(struct grains *grains, const struct past_grain *grain)
{
  assert(grain->id && grains->visitor->grain);
  const struct live_placement *first = &grains->past.placements[grain->placement];
  uint32_t node = numa_node(&grains->recorder.grains.numa, first->cpu);
  bool cut = grain->flags & LIVE_GRAIN_CUT; /* costs of all of it do not compare to a part of it */
  struct grain out = {.id = grain->id,
                      .parent = grain->parent ? past_grain(&grains->past, grain->parent)->id : 0,
                      .kind = live_grain_kind(grain->flags),
                      .path = grains->visitor->without_paths ? NULL : grains->past.path,
                      .path_hash = grain->hash,
                      .child_number = grain->number,
                      .row = grain->row,
                      .creator_row = grain->creator_row,
                      .thread = first->thread,
                      .cpu = first->cpu,
                      .node = node == NUMA_NO_NODE ? GRAIN_NO_CPU : node,
                      .exec = grain->exec,
                      .create = cut ? GRAIN_UNKNOWN : grain->create - 1,
                      .chunk_overhead = cut ? GRAIN_UNKNOWN : grain->overhead - 1,
                      .create_instant = grain->parent ? grain->instant : GRAIN_UNKNOWN,
                      .slack = GRAIN_UNKNOWN,
                      .parallelism = grain->parallelism,
                      .counts = past_grains_counts(&grains->past, grain)};
  past_grains_iterations(&grains->past, grain, &out.first, &out.last);
  if (grain->ran) {
    out.critical = grain->through >= grains->totals.span;
    out.slack = out.critical ? 0 : grains->totals.span - grain->through;
  }
  siblings_of(grains, grain, &out);
  if (!grains->visitor->without_paths)
    past_grains_path(&grains->past, grain);
  return grains->visitor->grain(grains->visitor->context, &out);
}

/* Whether the grain is in the part of the run that is reported.  A graph also has the others: they did no work. */
static bool is_inside(const struct grains *grains, const struct past_grain *grain)
{
  return grain->ran || grains->visitor->event || !grains->recorder.process->to_ticks;
}

static int on_begin(struct grains *grains, const struct tape_record *record)
{
  struct past_grain *grain = past_grain(&grains->past, record->operand[0]);
  int status = 0;
  if (!(grain->flags & LIVE_GRAIN_DROPPED)) {
    if (grain->parent)
      tell_event(grains, past_grain(&grains->past, grain->parent),
                 &(struct grain_event){
                     .kind = GRAIN_FORK, .other = grain->id, .number = (grain->flags & LIVE_GRAIN_OF_LOOP) != 0});
    if (grains->visitor->grain && is_inside(grains, grain) && is_wanted(grains, grain))
      status = tell_grain(grains, grain);
  }
  sync_unref(grains, grain->sync);
  sync_unref(grains, grain->next_wait);
  sync_unref(grains, grain->next_barrier);
  sync_unref(grains, grain->next_loop);
  return status;
}

/* ---- the second pass ---- */

static int on_record(struct grains *grains, const struct tape_record *record)
{
  const uint64_t *operand = record->operand;
  switch (record->op) {
  case TAPE_SET:
  case TAPE_RAISE:
  case TAPE_FREE:
    on_clock(grains, record);
    break;
  case TAPE_RUN:
    on_run(grains, record);
    break;
  case TAPE_COUNT:
    past_grains_count(&grains->past, record);
    break;
  case TAPE_STRETCH:
    return on_stretch(grains, record);
  case TAPE_BEGIN:
    return on_begin(grains, record);
  case TAPE_END:
    on_end(grains, record);
    break;
  case TAPE_RELEASE:
    past_grains_open(&grains->past, record);
    break;
  case TAPE_MEMBER:
    past_grains_member(&grains->past, record);
    break;
  case TAPE_CREATED:
    past_grains_created(&grains->past, record);
    break;
  case TAPE_RANGE:
    past_grains_range(&grains->past, record);
    break;
  case TAPE_SYNC:
    on_sync(grains, record);
    break;
  case TAPE_ENTER:
    tell_event(grains, past_grain(&grains->past, operand[0]), &(struct grain_event){.kind = GRAIN_LOOP});
    break;
  case TAPE_GROUP:
    sync_replace(grains, number_at(&grains->groups, operand[0]), 0);
    break;
  case TAPE_LOOP:
    past_grains_loop(&grains->past, record);
    break;
  case TAPE_REGION:
    on_region(grains, record);
    break;
  case TAPE_JOIN:
    tell_event(grains, past_grain(&grains->past, operand[0]),
               &(struct grain_event){.kind = GRAIN_SYNC, .number = operand[1]});
    break;
  default:
    tell_event(grains, past_grain(&grains->past, operand[0]),
               &(struct grain_event){.kind = operand[2] ? GRAIN_TAKE : GRAIN_OFFER, .other = operand[1]});
  }
  return 0;
}

/* Another pass begins. */
static void forget(struct grains *grains)
{
  release_pass(grains);
  grains->regions = grains->groups = (struct numbers){0};
  grains->bottoms = NULL;
  grains->bottoms_room = 0;
  grains->past = (struct past_grains){.placements = grains->recorder.grains.placements,
                                      .next_id = grains->recorder.grains.last_released};
  object_pool_init(&grains->syncs, sizeof(struct past_sync), SYNCS_MAX);
}

int grains_each(struct grains *grains, const struct grains_visitor *visitor)
{
  assert(visitor);
  struct tape_record record;
  forget(grains);
  grains->visitor = visitor;
  grains->order = 0;
  grains->run_end = grains->recorder.grains.run_end;
  int status = tape_end(&grains->recorder.grains.tape);
  if (!status)
    status = grain_schedule_rewind(&grains->recorder.grains.schedule);
  while (!status && tape_back(&grains->recorder.grains.tape, &record))
    status = on_record(grains, &record);
  if (status)
    return status;
  return tape_failed(&grains->recorder.grains.tape);
}
