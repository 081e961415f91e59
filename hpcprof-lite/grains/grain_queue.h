/* Hands rows of grains to a thread of their own, which prints them while further ones are read.
 *
 * Context: BATCH.  One thread puts rows, the queue's thread gives each to `take`, in their order.  Two batches:
 * one is filled while the other is printed.  Both threads use the queue's fields under the lock, and a batch only while
 * it is theirs.
 */
#ifndef HPCPROF_LITE_GRAINS_GRAIN_QUEUE_H
#define HPCPROF_LITE_GRAINS_GRAIN_QUEUE_H

#include "hpcprof-lite/model/grain.h"
#include "hpcprof-lite/model/table.h"

#include <pthread.h>
#include <stddef.h>

enum { GRAIN_QUEUE_ROWS = 1024 };

/* Copies of rows, with the texts of their paths, which contain the prefixes, one behind the other. */
struct grain_batch {
  struct grain_row rows[GRAIN_QUEUE_ROWS];
  struct grain grains[GRAIN_QUEUE_ROWS];
  size_t paths[GRAIN_QUEUE_ROWS];
  uint32_t count;
  char *texts;
  size_t used, room;
};

struct grain_queue {
  table_take *take;
  void *to;
  struct grain_batch *filled, *printed; /* the one that is filled; the other one */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool pending, ends; /* pending: `printed` is the thread's */
  int status;         /* of the first row that failed */
};

/* Starts the thread; grain_queue_end() ends it.  Returns 0, or why there is no thread, as pthread_create() does: the
 * queue must then not be used. */
int grain_queue_begin(struct grain_queue *queue, table_take *take, void *to);

/* Copies a row (struct grain_row) to a queue, as a table_take.  Returns what `take` has returned for earlier rows: 0,
 * or the first error. */
int grain_queue_put(void *queue, const void *row);

/* Waits until all rows are printed.  Returns the same as grain_queue_put(). */
int grain_queue_end(struct grain_queue *queue);

#endif
