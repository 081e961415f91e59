#include "hpcrun-lite/rt/unloaded_code.h"

#include <string.h>

#include "hpcrun-lite/rt/sampling/task_creation.h"

void unloaded_code_forget(struct thread_state *t, uint32_t generation)
{
  struct sampling_thread *sampling = sampling_of(t);
  struct span_thread *span = span_of(t);
  rt_inside_inc(t);
  task_creation_forget(t);
  memset(sampling->wait_cache, 0, sizeof sampling->wait_cache);
  memset(sampling->releases, 0, sizeof sampling->releases);
  memset(span->row_cache, 0, sizeof span->row_cache);
  if (!span->hold.site) /* otherwise measuring is about to end */
    memset(span->hold_sites, 0, sizeof span->hold_sites);
  memset(construct_of(t)->light_sites, 0, sizeof construct_of(t)->light_sites);
  measured_of(t)->code_generation = generation;
  rt_inside_dec(t);
}
