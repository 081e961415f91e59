#include "hpcprof-lite/replay/instances.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

enum { INSTANCES_MAX = 4 << 20, DEPTH_MAX = 256 };

struct instance {
  uint32_t refs, row, outer, depth;
  uint32_t whole; /* the instance of which this is a part, 0: none */
  bool moved;     /* a part whose chains begin later than it starts */
  struct clock_pair work, start, end, span;
};

static struct instance *instance_at(const struct instances *instances, uint32_t index)
{
  assert(index);
  return object_pool_at(&instances->pool, index);
}

void instances_init(struct instances *instances, uint32_t directives)
{
  *instances = (struct instances){.directives = directives,
                                  .totals = xcalloc((size_t)directives + 1, sizeof *instances->totals)};
  object_pool_init(&instances->pool, sizeof(struct instance), INSTANCES_MAX);
}

void instances_release(struct instances *instances)
{
  object_pool_release(&instances->pool);
  free(instances->totals);
  *instances = (struct instances){0};
}

struct clock_pair clock_pair_since(const struct clock_pair *end, const struct clock_pair *start)
{
  struct clock_pair length;
  for (unsigned i = 0; i < INSTANCES_TIMES; i++)
    length.at[i] = end->at[i] > start->at[i] ? end->at[i] - start->at[i] : 0;
  return length;
}

struct clock_pair clock_pair_own_span(const struct clock_pair *work, const struct clock_pair *begin,
                                      const struct clock_pair *end)
{
  struct clock_pair span;
  for (unsigned i = 0; i < INSTANCES_TIMES; i++) {
    double moved = end->at[i] - begin->at[i];
    span.at[i] = moved >= 0 && moved < work->at[i] ? moved : work->at[i];
  }
  return span;
}

void clock_pair_add(struct clock_pair *pair, const struct clock_pair *other)
{
  for (unsigned i = 0; i < INSTANCES_TIMES; i++)
    pair->at[i] += other->at[i];
}

void clock_pair_raise(struct clock_pair *pair, const struct clock_pair *other)
{
  for (unsigned i = 0; i < INSTANCES_TIMES; i++)
    pair->at[i] = MAX(other->at[i], pair->at[i]);
}

uint32_t instances_share(struct instances *instances, uint32_t index)
{
  assert(!index || instance_at(instances, index)->refs);
  if (index)
    instance_at(instances, index)->refs++;
  return index;
}

void instances_device_time(struct instances *instances, uint32_t index, double amount)
{
  for (; index; index = instance_at(instances, index)->outer)
    instances->totals[instance_at(instances, index)->row].device_time += amount;
}

bool instances_contain(const struct instances *instances, uint32_t index, uint32_t row)
{
  while (index && instance_at(instances, index)->row != row)
    index = instance_at(instances, index)->outer;
  return index != 0;
}

static uint32_t instance_new(struct instances *instances, uint32_t row, uint32_t whole, uint32_t outer,
                             const struct clock_pair *start)
{
  assert(row && row < instances->directives);
  uint32_t index = 0;
  if (!outer || instance_at(instances, outer)->depth < DEPTH_MAX)
    index = object_pool_get(&instances->pool);
  if (!index) {
    instances->lost++;
    return instances_share(instances, outer);
  }
  struct instance *instance = instance_at(instances, index);
  instance->refs = 1;
  instance->row = row;
  instance->outer = instances_share(instances, outer);
  instance->whole = instances_share(instances, whole);
  instance->moved = false;
  instance->depth = outer ? instance_at(instances, outer)->depth + 1 : 0;
  instance->start = instance->end = *start;
  instance->work = instance->span = (struct clock_pair){0};
  return index;
}

uint32_t instances_enter(struct instances *instances, uint32_t row, uint32_t outer, const struct clock_pair *start)
{
  assert(row < instances->directives);
  if (!row || instances_contain(instances, outer, row))
    return instances_share(instances, outer);
  return instance_new(instances, row, 0, outer, start);
}

uint32_t instances_enter_part(struct instances *instances, uint32_t whole, uint32_t outer,
                              const struct clock_pair *start)
{
  if (!whole)
    return instances_share(instances, outer);
  return instance_new(instances, instance_at(instances, whole)->row, whole, outer, start);
}

void instances_work(struct instances *instances, uint32_t index, const struct clock_pair *work,
                    const struct clock_pair *end)
{
  assert(!index || instance_at(instances, index)->refs);
  if (!index)
    return;
  clock_pair_add(&instance_at(instances, index)->work, work);
  clock_pair_raise(&instance_at(instances, index)->end, end);
}

void instances_span(struct instances *instances, uint32_t index, const struct clock_pair *span)
{
  assert(!index || instance_at(instances, index)->refs);
  if (index)
    clock_pair_raise(&instance_at(instances, index)->span, span);
}

void instances_part_moved(struct instances *instances, uint32_t index)
{
  if (index)
    instance_at(instances, index)->moved = true;
}

void instances_count(struct instances *instances, uint32_t row)
{
  assert(row < instances->directives);
  if (row && !instances->outside)
    instances->totals[row].instances++;
}

void instances_ended(struct instances *instances, uint32_t row, const struct clock_pair *work,
                     const struct clock_pair *span)
{
  assert(row < instances->directives);
  struct instances_total *total = &instances->totals[row];
  total->instances += !instances->limited || work->at[0] > 0;
  clock_pair_add(&total->work, work);
  clock_pair_add(&total->span, span);
}

static void instance_ended(struct instances *instances, const struct instance *instance)
{
  assert(!instance->refs && !instance->whole);
  struct clock_pair span = clock_pair_own_span(&instance->work, &instance->start, &instance->end);
  for (unsigned i = 0; i < INSTANCES_TIMES; i++)
    if (instance->span.at[i] > 0)
      span.at[i] = MIN(instance->span.at[i], instance->work.at[i]);
  instances_ended(instances, instance->row, &instance->work, &span);
}

void instances_leave(struct instances *instances, uint32_t index)
{
  while (index && --instance_at(instances, index)->refs == 0) {
    struct instance *instance = instance_at(instances, index);
    uint32_t outer = instance->outer, whole = instance->whole;
    struct clock_pair length = clock_pair_since(&instance->end, &instance->start);
    if (!instance->moved)
      instances_span(instances, whole, &length);
    if (whole) { /* in no other instance: this is not deeper than once */
      instances_work(instances, whole, &instance->work, &instance->end);
      instances_leave(instances, whole);
    } else {
      instance_ended(instances, instance);
    }
    instances_work(instances, outer, &instance->work, &instance->end);
    object_pool_put(&instances->pool, index);
    index = outer;
  }
}
