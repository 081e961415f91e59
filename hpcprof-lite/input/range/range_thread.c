#include "hpcprof-lite/input/range/range_thread.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/construct_tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS_MAX = 64 }; /* nodes that were merged into another one, one after the other */

/* ---- tables of the file ---- */

/* The record of values of a node.  One that was merged into another node of the thread is a link to that. */
static uint32_t value_of(const struct read_node *nodes, uint32_t count, uint32_t node, uint32_t index)
{
  for (uint32_t i = 0; i < LINKS_MAX && node < count; i++) {
    const struct read_node *at = &nodes[node];
    if (at->value || at->kind != CONTEXT_LINK || at->what != index)
      return at->value;
    node = at->offset;
  }
  return 0;
}

static void take_nodes(struct range_thread *thread, struct read_file *file, struct problems *problems)
{
  uint32_t index = thread->record->index;
  struct read_node *nodes = read_table(file, index, FORMAT_NODES, problems, &thread->nodes_count);
  thread->value_of = xcalloc(thread->nodes_count, sizeof *thread->value_of);
  thread->runtime_below = xcalloc(thread->nodes_count, sizeof *thread->runtime_below);
  for (uint32_t i = 0; i < thread->nodes_count; i++) {
    uint32_t value = value_of(nodes, thread->nodes_count, i, index);
    thread->value_of[i] = value < thread->values_count ? value : 0;
    if (nodes[i].kind == CONTEXT_RUNTIME && nodes[i].parent < thread->nodes_count)
      thread->runtime_below[nodes[i].parent] = i;
  }
  free(nodes);
}

/* A thread of a pool waits outside all constructs; of several places, the trace does not tell which one. */
static void take_pool(struct range_thread *thread, struct range_wait_sites *sites)
{
  uint32_t i = 0;
  while (i < thread->stored.count && thread->stored.waits[i].kind != FORMAT_WAIT_POOL)
    i++;
  if (i == thread->stored.count)
    return;
  for (; thread->codes_count < CONSTRUCT_TIMES; thread->codes_count++)
    thread->codes[thread->codes_count] = (struct range_code){.site = MODEL_NONE, .stored = MODEL_NONE};
  thread->codes[CONSTRUCT_TIME_WAIT] = range_code_of_site(&thread->stored, i, sites);
}

static void take_codes(struct range_thread *thread, const struct read_file *file, struct range_wait_sites *sites)
{
  if (!thread->with_constructs) {
    thread->codes_count = thread->stored.count + 1;
    thread->codes = range_codes_of_sites(&thread->stored, sites);
    return;
  }
  thread->codes_count = thread->constructs_count * CONSTRUCT_TIMES;
  thread->codes = range_codes_of_constructs(file, thread->constructs, thread->constructs_count, &thread->stored, sites);
  take_pool(thread, sites);
  struct open_state *open = &thread->life.open;
  if (open->lock) {
    open->code = thread->codes_count++;
    thread->codes[open->code] = range_code_of_site(&thread->stored, open->lock - 1, sites);
  }
}

/* Finds or adds the thread's record of a site.  Returns its number. */
static uint32_t wait_at(struct range_thread *thread, const struct range_wait_sites *sites, uint32_t site)
{
  assert(site < sites->count);
  uint32_t found = hash_map_find(&thread->wait_map, (uint64_t)site + 1);
  if (found)
    return found - 1;
  const struct wait_site *at = &sites->all[site];
  *XAPPEND(thread->waits, thread->waits_count, thread->waits_room) =
      (struct format_wait){.kind = at->kind, .module = at->module, .offset = at->offset};
  hash_map_add(&thread->wait_map, (uint64_t)site + 1, thread->waits_count);
  return thread->waits_count - 1;
}

void range_thread_open(struct range_thread *thread, struct read_file *file, const struct profile_process *process,
                       struct range_wait_sites *sites, struct problems *problems)
{
  uint32_t index = thread->record->index;
  struct profile_thread *part = &thread->part;
  uint32_t parked = range_wait_sites_add(sites, &(struct wait_site){.kind = FORMAT_WAIT_PARKED});
  *part = *thread->record;
  part->samples = part->samples_idle = part->samples_lockwait = part->lockwait_sampled_ns = 0;
  part->per_busy_ns = part->in_use_ns = part->regions = 0;
  thread->columns = read_columns_count(file);
  thread->values = read_table(file, index, FORMAT_VALUES, problems, &thread->values_count);
  take_nodes(thread, file, problems);
  thread->stored.waits = read_table(file, index, FORMAT_WAITS, problems, &thread->stored.count);
  if (thread->with_constructs) {
    thread->constructs = read_table(file, index, FORMAT_CONSTRUCTS, problems, &thread->constructs_count);
    thread->tasks = read_table(file, index, FORMAT_TASKS, problems, &thread->tasks_count);
  }
  thread->delay = exact_waits_delay(thread->record, thread->stored.waits, thread->stored.count, thread->tick_ns);
  for (uint32_t i = 0; i < thread->stored.count && thread->tick_ns > 0; i++)
    exact_waits_leave_ready(&thread->stored.waits[i], &thread->delay, thread->tick_ns, NULL);
  range_stored_index(&thread->stored);
  thread->life = thread_life_of(file, process, thread->record, thread->stored.waits, thread->stored.count);
  take_codes(thread, file, sites);
  thread->sums = xcalloc(thread->values_count, sizeof *thread->sums);
  thread->posix_lock = range_wait_sites_add(sites, &(struct wait_site){.kind = FORMAT_WAIT_LOCK});
  wait_at(thread, sites, parked);
}

void range_thread_release(struct range_thread *thread)
{
  free(thread->values);
  free(thread->constructs);
  free(thread->stored.waits);
  hash_map_release(&thread->stored.map);
  free(thread->tasks);
  free(thread->value_of);
  free(thread->runtime_below);
  free(thread->codes);
  free(thread->sums);
  free(thread->counted);
  free(thread->waits);
  free(thread->shares);
  free(thread->more_nodes);
  hash_map_release(&thread->wait_map);
  hash_map_release(&thread->share_map);
}

/* ---- states ---- */

struct range_code *range_thread_code(const struct range_thread *thread, uint64_t code)
{
  return code < thread->codes_count ? &thread->codes[code] : NULL;
}

/* The part of an interval that lies in the part of the run. */
static uint64_t inside(const struct range_thread *thread, uint64_t begin, uint64_t end)
{
  return model_difference(MIN(end, thread->to), MAX(begin, thread->from));
}

static bool is_inside(const struct range_thread *thread, uint64_t at)
{
  return at >= thread->from && at < thread->to;
}

/* A damaged trace can have the code of a lock's wait there, which is no construct's. */
static bool begins_region(const struct range_thread *thread, uint64_t code)
{
  if (code / CONSTRUCT_TIMES >= thread->constructs_count)
    return false;
  const struct format_construct *construct = &thread->constructs[code / CONSTRUCT_TIMES];
  return construct_is_region(construct->kind) && !read_is_link(construct);
}

/* The ticks until then in which the thread waited. */
static uint64_t waited_until(const struct range_waited *waited, uint64_t at)
{
  return model_sum(waited->waited, model_difference(MIN(at, waited->end), waited->begin));
}

static void begin_state(struct range_thread *thread, const struct trace_event *event)
{
  struct range_waited *waited = &thread->waited;
  const struct range_code *code = range_thread_code(thread, event->code);
  waited->waited = waited_until(waited, waited->end);
  bool waits = event->kind == TRACE_EVENT_GAP || event->blocked || (code && code->site != MODEL_NONE);
  waited->begin = waits ? event->begin_ticks : 0;
  waited->end = waits ? event->end_ticks : 0;
}

/* Adds a wait, without the time in which there was no processor, to the thread's record of its site.  waiting, own: the
 * ticks of waiting and of the runtime's own work; code: of the state, NULL: of a lock of POSIX or C11. */
static void add_wait(struct range_thread *thread, const struct range_wait_sites *sites, const struct trace_event *event,
                     struct range_amount waiting, struct range_amount own, struct range_code *code)
{
  const struct trace_event_ready *ready = &event->ready;
  uint32_t site = code ? code->site : thread->posix_lock;
  struct format_wait all = {.kind = sites->all[site].kind,
                            .idle = waiting.all,
                            .runtime = code && code->own_first ? 0 : own.all,
                            .preempted = ready->preempted,
                            .preempted_in_runtime = ready->of_own,
                            .woken = ready->woken,
                            .wakes = ready->wakes,
                            .no_core = ready->no_core};
  struct exact_waits_ready missed = {0};
  if (thread->tick_ns > 0)
    missed = exact_waits_leave_ready(&all, &thread->delay, thread->tick_ns, code ? &code->left : &thread->posix_left);
  if (!waiting.in && !own.in)
    return;
  if (waiting.all)
    thread->no_core_ns += missed.no_core * ((double)waiting.in / (double)waiting.all);
  uint32_t number = code && code->wait ? code->wait - 1 : wait_at(thread, sites, site);
  if (code)
    code->wait = number + 1;
  struct format_wait *wait = &thread->waits[number];
  model_add(&wait->idle, range_share_of(all.idle, waiting));
  model_add(&wait->runtime, range_share_of(all.runtime, own));
  wait->count++;
}

void range_thread_state(struct range_thread *thread, const struct range_wait_sites *sites,
                        const struct trace_event *event)
{
  assert(event->begin_ticks <= event->end_ticks);
  begin_state(thread, event);
  struct range_code *code = range_thread_code(thread, event->code);
  uint64_t all = event->end_ticks - event->begin_ticks, ticks = inside(thread, event->begin_ticks, event->end_ticks);
  uint64_t own_all = event->own_ticks;
  if (event->kind == TRACE_EVENT_GAP) {
    model_add(&thread->gap_ticks, ticks);
    return;
  }
  thread->states++;
  if (event->lock_wait)
    add_wait(thread, sites, event, (struct range_amount){ticks, all}, (struct range_amount){0}, NULL);
  else if (event->blocked)
    model_add(event->mpi ? &thread->mpi_ticks : &thread->blocked_ticks, ticks);
  if (!code)
    return;
  uint64_t own_from = code->own_first ? event->begin_ticks : event->end_ticks - own_all;
  uint64_t own = inside(thread, own_from, own_from + own_all);
  model_add(&code->ticks, ticks);
  model_add(&code->own, own);
  model_add(&code->own_all, own_all);
  if (code->in_region)
    model_add(&thread->region_ticks, ticks);
  if (event->mpi && code->inside)
    model_add(&thread->mpi_inside_ticks, ticks);
  if (event->begun && is_inside(thread, event->begin_ticks)) {
    code->begun++;
    thread->part.regions += thread->with_constructs && begins_region(thread, event->code);
  }
  if (code->site != MODEL_NONE && !event->blocked)
    add_wait(thread, sites, event, (struct range_amount){ticks - own, all - own_all},
             (struct range_amount){own, own_all}, code);
}

/* ---- samples ---- */

static void add(struct range_amount *amount, uint64_t more, bool in)
{
  range_add(amount, in ? more : 0, more);
}

/* Adds what belongs to no moment of an interval. */
static void spread(const struct range_thread *thread, struct range_amount *amount, uint64_t ns, uint64_t begin,
                   uint64_t end)
{
  double share = end > begin ? (double)inside(thread, begin, end) / (double)(end - begin) : is_inside(thread, begin);
  range_add(amount, model_rounded((double)ns * share), ns);
}

/* The time since the sample before, as far as the thread had no processor. */
static void add_rest(struct range_thread *thread, const struct trace_event *event, uint64_t weight)
{
  bool waited = event->sample == TRACELOG_IDLE || event->sample == TRACELOG_LOCKWAIT;
  uint64_t until = waited_until(&thread->waited, event->begin_ticks), begin = event->last_ticks;
  uint64_t ticks =
      model_difference(model_difference(event->begin_ticks, begin), model_difference(until, thread->waited.at_sample));
  uint64_t known = model_sum(event->tool_ns, event->delay_ns);
  if (thread->timed && !waited)
    model_add(&known, weight);
  thread->waited.at_sample = until;
  spread(thread, &thread->delayed, event->delay_ns, begin, event->begin_ticks);
  spread(thread, &thread->slept, model_difference(model_rounded((double)ticks * thread->tick_ns), known), begin,
         event->begin_ticks);
}

/* Counts a sample of any kind in the record of the thread. */
static void count_sample(struct range_thread *thread, const struct trace_event *event, uint64_t weight, bool in)
{
  add_rest(thread, event, weight);
  add(&thread->weight, thread->timed ? weight : 0, in);
  add(&thread->tool_ns, event->tool_ns, in);
  add(&thread->delay_ns, event->delay_ns, in);
  thread->samples_all++;
  if (!in)
    return;
  thread->part.samples++;
  thread->part.samples_idle += event->sample == TRACELOG_IDLE;
  thread->part.samples_lockwait += event->sample == TRACELOG_LOCKWAIT;
  if (event->sample == TRACELOG_LOCKWAIT)
    model_add(&thread->part.lockwait_sampled_ns, weight);
}

uint32_t range_thread_sample(struct range_thread *thread, const struct trace_event *event, bool mpi)
{
  assert(event->kind == TRACE_EVENT_SAMPLE || event->kind == TRACE_EVENT_CHARGE);
  bool in = is_inside(thread, event->begin_ticks), charge = event->kind == TRACE_EVENT_CHARGE;
  uint64_t weight = trace_event_weight(event, thread->period);
  if (!charge)
    count_sample(thread, event, weight, in);
  if (!charge && (event->sample == TRACELOG_IDLE || event->sample == TRACELOG_LOCKWAIT))
    return 0;
  if (mpi && thread->timed) /* no work, see charge_mpi() in hpcrun-lite/rt/sampling/sample.c */
    model_add(&thread->mpi_sampled_ns, in ? weight : 0);
  uint32_t value = event->node < thread->nodes_count ? thread->value_of[event->node] : 0;
  if (!value) {
    thread->unknown += event->node != 0; /* 0: the root, or the sample was lost, and counted as that */
    return 0;
  }
  struct range_sums *sums = &thread->sums[value];
  if (!mpi)
    add(&sums->samples, charge ? event->samples : 1, in);
  if (mpi && thread->timed)
    return in ? value : 0;
  if (charge)
    add(&sums->lockwait, event->ns, in);
  else if (!thread->timed)
    add(&sums->event, weight, in);
  else
    add(event->sample == TRACELOG_OVERHEAD ? &sums->overhead : &sums->work, weight, in);
  return in ? value : 0;
}

static struct range_share *find_share(struct range_thread *thread, uint32_t value, uint32_t wait)
{
  assert(value < thread->values_count && wait < thread->waits_count);
  uint64_t key = hash_map_key(hash_map_key(1, value), wait);
  uint32_t found = HASH_MAP_FIND(&thread->share_map, key, i,
                                 thread->shares[i].value == value && thread->shares[i].share.wait == wait);
  if (found)
    return &thread->shares[found];
  if (!thread->shares_count) /* record 0 is not used */
    *XAPPEND(thread->shares, thread->shares_count, thread->shares_room) = (struct range_share){0};
  uint32_t number = thread->shares_count;
  struct range_share *share = XAPPEND(thread->shares, thread->shares_count, thread->shares_room);
  *share = (struct range_share){value, {wait, thread->sums[value].shares, 0}};
  hash_map_add(&thread->share_map, key, number);
  thread->sums[value].shares = number;
  return share;
}

void range_thread_share(struct range_thread *thread, const struct range_wait_sites *sites, uint32_t value,
                        uint32_t site, uint64_t ns)
{
  assert(value && value < thread->values_count);
  uint32_t wait = wait_at(thread, sites, site);
  if (!ns)
    return;
  struct range_share *share = find_share(thread, value, wait);
  model_add(&share->share.ns, ns);
  model_add(&thread->waits[wait].shared_ns, ns);
}

/* ---- the tables of the part ---- */

uint64_t range_share_of(uint64_t figure, struct range_amount amount)
{
  if (amount.in == amount.all)
    return figure;
  return model_rounded((double)figure * ((double)amount.in / (double)amount.all));
}

static uint64_t cell(const struct range_sums *sums, uint32_t role, uint64_t stored, bool complete)
{
  struct range_amount amount;
  switch (role) {
  case COLUMN_PER_BUSY:
    return sums->per_busy_ns;
  case COLUMN_IN_USE:
    return sums->in_use_ns;
  case COLUMN_SHARES:
    return sums->shares;
  case COLUMN_SAMPLES:
    return sums->samples.in;
  case COLUMN_WORK:
    amount = sums->work;
    break;
  case COLUMN_OVERHEAD:
    amount = sums->overhead;
    break;
  case COLUMN_LOCKWAIT:
    amount = sums->lockwait;
    break;
  default:
    amount = sums->event;
    break;
  }
  return complete && amount.all ? range_share_of(stored, amount) : amount.in;
}

/* Hands a table over to the part. */
static void give(struct read_part *part, enum format_table table, void *records, uint32_t count)
{
  assert(table < FORMAT_TABLES && (records || !count));
  part->tables[table].records = records;
  part->tables[table].count = count;
}

static void make_values(const struct range_thread *thread, const struct read_file *file, struct read_columns kept,
                        struct read_part *part)
{
  assert(kept.before <= kept.from && kept.from <= thread->columns);
  uint32_t counted = thread->columns - kept.from, columns = kept.before + counted;
  uint64_t *made = xcalloc((size_t)thread->values_count * columns + 1, sizeof *made);
  give(part, FORMAT_VALUES, made, thread->values_count);
  uint32_t samples = MODEL_NONE;
  for (uint32_t i = 0; i < kept.before; i++)
    samples = read_column(file, i).role == COLUMN_SAMPLES ? i : samples;
  for (uint32_t i = 1; i < thread->values_count; i++) {
    const uint64_t *stored = thread->values + (size_t)i * thread->columns;
    const struct range_sums *sums = &thread->sums[i];
    bool complete = samples != MODEL_NONE && stored[samples] == sums->samples.all;
    uint64_t *values = made + (size_t)i * columns;
    for (uint32_t j = 0; j < kept.before; j++)
      values[j] = cell(sums, read_column(file, j).role, stored[j], complete);
    for (uint32_t j = 0; j < counted && j < thread->counters; j++) {
      struct range_amount amount = thread->counted[(size_t)i * thread->counters + j];
      values[kept.before + j] = complete && amount.all ? range_share_of(stored[kept.from + j], amount) : amount.in;
    }
  }
}

/* Appends a node to the thread's tree.  Returns its number. */
static uint32_t add_node(struct range_thread *thread, const struct read_node *node)
{
  *XAPPEND(thread->more_nodes, thread->more_count, thread->more_room) = *node;
  return thread->nodes_count + thread->more_count - 1;
}

ORDER(by_index, struct range_thread, COMPARE(x->record->index, y->record->index))

/* The context in which a construct was met, or the one around it; of a region of another thread, a link to its context
 * there.  0: not known. */
static uint32_t context_of(struct range_thread *thread, uint32_t record, const struct range_thread *all, uint32_t count)
{
  assert(record < thread->constructs_count);
  const struct format_construct *at = &thread->constructs[record];
  while (record && !at->node && !read_is_link(at) && at->parent < record) {
    record = at->parent;
    at = &thread->constructs[record];
  }
  if (at->node || !read_is_link(at))
    return at->node < thread->nodes_count ? at->node : 0;
  const struct range_thread key = {.record = &(struct profile_thread){.index = at->owner}};
  const struct range_thread *owner = bsearch(&key, all, count, sizeof *all, by_index);
  uint32_t node = owner && at->link < owner->constructs_count ? owner->constructs[at->link].node : 0;
  if (!node || node >= owner->nodes_count || at->owner > FORMAT_WHAT_MAX)
    return 0;
  return add_node(thread,
                  &(struct read_node){.kind = CONTEXT_LINK, .what = at->owner & FORMAT_WHAT_MAX, .offset = node});
}

/* The node to which the runtime's work in waits of that code is charged. */
static uint32_t node_of(struct range_thread *thread, uint32_t number, const struct range_code *code,
                        const struct range_thread *all, uint32_t count)
{
  if (code->stored != MODEL_NONE && thread->stored.waits[code->stored].node)
    return thread->stored.waits[code->stored].node;
  bool met_in = thread->with_constructs && number / CONSTRUCT_TIMES < thread->constructs_count;
  uint32_t met = met_in ? context_of(thread, number / CONSTRUCT_TIMES, all, count) : 0;
  if (!met)
    return 0;
  if (met < thread->nodes_count && thread->runtime_below[met])
    return thread->runtime_below[met];
  uint32_t made = add_node(thread, &(struct read_node){.parent = met, .kind = CONTEXT_RUNTIME});
  if (met < thread->nodes_count)
    thread->runtime_below[met] = made;
  return made;
}

static const struct format_wait *stored_of(const struct range_thread *thread, const struct format_wait *wait)
{
  struct wait_site at = wait_site_of(wait);
  uint32_t found = range_stored_find(&thread->stored, &at);
  return found == MODEL_NONE ? NULL : &thread->stored.waits[found];
}

static void add_times(struct format_wait *sum, const struct format_wait *wait)
{
  model_add(&sum->tool_ns, wait->tool_ns);
  model_add(&sum->runtime, wait->runtime);
  model_add(&sum->idle, wait->idle);
}

static void take_times_off(struct format_wait *sum, const struct format_wait *wait)
{
  sum->tool_ns -= wait->tool_ns;
  sum->runtime -= wait->runtime;
  sum->idle -= wait->idle;
}

/* The tool's own time in waits is not in the trace: that at a site of the file is distributed like the runtime's work
 * there, or like the waiting where there is none; that at sites which the part does not have, over its other sites of
 * that kind. */
static void add_tool_time(struct range_thread *thread)
{
  enum { KINDS = FORMAT_WAIT_KINDS };
  struct format_wait others[KINDS] = {0};
  for (uint32_t i = 0; i < thread->stored.count; i++)
    if (thread->stored.waits[i].kind < KINDS)
      add_times(&others[thread->stored.waits[i].kind], &thread->stored.waits[i]);
  for (uint32_t i = 0; i < thread->waits_count; i++) {
    const struct format_wait *stored = stored_of(thread, &thread->waits[i]);
    if (stored && stored->kind < KINDS)
      take_times_off(&others[stored->kind], stored);
  }
  for (uint32_t i = 0; i < thread->waits_count; i++) {
    struct format_wait *wait = &thread->waits[i];
    const struct format_wait *stored = stored_of(thread, wait), *of = stored ? stored : &others[wait->kind % KINDS];
    struct range_amount share = {wait->idle, of->idle};
    if (of->runtime)
      share = (struct range_amount){wait->runtime, of->runtime};
    if (share.all)
      wait->tool_ns = range_share_of(of->tool_ns, share);
  }
}

/* What of the runtime's work counts as waiting depends on all of the thread's life: see exact_waits.h. */
static void limit_runtime(struct range_thread *thread)
{
  double all_ns = exact_waits_runtime_ns(thread->stored.waits, thread->stored.count, thread->tick_ns);
  double part = exact_waits_runtime_part(thread->record, all_ns);
  for (uint32_t i = 0; i < thread->waits_count; i++) {
    struct format_wait *wait = &thread->waits[i];
    double own = (double)wait->runtime - (double)wait->tool_ns / thread->tick_ns;
    uint64_t waiting = own > 0 ? model_rounded((1 - part) * own) : 0;
    waiting = MIN(waiting, wait->runtime);
    model_add(&wait->idle, waiting);
    wait->runtime -= waiting;
  }
}

void range_thread_waits(struct range_thread *thread, const struct range_thread *all, uint32_t count,
                        struct read_part *part)
{
  for (uint32_t i = 0; i < thread->codes_count; i++) {
    struct range_code *code = &thread->codes[i];
    struct format_wait *wait = code->wait ? &thread->waits[code->wait - 1] : NULL;
    if (!wait || wait->kind == FORMAT_WAIT_PARKED)
      continue;
    if (!wait->node)
      wait->node = node_of(thread, i, code, all, count);
  }
  add_tool_time(thread);
  limit_runtime(thread);
  part->thread = thread->record->index;
  give(part, FORMAT_WAITS, thread->waits, thread->waits_count);
  give(part, FORMAT_NODES, thread->more_nodes, thread->more_count);
  thread->waits = NULL;
  thread->more_nodes = NULL;
}

static void make_shares(struct range_thread *thread, struct read_part *part)
{
  struct format_share *shares = xcalloc(thread->shares_count, sizeof *shares);
  for (uint32_t i = 0; i < thread->shares_count; i++)
    shares[i] = thread->shares[i].share;
  give(part, FORMAT_SHARES, shares, thread->shares_count);
}

/* Figures of a construct that the trace lacks are taken over if all of its executions are in the part. */
static void cut_construct(struct format_construct *construct, const struct range_code *codes)
{
  struct range_amount executions = {0, construct->count};
  uint64_t wait_all = construct->ticks[CONSTRUCT_TIME_WAIT], body = construct->ticks[CONSTRUCT_TIME_BODY];
  bool taken = false;
  for (uint32_t time = 0; time < CONSTRUCT_TIMES; time++) {
    executions.in += codes[time].begun;
    construct->ticks[time] = codes[time].ticks;
    taken = taken || codes[time].ticks;
  }
  construct->count = executions.in;
  struct range_amount own = {codes[CONSTRUCT_TIME_WAIT].own, codes[CONSTRUCT_TIME_WAIT].own_all};
  construct->wait_own = own.all ? range_share_of(construct->wait_own, own) : 0;
  struct range_amount waits = {codes[CONSTRUCT_TIME_WAIT].ticks, wait_all};
  if (waits.in < waits.all)
    construct->wait_spare = range_share_of(construct->wait_spare, waits);
  if (executions.in && executions.in >= executions.all) {
    if (construct->kind == DIRECTIVE_LOCK)
      construct->ticks[CONSTRUCT_TIME_BODY] = body;
    return;
  }
  construct->flags |= executions.in || taken ? READ_CUT : 0;
  construct->chosen = construct->unended = 0;
  construct->longest = construct->longest_first = construct->longest_iterations = 0;
  construct->chunk_least = construct->chunk_most = 0;
}

static void make_constructs(struct range_thread *thread, struct read_part *part)
{
  for (uint32_t i = 0; i < thread->constructs_count; i++)
    cut_construct(&thread->constructs[i], thread->codes + (size_t)i * CONSTRUCT_TIMES);
  give(part, FORMAT_CONSTRUCTS, thread->constructs, thread->constructs_count);
  thread->constructs = NULL;
}

/* ---- tasks ---- */

/* Figures of the tasks of a directive, from the constructs of a thread. */
struct task_sums {
  struct range_amount created, started, ticks;
};

/* Adds a record to the sums of the tasks that it creates, or in whose execution it is.  tasks[record]: these, plus 1.
 */
static void add_to_tasks(const struct range_thread *thread, const struct hash_map *rows, uint32_t record,
                         uint32_t *tasks, struct task_sums *sums)
{
  assert(record && record < thread->constructs_count);
  const struct format_construct *construct = &thread->constructs[record];
  const struct range_code *codes = thread->codes + (size_t)record * CONSTRUCT_TIMES;
  uint32_t own = hash_map_find(rows, (uint64_t)construct->directive + 1);
  uint64_t begun = 0;
  for (uint32_t time = 0; time < CONSTRUCT_TIMES; time++)
    begun += codes[time].begun;
  tasks[record] = construct->parent < record && !read_is_link(construct) ? tasks[construct->parent] : 0;
  if (construct->kind == CONSTRUCT_TASK_EXEC)
    tasks[record] = own;
  if (construct->kind == CONSTRUCT_TASK_EXEC && own)
    range_add(&sums[own - 1].started, begun, construct->count);
  if (construct->kind == DIRECTIVE_TASK && own)
    range_add(&sums[own - 1].created, begun, construct->count);
  for (uint32_t time = 0; time < CONSTRUCT_TIMES && tasks[record]; time++)
    if (time != CONSTRUCT_TIME_WAIT && (construct->kind != DIRECTIVE_LOCK || time != CONSTRUCT_TIME_BODY))
      range_add(&sums[tasks[record] - 1].ticks, codes[time].ticks, construct->ticks[time]);
}

/* Leaves what is known of tasks that are not all in the part, or not all in the constructs. */
static void cut_tasks(struct format_tasks *tasks, const struct task_sums *sums)
{
  bool all = sums->created.in >= tasks->created && sums->started.in >= tasks->started;
  bool known = sums->created.all == tasks->created && sums->started.all == tasks->started;
  if (all && known && sums->ticks.in >= sums->ticks.all - sums->ticks.all / 256)
    return;
  *tasks = (struct format_tasks){.directive = tasks->directive,
                                 .reserved = READ_CUT,
                                 .created = sums->created.in,
                                 .started = sums->started.in,
                                 .ticks = sums->ticks.in};
}

static void make_tasks(struct range_thread *thread, struct read_part *part)
{
  struct hash_map rows = {0};
  struct task_sums *sums = xcalloc(thread->tasks_count, sizeof *sums);
  uint32_t *tasks = xcalloc(thread->constructs_count, sizeof *tasks);
  for (uint32_t i = 0; i < thread->tasks_count; i++)
    hash_map_add(&rows, (uint64_t)thread->tasks[i].directive + 1, i + 1);
  for (uint32_t i = 1; i < thread->constructs_count && thread->tasks_count; i++)
    add_to_tasks(thread, &rows, i, tasks, sums);
  for (uint32_t i = 0; i < thread->tasks_count; i++)
    cut_tasks(&thread->tasks[i], &sums[i]);
  free(sums);
  free(tasks);
  hash_map_release(&rows);
  give(part, FORMAT_TASKS, thread->tasks, thread->tasks_count);
  thread->tasks = NULL;
}

void range_thread_finish(struct range_thread *thread, const struct read_file *file, struct read_columns columns,
                         struct read_part *part)
{
  make_values(thread, file, columns, part);
  make_shares(thread, part);
  make_tasks(thread, part);
  make_constructs(thread, part);
}
