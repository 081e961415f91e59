#include "hpcprof-lite/messages/job_order.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

enum { LOOKED_AT = 16 }; /* waiting records, after each one that is taken */

/* Visits of waiting records; after these none waits any more.  Bounds the time for hostile logs. */
static const uint64_t visits_max = (uint64_t)256 << 20;

static bool awaits(const struct job_order *order, const struct log_reader_record *record)
{
  return order->matching && order->visits <= visits_max &&
         message_matching_awaits(order->matching, record->stream, &record->record);
}

static void resume(struct job_order *order, uint32_t place, bool moves)
{
  double early_ns = (double)log_reader_resume(order->log, order->waiting[place].part, moves);
  order->waiting[place] = order->waiting[--order->waiting_count];
  if (!(early_ns > 0))
    return;
  order->early++;
  order->early_ns += early_ns;
  order->earliest_ns = MAX(order->earliest_ns, early_ns);
}

/* Resumes what need not wait any more, of so many. */
static void look_at(struct job_order *order, uint32_t count)
{
  for (uint32_t i = 0; i < count && order->waiting_count; i++) {
    uint32_t place = order->next++ % order->waiting_count;
    order->visits++;
    if (!awaits(order, &order->waiting[place]))
      resume(order, place, true);
  }
}

/* All wait: the earliest one goes on. */
static void force_first(struct job_order *order)
{
  uint32_t first = 0;
  for (uint32_t i = 1; i < order->waiting_count; i++)
    if (order->waiting[i].order < order->waiting[first].order)
      first = i;
  order->visits += order->waiting_count;
  order->forced = true;
  resume(order, first, false);
}

bool job_order_next(struct job_order *order, struct log_reader_record *record)
{
  look_at(order, MIN(LOOKED_AT, order->waiting_count));
  for (;;) {
    if (log_reader_next(order->log, record)) {
      if (order->forced || !awaits(order, record)) {
        order->forced = false;
        return true;
      }
      *XAPPEND(order->waiting, order->waiting_count, order->waiting_room) = *record;
      log_reader_hold(order->log);
      continue;
    }
    uint32_t waiting = order->waiting_count;
    if (!waiting)
      return false;
    look_at(order, waiting);
    if (order->waiting_count == waiting)
      force_first(order);
  }
}

void job_order_release(struct job_order *order)
{
  free(order->waiting);
  order->waiting = NULL;
}
