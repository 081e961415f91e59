#include "hpcprof-lite/views/rank_rows.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

static void add_thread(const struct profile_thread *thread, struct rank_row *row)
{
  row->threads += !(thread->flags & THREAD_HELPER);
  model_add(&row->ns[TIMELINE_WORK], thread->work_ns);
  model_add(&row->ns[TIMELINE_OVERHEAD], thread->overhead_ns);
  model_add(&row->ns[TIMELINE_LOCK_WAIT], thread->lockwait_ns);
  model_add(&row->ns[TIMELINE_IDLE], thread->idle_ns);
  model_add(&row->ns[TIMELINE_MPI], thread->mpi_ns);
  model_add(&row->ns[TIMELINE_DEVICE], thread->device_ns);
  model_add(&row->ns[TIMELINE_BLOCKED], thread->blocked_ns);
  model_add(&row->ns[TIMELINE_CORE_WAIT], thread->core_wait_ns);
  model_add(&row->ns[TIMELINE_NO_CORE], thread->no_core_ns);
  model_add(&row->ns[TIMELINE_TOOL], thread->tool_ns);
  model_add(&row->calls, thread->mpi_calls);
  model_add(&row->sent, thread->mpi_sent);
  model_add(&row->received, thread->mpi_received);
}

ORDER(by_rank, struct rank_row, COMPARE(x->rank, y->rank) ?: COMPARE(x->process, y->process))

void rank_rows_make(const struct profile *profile, struct rank_rows *rows)
{
  *rows = (struct rank_rows){.rows = xcalloc(profile->processes_usable, sizeof *rows->rows)};
  for (uint32_t i = 0; i < profile->processes_usable; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (process->rank < 0)
      continue;
    struct rank_row *row = &rows->rows[rows->count++];
    row->rank = (uint32_t)process->rank;
    row->process = i;
    row->bytes_known = profile_mpi_bytes_known(process);
    for (uint32_t j = 0; j < process->threads_count; j++)
      add_thread(&process->threads[j], row);
  }
  qsort(rows->rows, rows->count, sizeof *rows->rows, by_rank);
}

void rank_rows_extremes(const struct rank_rows *rows, enum timeline_category category, uint32_t *least, uint32_t *most)
{
  assert(rows->count && category < TIMELINE_CATEGORIES);
  *least = *most = 0;
  for (uint32_t i = 1; i < rows->count; i++) {
    if (rows->rows[i].ns[category] < rows->rows[*least].ns[category])
      *least = i;
    if (rows->rows[i].ns[category] > rows->rows[*most].ns[category])
      *most = i;
  }
}

void rank_rows_release(struct rank_rows *rows)
{
  free(rows->rows);
  *rows = (struct rank_rows){0};
}
