#include "hpcrun-lite/rt/span/directive.h"

#include <string.h>

#include "common/hash.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/core/pool.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { ROWS_FIRST = 256, HEADS = 1024, TRIES = 100000, TOTALS_FIRST = 64, BULK = 256 };

/* Initialised before another thread has a reference.  Then any holder changes refs, work, end and span atomically; the
 * thread that releases the last reference has acquired all changes. */
struct instance {
  struct pool_item pool;
  uint32_t refs, row, outer;
  uint32_t whole; /* the instance of which this is a part, 0: none */
  bool moved;     /* a part whose chains begin later than it starts: see directive_part_moved() */
  uint64_t start, end, span, work;
};

static struct table rows;  /* struct format_directive */
static struct table links; /* struct row_link, by row */
static struct pool instances;
static _Atomic uint32_t heads[HEADS]; /* stored with release under the lock, after the row; loaded with acquire */
static atomic_flag lock = ATOMIC_FLAG_INIT;

struct row_link {
  uint64_t code;
  uint32_t next, kind;
};

static struct format_directive *row_at(uint32_t row)
{
  return table_at(&rows, row);
}

/* The hash list of rows: see find(). */
static struct row_link *link_at(uint32_t row)
{
  return table_at(&links, row);
}

static struct instance *at(uint32_t index)
{
  return pool_at(&instances, index);
}

void directive_start(void)
{
  uint32_t index;
  atomic_flag_clear(&lock);
  for (unsigned i = 0; i < HEADS; i++)
    atomic_store_explicit(&heads[i], 0, memory_order_relaxed);
  pool_init(&instances, sizeof(struct instance));
  table_init(&rows, FORMAT_DIRECTIVES, ARENA_SHARED, 0, sizeof(struct format_directive), ROWS_FIRST);
  table_init(&links, FORMAT_FREE, ARENA_SHARED, 0, sizeof(struct row_link), ROWS_FIRST);
  if (table_next(&rows, &index) && table_next(&links, &index)) { /* row 0: the program */
    table_publish(&rows);
    table_publish(&links);
  }
}

const struct table *directive_table(void)
{
  return &rows;
}

bool directive_start_thread(struct thread_state *t)
{
  table_init(&span_of(t)->totals, FORMAT_FREE, ARENA_TOTALS, t->index, sizeof(struct directive_total), TOTALS_FIRST);
  return true;
}

struct directive_total *directive_find_total(struct thread_state *t, uint32_t row)
{
  struct span_thread *span = span_of(t);
  uint32_t index;
  while (span->totals.count <= row) {
    if (!table_next(&span->totals, &index))
      return NULL;
    table_publish(&span->totals);
  }
  span->last_row = row;
  return span->last_total = table_at(&span->totals, row);
}

/* Whether a row is that of the construct at an address.  Code of an unloaded module may have been there before. */
static bool is_row(struct thread_state *t, uint32_t row, enum format_directive_kind kind, uint64_t code)
{
  const struct row_link *link = link_at(row);
  uint32_t module = row_at(row)->module;
  return link->code == code && link->kind == kind && (!module || modules_still(t, code - 1, module));
}

static uint32_t find(struct thread_state *t, uint32_t head, enum format_directive_kind kind, uint64_t code)
{
  uint32_t row = atomic_load_explicit(&heads[head], memory_order_acquire);
  while (row && !is_row(t, row, kind, code))
    row = link_at(row)->next;
  return row;
}

/* Returns the row, added if it is missing; 0 if there is no room. */
static uint32_t add_row(struct thread_state *t, uint32_t head, enum format_directive_kind kind, uint64_t code)
{
  uint32_t index, row = 0, module = 0;
  bool named = kind == FORMAT_DIRECTIVE_USER_REGION; /* then the code is a hash of the name */
  const struct format_module *in = code && !named ? modules_find(t, code - 1, &module) : NULL;
  for (int i = 0; i < TRIES; i++) {
    if (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
      sys_yield();
      continue;
    }
    row = find(t, head, kind, code);
    struct row_link *link = row || rows.count >= DIRECTIVES_MAX ? NULL : table_next(&links, &index);
    struct format_directive *made = link ? table_next(&rows, &row) : NULL;
    if (made) {
      *link = (struct row_link){code, atomic_load(&heads[head]), kind};
      made->kind = kind & 0xff; /* see directive_for_device() */
      made->device = kind >> 8;
      made->module = in ? module : 0;
      made->offset = in ? code - 1 - in->base : code;
      table_publish(&links);
      table_publish(&rows);
      atomic_store_explicit(&heads[head], row, memory_order_release);
    }
    atomic_flag_clear_explicit(&lock, memory_order_release);
    return row;
  }
  return 0;
}

uint32_t directive_look_up(struct thread_state *t, struct row_cache *cache, enum format_directive_kind kind,
                           const void *code)
{
  uint64_t address = (uint64_t)code;
  uint32_t head = (uint32_t)((address ^ (uint64_t)kind << 56) * 0x9e3779b97f4a7c15ULL >> 40) % HEADS;
  uint32_t row = find(t, head, kind, address);
  if (!row)
    row = add_row(t, head, kind, address);
  if (row)
    *cache = (struct row_cache){address, kind, row};
  else
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
  return row;
}

const void *directive_taskloop(uint32_t row)
{
  bool taskloop =
      row < __atomic_load_n(&rows.count, __ATOMIC_ACQUIRE) && link_at(row)->kind == FORMAT_DIRECTIVE_TASKLOOP;
  return taskloop ? (const void *)link_at(row)->code : NULL;
}

uint32_t directive_user_row(struct thread_state *t, const char *name, uint32_t *string)
{
  uint64_t hash = hash_bytes(HASH_START, name, strlen(name));
  uint32_t row = directive_row(t, FORMAT_DIRECTIVE_USER_REGION, (const void *)hash);
  if (row && !__atomic_load_n(&row_at(row)->name, __ATOMIC_ACQUIRE))
    __atomic_store_n(&row_at(row)->name, modules_string(name), __ATOMIC_RELEASE);
  *string = row ? row_at(row)->name : 0;
  return row;
}

bool directive_contains(uint32_t index, uint32_t row)
{
  while (index && at(index)->row != row)
    index = at(index)->outer;
  return index != 0;
}

void directive_device_time(struct thread_state *t, uint32_t index, uint64_t amount)
{
  for (; index; index = at(index)->outer) {
    struct directive_total *total = directive_total(t, at(index)->row);
    if (total)
      total->device_time += amount;
  }
}

void directive_ended(struct thread_state *t, uint32_t row, uint64_t instances, uint64_t work, uint64_t span)
{
  struct directive_total *total = directive_total(t, row);
  RT_ASSERT(span <= work);
  if (!total)
    return;
  total->instances += instances;
  total->work += work;
  total->span += span;
}

/* Sets *position to the maximum of itself and the value. */
static void atomic_raise(uint64_t *position, uint64_t value)
{
  uint64_t now = __atomic_load_n(position, __ATOMIC_RELAXED);
  while (value > now && !__atomic_compare_exchange_n(position, &now, value, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    ;
}

static void instance_ended(struct thread_state *t, const struct instance *instance)
{
  RT_ASSERT(instance->end >= instance->start);
  uint64_t span = instance->span ? instance->span : instance->end - instance->start;
  directive_ended(t, instance->row, 1, instance->work, span < instance->work ? span : instance->work);
}

/* Adds the share to the instance and returns the references.  The last one ends the instance, and then those around
 * it of which it was the last holder. */
static void release_share(struct thread_state *t, struct instance_share share)
{
  while (share.instance) {
    struct instance *instance = at(share.instance);
    if (share.work)
      __atomic_fetch_add(&instance->work, share.work, __ATOMIC_RELAXED);
    atomic_raise(&instance->end, share.end);
    RT_ASSERT(share.refs && __atomic_load_n(&instance->refs, __ATOMIC_RELAXED) >= share.refs);
    if (__atomic_load_n(&instance->refs, __ATOMIC_ACQUIRE) != share.refs &&
        __atomic_sub_fetch(&instance->refs, share.refs, __ATOMIC_ACQ_REL) > 0)
      return;
    if (instance->whole && !instance->moved)
      directive_span(instance->whole, instance->end - instance->start);
    if (instance->whole) /* in no other instance: this is not deeper than once */
      release_share(t, (struct instance_share){instance->whole, 1, instance->work, instance->end});
    else
      instance_ended(t, instance);
    uint32_t ended = share.instance;
    share = (struct instance_share){instance->outer, 1, instance->work, instance->end};
    pool_put(&instances, &span_of(t)->free_instances, ended);
  }
}

/* The thread's share of an instance, with at least one reference.  The share of another instance in the same place is
 * released. */
static void replace_share(struct thread_state *t, struct instance_share *share, uint32_t index)
    __attribute__((noinline));
static void replace_share(struct thread_state *t, struct instance_share *share, uint32_t index)
{
  release_share(t, *share);
  __atomic_fetch_add(&at(index)->refs, BULK, __ATOMIC_RELAXED);
  *share = (struct instance_share){index, BULK, 0, 0};
}

struct instance_share *directive_open_share(struct thread_state *t, uint32_t index)
{
  struct instance_share *share = directive_share_place(t, index);
  if (share->instance != index)
    replace_share(t, share, index);
  return share;
}

static void release_shares(struct thread_state *t)
{
  struct span_thread *span = span_of(t);
  for (unsigned i = 0; i < sizeof span->instance_shares / sizeof *span->instance_shares; i++) {
    struct instance_share share = span->instance_shares[i];
    span->instance_shares[i] = (struct instance_share){0};
    release_share(t, share);
  }
}

/* Adds to a sum of squares, which stays UINT64_MAX where it is too large. */
static void add_squares(uint64_t *to, uint64_t squares)
{
  uint64_t now = __atomic_load_n(to, __ATOMIC_RELAXED), sum;
  do
    sum = now > UINT64_MAX - squares ? UINT64_MAX : now + squares;
  while (!__atomic_compare_exchange_n(to, &now, sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

void directive_add_sums(struct thread_state *t)
{
  release_shares(t);
  for (uint32_t row = 0; row < span_of(t)->totals.count; row++) {
    struct directive_total *total = table_at(&span_of(t)->totals, row);
    struct format_directive *to = row_at(row);
    __atomic_fetch_add(&to->instances, total->instances, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->work, total->work, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->span, total->span, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->iterations, total->iterations, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->light, total->light, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->stood, total->stood, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->stood_work, total->stood_work, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->stood_span, total->stood_span, __ATOMIC_RELAXED);
    add_squares(&to->stood_squares, total->stood_squares);
    __atomic_fetch_add(&to->stood_spread, total->stood_spread, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->device_time, total->device_time, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->untimed, total->untimed, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->early, total->early, __ATOMIC_RELAXED);
    *total = (struct directive_total){.regions = total->regions};
  }
}

void directive_stop_thread(struct thread_state *t)
{
  directive_add_sums(t);
  pool_flush(&instances, &span_of(t)->free_instances);
  span_of(t)->last_total = NULL;
  table_release(&span_of(t)->totals);
}

uint32_t directive_share_other(struct thread_state *t, uint32_t index)
{
  if (!index)
    return 0;
  struct instance_share *share = directive_open_share(t, index);
  if (share->refs == 1) {
    __atomic_fetch_add(&at(index)->refs, BULK, __ATOMIC_RELAXED);
    share->refs += BULK;
  }
  share->refs--;
  return index;
}

void directive_leave(struct thread_state *t, uint32_t index)
{
  if (!index)
    return;
  struct instance_share *share = directive_share_place(t, index), one = {index, 1, 0, 0};
  if (share->instance != index) {
    release_share(t, one);
    return;
  }
  share->refs++;
  bool last = __atomic_load_n(&at(index)->refs, __ATOMIC_ACQUIRE) == share->refs;
  if (!last && share->refs < 2 * BULK)
    return;
  one = *share;
  *share = (struct instance_share){0};
  release_share(t, one);
}

static uint32_t instance_new(struct thread_state *t, uint32_t row, uint32_t whole, uint32_t outer, uint64_t start)
{
  uint32_t index = row ? pool_get(&instances, &span_of(t)->free_instances) : 0;
  if (!index) {
    if (row)
      rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return directive_share(t, outer);
  }
  struct instance *instance = at(index);
  instance->refs = 1;
  instance->row = row;
  instance->outer = directive_share(t, outer);
  instance->start = instance->end = start;
  instance->whole = directive_share(t, whole);
  instance->moved = false;
  instance->span = instance->work = 0;
  return index;
}

uint32_t directive_enter(struct thread_state *t, uint32_t row, uint32_t outer, uint64_t start)
{
  if (directive_contains(outer, row))
    return directive_share(t, outer);
  return instance_new(t, row, 0, outer, start);
}

uint32_t directive_enter_part(struct thread_state *t, uint32_t whole, uint32_t outer, uint64_t start)
{
  return instance_new(t, whole ? at(whole)->row : 0, whole, outer, start);
}

void directive_part_moved(uint32_t index)
{
  if (index)
    at(index)->moved = true;
}

void directive_span(uint32_t index, uint64_t span)
{
  if (index)
    atomic_raise(&at(index)->span, span);
}

void directive_lock_bound(uint32_t row, uint64_t bound)
{
  if (row)
    atomic_raise(&row_at(row)->lock_bound, bound);
}

void directive_count(struct thread_state *t, uint32_t row, uint64_t iterations)
{
  struct directive_total *total = row ? directive_total(t, row) : NULL;
  if (!total)
    return;
  total->instances += iterations == 0;
  total->iterations += iterations;
}

void directive_light(struct thread_state *t, uint32_t row)
{
  struct directive_total *total = row ? directive_total(t, row) : NULL;
  if (!total)
    return;
  total->instances++;
  total->light++;
}

void directive_stands_for(struct thread_state *t, uint32_t row, uint64_t light, uint64_t work)
{
  struct directive_total *total = row ? directive_total(t, row) : NULL;
  if (!total)
    return;
  total->stood += light;
  total->stood_work += light * work;
}

/* Of these, light regions only count executions; those of others are followed there, too. */
static bool is_light_inside(uint32_t kind)
{
  return kind == FORMAT_DIRECTIVE_PARALLEL || kind == FORMAT_DIRECTIVE_FOR || kind == FORMAT_DIRECTIVE_SECTIONS ||
         kind == FORMAT_DIRECTIVE_SINGLE || kind == FORMAT_DIRECTIVE_MASKED;
}

void directive_region_stands_for(struct thread_state *t, uint32_t row, uint64_t light, uint64_t work, uint64_t span)
{
  struct directive_total *total = row && light && is_light_inside(row_at(row)->kind) ? directive_total(t, row) : NULL;
  uint64_t squares;
  if (!total)
    return;
  total->stood += light;
  total->stood_work += light * work;
  total->stood_span += light * span;
  total->stood_spread += light * (light + 1);
  if (__builtin_mul_overflow(span, light * span, &squares) ||
      __builtin_add_overflow(total->stood_squares, squares, &total->stood_squares))
    total->stood_squares = UINT64_MAX;
}
