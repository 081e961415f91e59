#include "hpcprof-lite/messages/delays.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

void delay_add(struct delay *delay, uint32_t place, double amount)
{
  uint32_t least = 0;
  for (uint32_t i = 0; i < delay->count; i++) {
    if (delay->shares[i].place == place) {
      delay->shares[i].amount += amount;
      return;
    }
    if (delay->shares[i].amount < delay->shares[least].amount)
      least = i;
  }
  if (delay->count < DELAYS_SHARES) {
    delay->shares[delay->count++] = (struct delay_share){place, amount};
    return;
  }
  struct delay_share *smallest = &delay->shares[least];
  if (smallest->amount >= amount || !smallest->place) {
    smallest->amount += amount;
    smallest->place = 0;
    return;
  }
  double rest = smallest->amount;
  *smallest = (struct delay_share){place, amount};
  for (uint32_t i = 0; i < delay->count; i++)
    if (!delay->shares[i].place) {
      delay->shares[i].amount += rest;
      return;
    }
  *smallest = (struct delay_share){0, amount + rest};
}

void history_release(struct history *history)
{
  free(history->stretches);
  free(history->shares);
  *history = (struct history){0};
}

static struct delay_share *share_at(const struct history *history, uint32_t number)
{
  return &history->shares[number & (history->shares_room - 1)];
}

/* Makes room for more shares than those from `first` on. */
static void reserve_shares(struct history *history, uint32_t first, uint32_t more)
{
  enum { ROOM_FIRST = 16 };
  struct history grown = *history;
  while (grown.shares_room < (size_t)(history->shares_added - first) + more)
    grown.shares_room = grown.shares_room ? grown.shares_room * 2 : ROOM_FIRST;
  if (grown.shares_room == history->shares_room)
    return;
  grown.shares = xcalloc(grown.shares_room, sizeof *grown.shares);
  for (uint32_t i = first; i != history->shares_added; i++)
    *share_at(&grown, i) = *share_at(history, i);
  free(history->shares);
  *history = grown;
}

/* Adds what is known of a stretch but its shares; `place` 0: these follow. */
static void add(struct history *history, uint64_t begin_ns, uint64_t end_ns, uint32_t place)
{
  assert(begin_ns <= end_ns);
  if (history->added < DELAYS_KEPT)
    xarray_reserve(&history->stretches, &history->room, history->added + 1, sizeof *history->stretches);
  history->stretches[history->added++ % DELAYS_KEPT] =
      (struct kept_stretch){begin_ns, end_ns, history->shares_added, place};
  history->last_end_ns = end_ns;
  history->last_place = place;
}

void history_add_place(struct history *history, uint64_t begin_ns, uint64_t end_ns, uint32_t place)
{
  assert(place);
  if (history->last_place != place || history->last_end_ns != begin_ns) {
    add(history, begin_ns, end_ns, place);
    return;
  }
  history->stretches[(history->added - 1) % DELAYS_KEPT].end_ns = end_ns;
  history->last_end_ns = end_ns;
}

void history_add(struct history *history, const struct stretch *stretch)
{
  const struct delay *delay = &stretch->delay;
  if (delay->count == 1 && delay->shares[0].amount > 0 && delay->shares[0].place) {
    history_add_place(history, stretch->begin_ns, stretch->end_ns, delay->shares[0].place);
    return;
  }
  uint64_t oldest = history->added < DELAYS_KEPT ? 0 : history->added + 1 - DELAYS_KEPT;
  reserve_shares(history, history->added ? history->stretches[oldest % DELAYS_KEPT].first_share : 0, delay->count);
  add(history, stretch->begin_ns, stretch->end_ns, 0);
  for (uint32_t i = 0; i < delay->count; i++)
    *share_at(history, history->shares_added++) = delay->shares[i];
}

/* Returns the delay of stretch `number`, counted from 0, one of those that are kept. */
static struct delay delay_of(const struct history *history, uint64_t number)
{
  const struct kept_stretch *kept = &history->stretches[number % DELAYS_KEPT];
  struct delay delay = {.shares[0] = {kept->place, 1}, .count = kept->place != 0};
  uint32_t end = history->shares_added;
  if (number + 1 < history->added)
    end = history->stretches[(number + 1) % DELAYS_KEPT].first_share;
  for (uint32_t i = kept->first_share; i != end; i++)
    delay.shares[delay.count++] = *share_at(history, i);
  return delay;
}

/* Adds `amount`, divided as in another delay, which is not 0. */
static void add_part(struct delay *delay, const struct delay *like, double amount)
{
  double sum = 0;
  for (uint32_t i = 0; i < like->count; i++)
    sum += like->shares[i].amount;
  for (uint32_t i = 0; i < like->count; i++)
    delay_add(delay, like->shares[i].place, amount * like->shares[i].amount / sum);
}

static bool has_amount(const struct delay *delay)
{
  for (uint32_t i = 0; i < delay->count; i++)
    if (delay->shares[i].amount > 0)
      return true;
  return false;
}

uint64_t history_find(const struct history *history, uint64_t begin_ns, uint64_t end_ns, struct delay *delay)
{
  assert(begin_ns <= end_ns);
  uint64_t known = 0;
  for (uint64_t i = history->added; i > 0 && history->added - i < DELAYS_KEPT; i--) {
    const struct kept_stretch *kept = &history->stretches[(i - 1) % DELAYS_KEPT];
    uint64_t from = MAX(kept->begin_ns, begin_ns), to = MIN(kept->end_ns, end_ns);
    if (kept->end_ns <= begin_ns)
      break;
    if (from >= to)
      continue;
    struct delay part = delay_of(history, i - 1);
    if (!has_amount(&part))
      continue;
    add_part(delay, &part, (double)(to - from));
    known += to - from;
  }
  return end_ns - begin_ns - known;
}
