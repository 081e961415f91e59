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
  *history = (struct history){0};
}

void history_add(struct history *history, const struct stretch *stretch)
{
  assert(stretch->begin_ns <= stretch->end_ns);
  if (history->added < DELAYS_KEPT)
    xarray_reserve(&history->stretches, &history->room, history->added + 1, sizeof *history->stretches);
  history->stretches[history->added++ % DELAYS_KEPT] = *stretch;
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
    const struct stretch *stretch = &history->stretches[(i - 1) % DELAYS_KEPT];
    uint64_t from = MAX(stretch->begin_ns, begin_ns), to = MIN(stretch->end_ns, end_ns);
    if (stretch->end_ns <= begin_ns)
      break;
    if (from >= to || !has_amount(&stretch->delay))
      continue;
    add_part(delay, &stretch->delay, (double)(to - from));
    known += to - from;
  }
  return end_ns - begin_ns - known;
}
