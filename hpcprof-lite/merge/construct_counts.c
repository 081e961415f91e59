#include "hpcprof-lite/merge/construct_counts.h"

#include "common/order.h"

#include <assert.h>

struct division {
  const struct format_construct *constructs;
  uint64_t *counts;
  uint32_t count;
  unsigned counters, fields;
};

static uint64_t unread_ticks(const struct division *division, uint32_t record)
{
  return division->counts[(size_t)record * division->fields + 2 * division->counters];
}

/* The ticks of a record in which the counters were read at both ends. */
static double read_ticks(const struct division *division, uint32_t record)
{
  const struct format_construct *construct = &division->constructs[record];
  uint64_t ticks = 0;
  for (unsigned i = 0; i < CONSTRUCT_TIMES; i++)
    if (construct->kind != DIRECTIVE_LOCK || i != CONSTRUCT_TIME_BODY)
      model_add(&ticks, construct->ticks[i]);
  return (double)model_difference(ticks, unread_ticks(division, record));
}

/* The expected count of a record in stretches with boundaries left out. */
static double expected(const struct division *division, uint32_t record, unsigned counter, double mean)
{
  uint64_t unread = unread_ticks(division, record);
  double ticks = read_ticks(division, record);
  double exact = (double)division->counts[(size_t)record * division->fields + counter];
  return (double)unread * (ticks > 0 ? exact / ticks : mean);
}

static void divide(const struct division *division, unsigned counter)
{
  assert(counter < division->counters);
  double exact = 0, ticks = 0, all = 0, before = 0;
  uint64_t rest = 0, given = 0;
  for (uint32_t i = 0; i < division->count; i++) {
    const uint64_t *record = &division->counts[(size_t)i * division->fields];
    model_add(&rest, record[division->counters + counter]);
    exact += (double)record[counter];
    ticks += read_ticks(division, i);
  }
  double mean = ticks > 0 && exact > 0 ? exact / ticks : 1;
  if (!rest)
    return;
  for (uint32_t i = 0; i < division->count; i++)
    all += expected(division, i, counter, mean);
  bool by_time = !(all > 0);
  for (uint32_t i = 0; i < division->count && by_time; i++)
    all += (double)unread_ticks(division, i);
  for (uint32_t i = 0; i < division->count; i++) {
    uint64_t *record = &division->counts[(size_t)i * division->fields];
    before += by_time ? (double)unread_ticks(division, i) : expected(division, i, counter, mean);
    uint64_t end = all > 0 ? model_rounded((double)rest * (before / all)) : 0;
    end = i + 1 == division->count ? rest : MIN(end, rest);
    uint64_t part = model_difference(end, given);
    model_add(&record[counter], part);
    given += part;
  }
}

void construct_counts_divide(const struct format_construct *constructs, uint32_t count, unsigned counters,
                             uint64_t *counts)
{
  assert(counters && counters <= COUNTERS_MAX);
  const struct division division = {constructs, counts, count, counters, 2 * counters + 1};
  for (unsigned i = 0; i < counters; i++)
    divide(&division, i);
}
