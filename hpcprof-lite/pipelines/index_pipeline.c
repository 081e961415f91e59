#include "hpcprof-lite/pipelines/index_pipeline.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/workers.h"
#include "hpcprof-lite/pipelines/phase_pipeline.h"

#include <assert.h>
#include <stdlib.h>

struct timeline_input index_input(struct job *job)
{
  assert(job->row_of);
  return (struct timeline_input){.profile = &job->profile,
                                 .row_of = job->row_of,
                                 .contexts = &job->tree,
                                 .constructs = &job->constructs,
                                 .to_ns = UINT64_MAX,
                                 .threads = job->options.threads,
                                 .problems = &job->log_problems};
}

/* A process whose index is built. */
struct storing {
  uint32_t process, first, end; /* first, end: its lanes */
  struct phase_guest *phases;
  struct index_builder *builder; /* NULL: it cannot be stored */
  struct problems problems;
};

/* Processes whose indexes are built at once: as many as there are workers, so that memory is bounded. */
struct batch {
  struct job *job;
  struct timeline_source *source;
  const struct timeline *timeline;
  struct storing *storing;
  uint32_t count, lanes; /* lanes: of all of them */
};

static void storing_init(struct batch *batch, struct storing *storing, uint32_t first)
{
  assert(first < batch->timeline->lanes_count);
  uint32_t end = timeline_process_end(batch->timeline, first);
  *storing = (struct storing){.process = batch->timeline->lanes[first].process,
                              .first = first,
                              .end = end,
                              .phases = phase_guest_open(batch->job, batch->timeline, first)};
  batch->lanes += end - first;
}

/* The process that has the lane with that number among those of the batch; *lane becomes its number in the process. */
static struct storing *storing_of(struct batch *batch, uint32_t *lane)
{
  struct storing *storing = batch->storing;
  for (; *lane >= storing->end - storing->first; storing++)
    *lane -= storing->end - storing->first;
  return storing;
}

/* First the phases of each process are found, and the samples of each lane collected. */
static void find_job(void *argument, uint32_t number, unsigned worker)
{
  struct batch *batch = argument;
  (void)worker;
  if (number < batch->count) {
    phase_guest_find(batch->storing[number].phases);
    return;
  }
  uint32_t lane = number - batch->count, first = storing_of(batch, &lane)->first;
  timeline_source_collect(batch->source, first + lane);
}

static void begin_job(void *argument, uint32_t number, unsigned worker)
{
  struct batch *batch = argument;
  struct storing *storing = &batch->storing[number];
  (void)worker;
  timeline_source_prepare(batch->source, storing->first);
  storing->builder =
      timeline_source_index(batch->source, storing->first, phase_guest_of_index(storing->phases), &storing->problems);
}

static void add_job(void *argument, uint32_t lane, unsigned worker)
{
  struct batch *batch = argument;
  const struct storing *storing = storing_of(batch, &lane);
  if (storing->builder)
    index_builder_add(storing->builder, lane, worker);
}

static void end_job(void *argument, uint32_t number, unsigned worker)
{
  struct batch *batch = argument;
  struct storing *storing = &batch->storing[number];
  (void)worker;
  if (storing->builder)
    index_builder_close(storing->builder, !timeline_source_traced(batch->source, storing->process)->damaged,
                        &storing->problems);
  timeline_source_forget(batch->source, storing->process);
}

/* Builds the indexes of the processes of the batch: several threads read all of their lanes. */
static void store_batch(struct batch *batch)
{
  assert(batch->count && batch->lanes);
  unsigned threads = batch->job->options.threads;
  workers_run(threads, batch->count + batch->lanes, find_job, batch);
  workers_run(threads, batch->count, begin_job, batch);
  workers_run(threads, batch->lanes, add_job, batch);
  workers_run(threads, batch->count, end_job, batch);
  for (uint32_t i = 0; i < batch->count; i++) {
    problems_append(&batch->job->log_problems, &batch->storing[i].problems);
    phase_guest_close(batch->storing[i].phases);
  }
  batch->count = batch->lanes = 0;
}

/* Builds the indexes of all processes that have none. */
static void store_all(struct batch *batch)
{
  unsigned most = batch->job->options.threads;
  batch->timeline = timeline_source_timeline(batch->source);
  batch->storing = xcalloc(most, sizeof *batch->storing);
  for (uint32_t first = 0; first < batch->timeline->lanes_count; first = timeline_process_end(batch->timeline, first)) {
    if (timeline_source_traced(batch->source, batch->timeline->lanes[first].process)->index)
      continue;
    storing_init(batch, &batch->storing[batch->count++], first);
    if (batch->count == most)
      store_batch(batch);
  }
  if (batch->count)
    store_batch(batch);
  free(batch->storing);
}

/* Builds the indexes of this rank's processes. */
static void store_part(struct job *job)
{
  assert(job->options.threads && job->ranks.size);
  struct batch batch = {.job = job};
  struct timeline_input input = index_input(job);
  input.later = true;
  input.slice = job->ranks.rank;
  input.slices = job->ranks.size;
  batch.source = timeline_source_open(&input);
  store_all(&batch);
  timeline_source_close(batch.source);
}

int index_store(struct job *job)
{
  const struct timeline_request request = {
      .profile = &job->profile, .tree = &job->tree, .row_of = job->row_of, .constructs = &job->constructs};
  ranks_timeline_begin(&job->ranks, &request);
  store_part(job);
  int status = ranks_timeline_end(&job->ranks, 0, &job->log_problems);
  ranks_dismiss(&job->ranks);
  if (status)
    return job_different_ranks();
  return 0;
}

void index_part(void *self, const struct timeline_request *request, struct problems *problems)
{
  struct job *job = self, part = {.options = job->options,
                                  .ranks = job->ranks,
                                  .profile = *request->profile,
                                  .tree = *request->tree,
                                  .row_of = request->row_of,
                                  .constructs = *request->constructs};
  store_part(&part);
  problems_append(problems, &part.log_problems);
}
