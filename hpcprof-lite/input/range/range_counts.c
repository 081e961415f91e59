#include "hpcprof-lite/input/range/range_counts.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

struct counting {
  struct range_thread *thread;
  struct read_part *part;
  struct hash_map users;                     /* of part->user_counts, by context and name */
  struct range_amount pending[COUNTERS_MAX]; /* since the last sample */
};

static uint64_t user_key(uint32_t node, uint32_t name)
{
  return hash_map_key(hash_map_key(1, node), name);
}

static struct format_user_count *user_count_of(const struct counting *counting, uint32_t node, uint32_t name)
{
  struct format_user_count *users = counting->part->tables[FORMAT_USER_COUNTS].records;
  uint64_t key = user_key(node, name);
  uint32_t found = HASH_MAP_FIND(&counting->users, key, i, users[i - 1].node == node && users[i - 1].name == name);
  return found ? &users[found - 1] : NULL;
}

/* Lists the contexts and counters that the file has, each once, without values. */
static void take_users(struct counting *counting, struct read_file *file, struct problems *problems)
{
  struct read_part *part = counting->part;
  uint32_t all, kept = 0;
  struct format_user_count *counts =
      read_table(file, counting->thread->record->index, FORMAT_USER_COUNTS, problems, &all);
  part->tables[FORMAT_USER_COUNTS].records = counts;
  for (uint32_t i = 0; i < all; i++) {
    struct format_user_count at = {.node = counts[i].node, .name = counts[i].name, .least = UINT64_MAX};
    if (user_count_of(counting, at.node, at.name))
      continue;
    counts[kept++] = at;
    hash_map_add(&counting->users, user_key(at.node, at.name), kept);
  }
  part->tables[FORMAT_USER_COUNTS].count = kept;
}

static void add_value(const struct counting *counting, const struct trace_event *event)
{
  const struct range_thread *thread = counting->thread;
  struct format_user_count *at = user_count_of(counting, event->node, event->counter);
  if (!at || event->end_ticks < thread->from || event->end_ticks >= thread->to)
    return;
  at->count++;
  model_add(&at->sum, event->value);
  at->least = MIN(event->value, at->least);
  at->most = MAX(event->value, at->most);
}

static bool is_between(uint64_t at, const struct trace_event *event)
{
  return at > event->begin_ticks && at < event->end_ticks;
}

static void add_events(struct counting *counting, const struct trace_event *event)
{
  struct range_thread *thread = counting->thread;
  if (event->counter >= thread->counters)
    return;
  uint64_t in = model_part(event->value, event->begin_ticks, event->end_ticks, thread->from, thread->to);
  range_add(&counting->pending[event->counter], in, event->value);
  thread->counts_cut |= is_between(thread->from, event) || is_between(thread->to, event);
}

/* What was counted since the last sample belongs to a node. */
static void charge(struct counting *counting, uint32_t node)
{
  struct range_thread *thread = counting->thread;
  uint32_t value = node < thread->nodes_count ? thread->value_of[node] : 0;
  for (unsigned i = 0; i < thread->counters; i++) {
    range_add(&thread->counted[(size_t)value * thread->counters + i], counting->pending[i].in,
              counting->pending[i].all);
    counting->pending[i] = (struct range_amount){0};
  }
}

static void take_event(struct counting *counting, const struct trace_event *event)
{
  if (event->kind == TRACE_EVENT_USER_COUNT)
    add_value(counting, event);
  else if (event->kind == TRACE_EVENT_EVENT_COUNT)
    add_events(counting, event);
  else if (event->kind == TRACE_EVENT_SAMPLE)
    charge(counting, event->node); /* it takes what was counted before it */
}

void range_counts_take(struct range_thread *thread, struct read_file *file, const struct trace_reader *trace,
                       struct problems *problems, struct read_part *part)
{
  assert(!thread->counted);
  struct counting counting = {.thread = thread, .part = part};
  const char *names[COUNTERS_MAX];
  thread->counters = read_counters(file, names);
  thread->counted = xcalloc((size_t)thread->values_count * thread->counters + COUNTERS_MAX, sizeof *thread->counted);
  take_users(&counting, file, problems);
  if (thread->counters || part->tables[FORMAT_USER_COUNTS].count) {
    struct trace_cursor cursor;
    struct trace_event event;
    trace_cursor_open(trace, thread->record->index, NULL, &cursor); /* damage is reported by the sweep */
    cursor.counts = true;
    while (trace_cursor_next(&cursor, &event))
      take_event(&counting, &event);
    charge(&counting, 0);
    trace_cursor_close(&cursor);
  }
  hash_map_release(&counting.users);
}
