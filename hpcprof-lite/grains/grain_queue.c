#include "hpcprof-lite/grains/grain_queue.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/workers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Returns what `take` returns for the first row that fails. */
static int print_batch(const struct grain_queue *queue, struct grain_batch *batch)
{
  assert(batch->count <= GRAIN_QUEUE_ROWS);
  int status = 0;
  for (uint32_t i = 0; i < batch->count && !status; i++) {
    batch->grains[i].path = batch->texts + batch->paths[i];
    batch->rows[i].grain = &batch->grains[i];
    status = queue->take(queue->to, &batch->rows[i]);
  }
  return status;
}

static void *run(void *context)
{
  struct grain_queue *queue = context;
  pthread_mutex_lock(&queue->lock);
  for (;;) {
    while (!queue->pending && !queue->ends)
      pthread_cond_wait(&queue->changed, &queue->lock);
    if (!queue->pending)
      break;
    struct grain_batch *batch = queue->printed;
    int status = queue->status;
    pthread_mutex_unlock(&queue->lock);
    if (!status)
      status = print_batch(queue, batch);
    pthread_mutex_lock(&queue->lock);
    queue->status = status;
    queue->pending = false;
    pthread_cond_broadcast(&queue->changed);
  }
  pthread_mutex_unlock(&queue->lock);
  return NULL;
}

static void release(struct grain_queue *queue)
{
  pthread_mutex_destroy(&queue->lock);
  pthread_cond_destroy(&queue->changed);
  free(queue->filled->texts);
  free(queue->filled);
  free(queue->printed->texts);
  free(queue->printed);
}

int grain_queue_begin(struct grain_queue *queue, table_take *take, void *to)
{
  assert(take);
  *queue = (struct grain_queue){.take = take,
                                .to = to,
                                .filled = xcalloc(1, sizeof *queue->filled),
                                .printed = xcalloc(1, sizeof *queue->printed)};
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->changed, NULL);
  int error = workers_start(&queue->thread, run, queue);
  if (error)
    release(queue);
  return error;
}

/* Gives the filled batch to the thread, when that has printed the other one. */
static int hand_over(struct grain_queue *queue)
{
  pthread_mutex_lock(&queue->lock);
  while (queue->pending)
    pthread_cond_wait(&queue->changed, &queue->lock);
  struct grain_batch *empty = queue->printed;
  queue->printed = queue->filled;
  queue->filled = empty;
  queue->pending = true;
  int status = queue->status;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  empty->count = 0;
  empty->used = 0;
  return status;
}

int grain_queue_put(void *to, const void *given)
{
  assert(to && given);
  struct grain_queue *queue = to;
  const struct grain_row *row = given;
  int status = 0;
  if (queue->filled->count == GRAIN_QUEUE_ROWS)
    status = hand_over(queue);
  struct grain_batch *batch = queue->filled;
  const char *path = row->grain->path ? row->grain->path : "";
  size_t before = strlen(row->prefix), length = strlen(path) + 1;
  xarray_reserve(&batch->texts, &batch->room, batch->used + before + length, 1);
  memcpy(batch->texts + batch->used, row->prefix, before);
  memcpy(batch->texts + batch->used + before, path, length);
  batch->rows[batch->count] = *row;
  batch->rows[batch->count].prefix = "";
  batch->grains[batch->count] = *row->grain;
  batch->paths[batch->count++] = batch->used;
  batch->used += before + length;
  return status;
}

int grain_queue_end(struct grain_queue *queue)
{
  hand_over(queue);
  pthread_mutex_lock(&queue->lock);
  queue->ends = true;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  pthread_join(queue->thread, NULL);
  release(queue);
  return queue->status;
}
