#include "hpcprof-lite/report/html/message_table.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/heap.h"
#include "hpcprof-lite/timeline/mpi_events.h"

#include <stdlib.h>

ORDER(by_wait, struct mpi_arrow,
      COMPARE(y->waited_ns, x->waited_ns) ?: COMPARE(x->from_ns, y->from_ns) ?: COMPARE(x->from, y->from) ?
                                                                             : COMPARE(x->to_ns, y->to_ns))

/* The one that is left out next comes first. */
static bool before(const void *context, uint32_t a, uint32_t b)
{
  const struct mpi_arrow *arrows = context;
  return by_wait(&arrows[a], &arrows[b]) > 0;
}

/* Keeps those with the longest waits.  Returns how many are not kept. */
static uint64_t choose(struct mpi_events *events, struct mpi_arrow *kept, struct heap *heap)
{
  struct mpi_events_reader *reader = xmalloc(sizeof *reader);
  uint64_t left_out = 0;
  mpi_arrows_open(events, reader);
  for (const struct mpi_arrow *arrow; (arrow = mpi_arrows_peek(reader)); mpi_events_skip(reader)) {
    if (heap->count < MESSAGE_TABLE_ROOM) {
      kept[heap->count] = *arrow;
      heap_push(heap, heap->count, before, kept);
      continue;
    }
    left_out++;
    if (by_wait(arrow, &kept[heap->items[0]]) < 0) {
      kept[heap->items[0]] = *arrow;
      heap_next(heap, true, before, kept);
    }
  }
  free(reader);
  return left_out;
}

uint64_t message_table_make(const struct report *report, struct html_table *table)
{
  static const char *const columns[] = {"from", "to", "sent_ns", "received_ns", "bytes", "waited_ns"};
  if (!report->time.mpi)
    return 0;
  struct mpi_arrow *kept = xmalloc(MESSAGE_TABLE_ROOM * sizeof *kept);
  struct heap heap = {.items = xmalloc(MESSAGE_TABLE_ROOM * sizeof *heap.items)};
  uint64_t left_out = choose(report->time.mpi, kept, &heap);
  qsort(kept, heap.count, sizeof *kept, by_wait);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    html_table_add_column(table, columns[i]);
  for (uint32_t i = 0; i < heap.count; i++) {
    const struct mpi_arrow *arrow = &kept[i];
    const int64_t row[] = {arrow->from,
                           arrow->to,
                           (int64_t)arrow->from_ns,
                           (int64_t)arrow->to_ns,
                           (int64_t)arrow->bytes,
                           (int64_t)arrow->waited_ns};
    html_table_add_row(table, row);
  }
  free(kept);
  free(heap.items);
  return left_out;
}
