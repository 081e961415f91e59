#include "hpcrun-lite/rt/sampling/region.h"

#include "hpcrun-lite/rt/filter/filter.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/lock_table.h"
#include "hpcrun-lite/rt/sampling/mpi_table.h"
#include "hpcrun-lite/rt/sampling/source.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { REGIONS_FIRST = 256, LOCK_TRIES = 10000, REQUEST_AFTER = 8 };

/* In a record's word: the instance has not ended.  The lower bits count its users. */
#define OPEN (1u << 31)

/* Records that no thread has in its own list: tag << 32 | index; the tag solves the ABA problem.  The last user of
 * another thread's record pushes it. */
static _Atomic uint64_t shared_free;
static struct table regions;
static struct table teams;                  /* struct region_team, by region */
static atomic_flag lock = ATOMIC_FLAG_INIT; /* for adding records to the table */

void region_start(void)
{
  uint32_t index;
  atomic_flag_clear(&lock);
  atomic_store(&shared_free, 0);
  table_init(&regions, FORMAT_REGIONS, ARENA_SHARED, 0, sizeof(struct format_region), REGIONS_FIRST);
  table_init(&teams, FORMAT_FREE, ARENA_SHARED, 0, sizeof(struct region_team), REGIONS_FIRST);
  if (table_next(&regions, &index) && table_next(&teams, &index)) { /* index 0 means "none" */
    table_publish(&teams);
    table_publish(&regions);
  }
}

const struct table *region_table(void)
{
  return &regions;
}

static struct format_region *at(uint32_t index)
{
  return table_at(&regions, index);
}

/* For regions of the calling thread: other threads change the number of users, and UNKNOWN to REQUESTED. */
static uint64_t word_of(const struct format_region *region)
{
  return __atomic_load_n(&region->word, __ATOMIC_RELAXED);
}

static uint32_t state_of(const struct format_region *region)
{
  return __atomic_load_n(&region->state, __ATOMIC_RELAXED);
}

/* Samples of other threads read whether a region is open (blame.c). */
static void set_open(struct thread_state *t, uint32_t index)
{
  __atomic_store_n(&span_of(t)->open_region, index, __ATOMIC_RELAXED);
}

bool region_known(const struct format_region *region)
{
  uint32_t state = __atomic_load_n(&region->state, __ATOMIC_ACQUIRE);
  return state == FORMAT_REGION_PROVISIONAL || state == FORMAT_REGION_FINAL;
}

/* The record of a handle; NULL if the instance has ended. */
static struct format_region *region_find(uint64_t handle)
{
  uint32_t index = (uint32_t)handle;
  if (!index || index >= __atomic_load_n(&regions.count, __ATOMIC_ACQUIRE))
    return NULL;
  struct format_region *region = at(index);
  return __atomic_load_n(&region->word, __ATOMIC_ACQUIRE) >> 32 == handle >> 32 ? region : NULL;
}

/* Another thread that is about to fail in pop_shared() may read it. */
static void set_next(struct format_region *region, uint32_t next)
{
  __atomic_store_n(&region->next, next, __ATOMIC_RELAXED);
}

static uint32_t pop_shared(void)
{
  uint64_t head = atomic_load_explicit(&shared_free, memory_order_acquire);
  for (;;) {
    uint32_t index = (uint32_t)head;
    if (!index)
      return 0;
    uint64_t next = __atomic_load_n(&at(index)->next, __ATOMIC_RELAXED);
    if (atomic_compare_exchange_weak(&shared_free, &head, ((head >> 32) + 1) << 32 | next))
      return index;
  }
}

static void push_shared(uint32_t index)
{
  uint64_t head = atomic_load(&shared_free);
  do {
    set_next(at(index), (uint32_t)head);
  } while (!atomic_compare_exchange_weak(&shared_free, &head, ((head >> 32) + 1) << 32 | index));
}

void region_unregister(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  while (sampling->free_region) {
    uint32_t index = sampling->free_region;
    sampling->free_region = at(index)->next;
    push_shared(index);
  }
}

static uint32_t record_add(void)
{
  uint32_t index = 0;
  for (int i = 0; i < LOCK_TRIES; i++) {
    if (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
      sys_yield();
      continue;
    }
    bool room = table_next(&teams, &index);
    struct format_region *region = room ? table_next(&regions, &index) : NULL;
    if (region) {
      table_publish(&teams);
      region->word = (uint64_t)rt.epoch << 32;
      table_publish(&regions);
    }
    atomic_flag_clear_explicit(&lock, memory_order_release);
    return region ? index : 0;
  }
  return 0;
}

uint64_t region_begin(struct thread_state *t, uint64_t enter_frame)
{
  struct sampling_thread *sampling = sampling_of(t);
  uint32_t index = sampling->free_region;
  if (index)
    sampling->free_region = at(index)->next;
  else if (!(index = pop_shared()) && !(index = record_add()))
    return 0;
  struct format_region *region = at(index);
  region->enter_frame = enter_frame;
  region->owner = t->index;
  region->link_node = 0;
  region->team = 1;
  __atomic_store_n(&region->state, FORMAT_REGION_UNKNOWN, __ATOMIC_RELAXED);
  set_next(region, span_of(t)->open_region);
  struct region_team *team = table_at(&teams, index);
  if (team->master != t)
    __atomic_store_n(&team->master, t, __ATOMIC_RELAXED);
  if (team->outer_barriers != sampling->barriers)
    team->outer_barriers = sampling->barriers;
  sampling->barriers = 0;
  set_open(t, index);
  uint64_t generation = (word_of(region) >> 32) + 1;
  __atomic_store_n(&region->word, generation << 32 | OPEN | 1, __ATOMIC_RELEASE);
  return generation << 32 | index;
}

/* Removes a user; the last one makes the record reusable. */
static void drop_user(uint32_t index)
{
  struct format_region *region = at(index);
  uint64_t word = __atomic_sub_fetch(&region->word, 1, __ATOMIC_ACQ_REL);
  if ((uint32_t)word == 0)
    push_shared(index);
}

bool region_open(uint64_t handle)
{
  const struct format_region *region = handle == REGION_NO_RECORD ? NULL : region_find(handle);
  return region && __atomic_load_n(&region->word, __ATOMIC_RELAXED) & OPEN;
}

/* The thread's innermost region is the one around this one again. */
static void leave(struct thread_state *t, const struct format_region *region)
{
  sampling_of(t)->barriers = ((struct region_team *)table_at(&teams, span_of(t)->open_region))->outer_barriers;
  set_open(t, region->next);
}

struct format_region *region_end(struct thread_state *t)
{
  uint32_t index = span_of(t)->open_region;
  if (!index)
    return NULL;
  struct format_region *region = at(index);
  uint64_t alone = (word_of(region) & ~(uint64_t)UINT32_MAX) | OPEN | 1;
  if (__atomic_compare_exchange_n(&region->word, &alone, alone - (OPEN + 1), false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    leave(t, region);
    set_next(region, sampling_of(t)->free_region);
    sampling_of(t)->free_region = index;
    return NULL;
  }
  if (!region_known(region))
    return region;
  region_close(t);
  return NULL;
}

void region_close(struct thread_state *t)
{
  uint32_t index = span_of(t)->open_region;
  struct format_region *region = at(index);
  leave(t, region);
  __atomic_fetch_and(&region->word, ~(uint64_t)OPEN, __ATOMIC_ACQ_REL);
  if (state_of(region) ==
      FORMAT_REGION_PROVISIONAL) { /* the node lies below an unresolved region: region_resolve() comes back to it */
    set_next(region, sampling_of(t)->known_regions);
    sampling_of(t)->known_regions = index;
    return;
  }
  drop_user(index);
}

uint64_t region_current(const struct thread_state *t)
{
  const struct span_thread *span = span_of(t);
  if (!span->open_region)
    return sampling_of(t)->base_region;
  return word_of(at(span->open_region)) >> 32 << 32 | span->open_region;
}

uint64_t region_handle(uint32_t index)
{
  if (!index || index >= __atomic_load_n(&regions.count, __ATOMIC_ACQUIRE))
    return 0;
  return __atomic_load_n(&at(index)->word, __ATOMIC_ACQUIRE) >> 32 << 32 | index;
}

struct region_team *region_team(uint32_t region)
{
  bool known = region && region < __atomic_load_n(&regions.count, __ATOMIC_ACQUIRE);
  return known ? table_at(&teams, region) : NULL;
}

void region_set_code(struct thread_state *t, const void *code)
{
  struct region_team *team = table_at(&teams, span_of(t)->open_region);
  if (team->code != (uint64_t)code) /* otherwise the line stays in the caches of the workers */
    team->code = (uint64_t)code;
}

static void raise_last_idle(uint64_t *last_idle, uint64_t since)
{
  uint64_t now = __atomic_load_n(last_idle, __ATOMIC_RELAXED);
  while (since > now && !__atomic_compare_exchange_n(last_idle, &now, since, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

/* What the slot has of another team may still be needed there. */
void region_note_idle_elsewhere(struct thread_state *t, struct region_team *team, uint32_t region, uint32_t barrier,
                                uint64_t now)
{
  uint32_t parity = barrier % BARRIER_PARITIES;
  if (!span_of(t)->arrivals) {
    __atomic_store_n(&team->last_idle[parity], now, __ATOMIC_RELAXED);
    return;
  }
  struct arrival *own = &span_of(t)->arrivals->at[parity];
  struct region_team *before = region_team(own->idle_team);
  if (before)
    raise_last_idle(&before->last_idle[parity], own->idle_since);
  __atomic_store_n(&own->idle_team, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&own->idle_since, now, __ATOMIC_RELEASE);
  __atomic_store_n(&own->idle_team, region, __ATOMIC_RELEASE);
  barrier_be_member(t, &team->members);
}

/* Writes a record of an end, whose fields change after the generation has become 0. */
static void end_set(struct region_end *to, const struct region_end *end)
{
  __atomic_store_n(&to->generation, 0, __ATOMIC_RELAXED);
  atomic_thread_fence(memory_order_release);
  __atomic_store_n(&to->last_idle, end->last_idle, __ATOMIC_RELAXED);
  __atomic_store_n(&to->left, end->left, __ATOMIC_RELAXED);
  __atomic_store_n(&to->end, end->end, __ATOMIC_RELAXED);
  __atomic_store_n(&to->undelayed, end->undelayed, __ATOMIC_RELAXED);
  __atomic_store_n(&to->late, end->late, __ATOMIC_RELAXED);
  __atomic_store_n(&to->generation, end->generation, __ATOMIC_RELEASE);
}

/* Reads one.  Returns false if it is not of that generation. */
static bool end_get(const struct region_end *from, uint64_t generation, struct region_end *end)
{
  if (__atomic_load_n(&from->generation, __ATOMIC_ACQUIRE) != generation)
    return false;
  *end = (struct region_end){.generation = generation,
                             .last_idle = __atomic_load_n(&from->last_idle, __ATOMIC_RELAXED),
                             .left = __atomic_load_n(&from->left, __ATOMIC_RELAXED),
                             .end = __atomic_load_n(&from->end, __ATOMIC_RELAXED),
                             .next_begun = __atomic_load_n(&from->next_begun, __ATOMIC_RELAXED),
                             .undelayed = __atomic_load_n(&from->undelayed, __ATOMIC_RELAXED),
                             .late = __atomic_load_n(&from->late, __ATOMIC_RELAXED),
                             .next_delay = __atomic_load_n(&from->next_delay, __ATOMIC_RELAXED)};
  atomic_thread_fence(memory_order_acquire);
  return __atomic_load_n(&from->generation, __ATOMIC_RELAXED) == generation;
}

static struct region_end *end_of(struct region_team *team, uint64_t generation)
{
  return &team->ends[generation % REGION_ENDS];
}

void region_note_begin(uint64_t handle, struct region_beginning beginning)
{
  struct region_team *team = region_team((uint32_t)handle);
  if (!team)
    return;
  struct region_end *before = end_of(team, (handle >> 32) - 1);
  __atomic_store_n(&before->next_delay, beginning.delay, __ATOMIC_RELAXED);
  __atomic_store_n(&before->next_begun, beginning.at, __ATOMIC_RELAXED);
}

struct region_beginning region_beginning(uint64_t handle)
{
  struct region_team *team = region_team((uint32_t)handle);
  if (!team)
    return (struct region_beginning){0};
  const struct region_end *before = end_of(team, (handle >> 32) - 1);
  return (struct region_beginning){__atomic_load_n(&before->next_begun, __ATOMIC_RELAXED),
                                   __atomic_load_n(&before->next_delay, __ATOMIC_RELAXED)};
}

/* When the last thread arrived at the barrier that ends the region, which its creator has mostly just found out. */
static struct last_arrival last_at_end(const struct thread_state *t, const struct region_team *team, uint32_t region)
{
  const struct last_arrival *arrival = &sampling_of(t)->arrival;
  uint32_t barrier = sampling_of(t)->barriers - 1;
  if (__builtin_expect(arrival->region == region && arrival->barrier == barrier, 1))
    return *arrival;
  struct barrier_members all = {.left = __atomic_load_n(&team->members, __ATOMIC_RELAXED)};
  return (struct last_arrival){.moment = region_last_idle(team, all, region, barrier)};
}

/* The innermost region has several threads. */
static __attribute__((noinline)) void note_team_end(struct thread_state *t, uint64_t left, uint64_t now, uint64_t late)
{
  uint32_t index = span_of(t)->open_region, size = at(index)->team;
  struct region_team *team = table_at(&teams, index);
  uint64_t generation = word_of(at(index)) >> 32;
  if (team->size != size) {
    end_set(&team->others[team->size % REGION_SIZES], end_of(team, team->last));
    team->size = size;
  }
  team->last = generation;
  struct last_arrival last = last_at_end(t, team, index);
  end_set(end_of(team, generation),
          &(struct region_end){.generation = generation,
                               .last_idle = last.moment,
                               .left = left,
                               .end = now,
                               .undelayed = late && !last.undelayed ? last.moment : last.undelayed,
                               .late = late});
}

void region_note_end(struct thread_state *t, uint64_t left, uint64_t now, uint64_t late)
{
  uint32_t index = span_of(t)->open_region;
  if (index && at(index)->team > 1)
    note_team_end(t, left, now, late);
}

void region_expect_end(const struct thread_state *t)
{
  uint32_t index = span_of(t)->open_region;
  machine_take_line(end_of(table_at(&teams, index), word_of(at(index)) >> 32));
}

bool region_find_end(uint64_t handle, const struct region_team *team, struct region_end *end)
{
  uint64_t generation = handle >> 32;
  if (end_get(&team->ends[generation % REGION_ENDS], generation, end))
    return true;
  for (unsigned i = 0; i < REGION_SIZES; i++)
    if (end_get(&team->others[i], generation, end))
      return true;
  return false;
}

uint64_t region_identity(const struct thread_state *t)
{
  uint64_t handle = region_current(t);
  const struct format_region *region = handle == REGION_NO_RECORD ? NULL : region_find(handle);
  if (!region || __atomic_load_n(&region->state, __ATOMIC_ACQUIRE) != FORMAT_REGION_FINAL)
    return handle;
  return 1ull << 63 | (uint64_t)region->owner << 32 | region->link_node;
}

struct format_region *region_innermost(const struct thread_state *t)
{
  return span_of(t)->open_region ? at(span_of(t)->open_region) : NULL;
}

struct region_entry region_entered(const struct thread_state *t, uint64_t sp_from, uint64_t sp_to)
{
  uint32_t inner = 0, outer = 0;
  for (uint32_t index = span_of(t)->open_region; index; index = at(index)->next) {
    uint64_t enter_frame = at(index)->enter_frame;
    if (enter_frame >= sp_from && enter_frame < sp_to) {
      inner = inner ? inner : index;
      outer = index;
    } else if (outer && enter_frame >= sp_to) { /* the region that a runtime makes for a team may have none */
      break;
    }
  }
  if (!outer)
    return (struct region_entry){0};
  bool more = at(inner)->enter_frame < at(outer)->enter_frame;
  return (struct region_entry){at(outer), region_team(outer)->code, more};
}

/* Does the node lie below a placeholder? */
static bool unresolved(const struct thread_state *t, uint32_t node)
{
  return cct_kind(t, cct_top(t, node)) == FORMAT_KIND_PLACEHOLDER;
}

static void publish(struct format_region *region, uint32_t node, uint32_t filtered, uint32_t state)
{
  region->link_node = node;
  region->filtered = filtered;
  __atomic_store_n(&region->state, state, __ATOMIC_RELEASE);
}

void region_publish(struct thread_state *t, struct format_region *region, uint32_t node, uint32_t filtered)
{
  if (state_of(region) == FORMAT_REGION_FINAL || node == CCT_NONE)
    return;
  publish(region, node, filtered, unresolved(t, node) ? FORMAT_REGION_PROVISIONAL : FORMAT_REGION_FINAL);
}

void region_publish_final(struct format_region *region, uint32_t node, uint32_t filtered)
{
  publish(region, node, filtered, FORMAT_REGION_FINAL);
}

static uint32_t link_node(struct thread_state *t, const struct format_region *region)
{
  return cct_child(t, CCT_ROOT, (struct cct_key){FORMAT_KIND_LINK, region->owner, region->link_node});
}

/* Adds a user to the instance, unless it has ended. */
static bool add_user(struct format_region *region, uint64_t handle)
{
  uint64_t word = __atomic_load_n(&region->word, __ATOMIC_ACQUIRE);
  do {
    if (word >> 32 != handle >> 32 || ((uint32_t)word & ~OPEN) == 0)
      return false;
  } while (!__atomic_compare_exchange_n(&region->word, &word, word + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return true;
}

/* Makes the caller responsible for the request to publish the region's creation context.  Only one thread ever is. */
static bool claim_request(struct format_region *region)
{
  uint32_t unknown = FORMAT_REGION_UNKNOWN;
  return __atomic_compare_exchange_n(&region->state, &unknown, FORMAT_REGION_REQUESTED, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE);
}

/* The thread was sampled again in a region whose master does not publish its creation context.  A master that sleeps in
 * the runtime uses no CPU time and is not sampled, so the context would stay unknown as long as the region lasts, and
 * for ever if the program is killed.  It therefore gets one request, by a signal.  The region cannot end meanwhile,
 * since the calling thread is in it, and the runtime does not notice an interrupted wait.  A master that is not known
 * to wait gets the request after some samples: it may sleep in a call that is not interposed.  Before interposed calls,
 * which a signal would interrupt, it has published by itself (region_publish_open()). */
static void request_publication(uint32_t index, uint32_t samples)
{
  struct format_region *region = at(index);
  const struct thread_state *master = __atomic_load_n(&region_team(index)->master, __ATOMIC_RELAXED);
  if (region_known(region) || master->index != region->owner) /* the master may have been cancelled in the region */
    return;
  const struct activity *is = &master->activity;
  bool waits = __atomic_load_n(&is->idle, __ATOMIC_RELAXED) || __atomic_load_n(&is->lockwait, __ATOMIC_RELAXED);
  bool blocked = __atomic_load_n(&is->call, __ATOMIC_RELAXED) == RT_CALL_BLOCKS;
  if ((waits || (samples > REQUEST_AFTER && !blocked)) && claim_request(region))
    sys_signal_thread(rt.pid, master->tid, SAMPLE_SIGNAL, (void *)&source_request_publication);
}

bool region_publish_open(const struct thread_state *t)
{
  bool publish = false;
  for (uint32_t index = span_of(t)->open_region; index; index = at(index)->next)
    publish |= at(index)->team > 1 && state_of(at(index)) == FORMAT_REGION_UNKNOWN && claim_request(at(index));
  return publish;
}

/* The node for frames in a region whose creation context is not known and will not be. */
static uint32_t partial_node(struct thread_state *t)
{
  rt_lost(t, FORMAT_LOST_UNRESOLVED);
  return cct_child(t, CCT_ROOT, (struct cct_key){FORMAT_KIND_PARTIAL, 0, 0});
}

uint32_t region_base(struct thread_state *t, uint64_t handle, uint32_t *filtered)
{
  struct sampling_thread *sampling = sampling_of(t);
  *filtered = 0;
  if (handle == REGION_NO_RECORD)
    return partial_node(t);
  struct format_region *region = region_find(handle);
  if (!region)
    return CCT_NONE;
  if (filter_now()->paths && region_known(region))
    *filtered = region->filtered;
  for (unsigned i = 0; i < sampling->pending_count; i++)
    if (sampling->pending[i].region == (uint32_t)handle) {
      request_publication((uint32_t)handle, ++sampling->pending[i].samples);
      return sampling->pending[i].node;
    }
  if (!add_user(region, handle))
    return CCT_NONE;
  bool linked = __atomic_load_n(&region->state, __ATOMIC_ACQUIRE) == FORMAT_REGION_FINAL;
  bool room = sampling->pending_count < RT_PENDING_MAX;
  uint32_t node = CCT_NONE;
  if (linked)
    node = link_node(t, region);
  else if (room)
    node = cct_child(t, CCT_ROOT, (struct cct_key){FORMAT_KIND_PLACEHOLDER, 0, (uint32_t)handle});
  if (linked || node == CCT_NONE)
    drop_user((uint32_t)handle);
  else
    sampling->pending[sampling->pending_count++] = (struct pending_region){.region = (uint32_t)handle, .node = node};
  return linked || room ? node : partial_node(t);
}

uint32_t region_filtered(const struct thread_state *t)
{
  const struct sampling_thread *sampling = sampling_of(t);
  bool recorded = sampling->base_region && sampling->base_region != REGION_NO_RECORD;
  const struct format_region *region = recorded ? region_find(sampling->base_region) : NULL;
  uint32_t found = region && region_known(region) ? region->filtered : 0;
  for (uint32_t index = span_of(t)->open_region; index; index = at(index)->next)
    found |= region_known(at(index)) ? at(index)->filtered : 0;
  return found;
}

uint32_t region_around(struct thread_state *t, uint64_t low, uint64_t high, uint32_t *filtered)
{
  struct sampling_thread *sampling = sampling_of(t);
  *filtered = 0;
  const struct format_region *region = region_innermost(t);
  while (region && region->enter_frame && region->enter_frame >= low && region->enter_frame < high)
    region = region->next ? at(region->next) : NULL;
  if (sampling->unrecorded_regions || (region && !(region->enter_frame && region_known(region))))
    return CCT_NONE;
  if (region) {
    *filtered = region->filtered;
    return region->link_node;
  }
  return sampling->base_region ? region_base(t, sampling->base_region, filtered) : CCT_NONE;
}

/* Links of the thread's own regions, its wait sites, its locks, and its calls of MPI follow a node that was merged into
 * another one. */
static void follow_merge(struct thread_state *t, uint32_t from, uint32_t to)
{
  struct sampling_thread *sampling = sampling_of(t);
  for (uint32_t i = 0; i < sampling->waits.count; i++) {
    struct format_wait *wait = table_at(&sampling->waits, i);
    if (wait->node == from)
      wait->node = to;
  }
  lock_table_follow_merge(t, from, to);
  mpi_table_follow_merge(t, from, to);
  for (uint32_t index = span_of(t)->open_region; index; index = at(index)->next)
    if (region_known(at(index)) && at(index)->link_node == from)
      at(index)->link_node = to;
  for (uint32_t index = sampling->known_regions; index; index = at(index)->next)
    if (at(index)->link_node == from)
      at(index)->link_node = to;
  for (unsigned i = 0; i < sampling->pending_count; i++)
    if (sampling->pending[i].node == from)
      sampling->pending[i].node = to;
}

/* Makes the links of the thread's own regions final if their context has been resolved. */
static void promote(struct thread_state *t)
{
  for (uint32_t index = span_of(t)->open_region; index; index = at(index)->next)
    if (state_of(at(index)) == FORMAT_REGION_PROVISIONAL && !unresolved(t, at(index)->link_node))
      __atomic_store_n(&at(index)->state, FORMAT_REGION_FINAL, __ATOMIC_RELEASE);
  uint32_t *link = &sampling_of(t)->known_regions;
  while (*link) {
    uint32_t index = *link;
    if (unresolved(t, at(index)->link_node)) {
      link = &at(index)->next;
      continue;
    }
    __atomic_store_n(&at(index)->state, FORMAT_REGION_FINAL, __ATOMIC_RELEASE);
    *link = at(index)->next;
    drop_user(index);
  }
}

void region_resolve(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  unsigned kept = 0, count = sampling->pending_count;
  for (unsigned i = 0; i < count; i++) {
    struct pending_region pending = sampling->pending[i];
    const struct format_region *region = at(pending.region);
    if (__atomic_load_n(&region->state, __ATOMIC_ACQUIRE) != FORMAT_REGION_FINAL) {
      sampling->pending[kept++] = pending;
      continue;
    }
    cct_rekey(t, pending.node, (struct cct_key){FORMAT_KIND_LINK, region->owner, region->link_node}, follow_merge);
    drop_user(pending.region);
  }
  sampling->pending_count = kept;
  if (kept < count) {
    promote(t);
    RT_CHECK(cct_check(t));
  }
}

bool region_wanted(const struct thread_state *t)
{
  for (uint32_t index = span_of(t)->open_region; index; index = at(index)->next)
    if (!region_known(at(index)) && ((uint32_t)__atomic_load_n(&at(index)->word, __ATOMIC_RELAXED) & ~OPEN) > 1)
      return true;
  return false;
}
