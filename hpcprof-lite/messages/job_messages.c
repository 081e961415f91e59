#include "hpcprof-lite/messages/job_messages.h"

#include "common/order.h"
#include "common/tracelog.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/log_reader.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/merge/stitch.h"
#include "hpcprof-lite/messages/ideal_time.h"
#include "hpcprof-lite/model/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The log of one process, and its next record. */
struct log {
  uint32_t process;      /* its position in the profile */
  uint32_t first_stream; /* of the job */
  struct log_reader *reader;
  struct log_reader_record next;
  const struct profile_process *clock; /* the first process of its host */
  uint64_t begin_ns;                   /* of `next` */
  unsigned shift;                      /* so many of the lowest bits of its ticks are left out */
};

struct logs {
  struct profile *profile;
  struct log *all;
  uint32_t count, streams;
};

/* ---- time ---- */

/* Returns a time of a process on the clock of the job. */
static uint64_t job_ns(const struct log *log, uint64_t ticks)
{
  const struct profile_process *clock = log->clock;
  double tick_ns = clock->workspan.tick_ns;
  if (ticks >= clock->start_ticks)
    return model_sum(clock->start_ns, model_rounded((double)(ticks - clock->start_ticks) * tick_ns));
  uint64_t before = model_rounded((double)(clock->start_ticks - ticks) * tick_ns);
  return clock->start_ns > before ? clock->start_ns - before : 0;
}

static bool before(const void *context, uint32_t a, uint32_t b)
{
  const struct log *logs = context;
  return logs[a].begin_ns < logs[b].begin_ns || (logs[a].begin_ns == logs[b].begin_ns && a < b);
}

/* ---- the logs ---- */

static bool same_ranks(const struct profile *profile, struct problems *problems)
{
  struct hash_map ranks = {0};
  bool same = false;
  for (uint32_t i = 0; i < profile->processes_usable && !same; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!process->mpi_size)
      continue;
    uint32_t other = hash_map_find(&ranks, (uint64_t)process->mpi_rank + 1);
    same = other != 0;
    if (same)
      problems_add(problems, "%s: it has the same MPI rank as %s: the messages of several jobs are not matched",
                   process->path, profile->processes[other - 1].path);
    else
      hash_map_add(&ranks, (uint64_t)process->mpi_rank + 1, i + 1);
  }
  hash_map_release(&ranks);
  return same;
}

/* Returns the first process of the same host, whose clock all of them have. */
static const struct profile_process *clock_of(const struct profile *profile, const struct profile_process *process)
{
  uint32_t i = 0;
  while (strcmp(profile->processes[i].host, process->host) != 0 || !(profile->processes[i].workspan.tick_ns > 0))
    i++;
  return &profile->processes[i];
}

static void open_logs(struct logs *logs, const struct job_listener *listener, struct problems *problems,
                      struct job_messages *messages)
{
  logs->all = xcalloc(logs->profile->processes_usable, sizeof *logs->all);
  for (uint32_t i = 0; i < logs->profile->processes_usable; i++) {
    const struct profile_process *process = &logs->profile->processes[i];
    bool has_clock = process->workspan.tick_ns > 0;
    struct log_reader *reader = has_clock ? log_reader_open(process->path, problems) : NULL;
    messages->ranks = MAX(messages->ranks, process->mpi_size);
    messages->undecoded |= process->mpi_size && !process->mpi_decoded;
    if (!reader)
      continue;
    messages->logs += process->mpi_size != 0;
    struct log *log = &logs->all[logs->count++];
    *log = (struct log){.process = i,
                        .first_stream = logs->streams,
                        .reader = reader,
                        .clock = listener ? process : clock_of(logs->profile, process),
                        .shift = listener ? TRACELOG_STATE_SHIFT : 0};
    messages->several_hosts |= log->clock != logs->all[0].clock;
    logs->streams += log_reader_count(reader);
  }
}

/* Of a fragment with more work than time, the log has only when its thread ran again: it also ran before. */
static uint64_t begin_ticks(const struct log_reader_record *next)
{
  const uint64_t *operand = next->record.operand;
  bool ran_before = next->record.op == GRAPHLOG_RUN_OTHER && operand[2] > operand[1];
  return ran_before ? next->begin_ticks - MIN(operand[0], next->begin_ticks) : next->begin_ticks;
}

static bool advance(struct log *log)
{
  if (!log_reader_next(log->reader, &log->next))
    return false;
  log->begin_ns = job_ns(log, begin_ticks(&log->next) >> log->shift << log->shift);
  return true;
}

/* Each rank is outside MPI from its start on. */
static void begin_ideal(const struct logs *logs, struct ideal_time *ideal)
{
  ideal_time_init(ideal, logs->profile->processes_count, logs->streams);
  for (uint32_t i = 0; i < logs->count; i++) {
    const struct profile_process *process = &logs->profile->processes[logs->all[i].process];
    const struct profile_thread *initial = profile_initial_thread(process);
    struct ideal_rank *rank = &ideal->ranks[logs->all[i].process];
    rank->thread = initial ? initial->index : 1;
    rank->left_ns = job_ns(&logs->all[i], process->start_ticks);
  }
}

static void end_ideal(const struct logs *logs, struct ideal_time *ideal, struct job_messages *messages)
{
  for (uint32_t i = 0; i < logs->count; i++) {
    const struct profile_process *process = &logs->profile->processes[logs->all[i].process];
    ideal_time_end(ideal, logs->all[i].process,
                   model_sum(job_ns(&logs->all[i], process->start_ticks), process->wall_ns));
  }
  const struct wait_states *states = &messages->states;
  bool whole = !ideal->incomplete && !messages->several_hosts && !messages->undecoded &&
               !(states->unsent + states->ambiguous + states->unknown + states->incomplete + states->unfinished +
                 states->unseen);
  if (whole && messages->known && messages->logs == messages->ranks) {
    messages->ideal_ns = ideal->longest_ns;
    messages->computed_ns = ideal->most_ns;
  }
  ideal_time_release(ideal);
}

/* Merges the logs by time. */
static void match_all(struct logs *logs, const struct job_listener *listener, struct job_messages *messages)
{
  struct ideal_time ideal;
  begin_ideal(logs, &ideal);
  struct message_observer observer = ideal_time_observer(&ideal);
  if (listener) {
    observer.received = listener->received;
    observer.receiver = listener->context;
  }
  struct message_matching *matching = message_matching_new(logs->streams, &messages->states, &observer);
  struct heap heap = {.items = xcalloc(logs->count, sizeof *heap.items)};
  for (uint32_t i = 0; i < logs->count; i++)
    if (advance(&logs->all[i]))
      heap_push(&heap, i, before, logs->all);
  while (heap.count) {
    struct log *log = &logs->all[heap.items[0]];
    const struct log_reader_record *next = &log->next;
    struct message_stream of = {log->process, next->thread};
    messages->known |= next->record.op > GRAPHLOG_MPI_RETURN; /* of operations, which were decoded */
    ideal_time_take(&ideal, log->first_stream + next->stream, &of, next->record.op, log->begin_ns);
    if (listener && next->record.op >= GRAPHLOG_MPI_CALL)
      listener->record(listener->context, log->first_stream + next->stream, &of, &next->record, log->begin_ns);
    message_matching_take(matching, log->first_stream + next->stream, &of, &next->record, log->begin_ns,
                          MAX(log->begin_ns, job_ns(log, next->end_ticks)));
    heap_next(&heap, advance(log), before, logs->all);
  }
  free(heap.items);
  message_matching_end(matching);
  end_ideal(logs, &ideal, messages);
}

/* ---- contexts ---- */

/* Finds the contexts of the places of one process. */
static void find_contexts(struct profile *profile, uint32_t number, struct problems *problems,
                          struct job_messages *messages)
{
  const struct wait_states *states = &messages->states;
  struct profile_process copy = profile->processes[number];
  struct stitch_node *nodes = xcalloc(states->places_count + 1, sizeof *nodes);
  uint32_t *places = xcalloc(states->places_count + 1, sizeof *places), count = 0;
  uint32_t *found = xcalloc(states->places_count + 1, sizeof *found);
  for (uint32_t i = 1; i <= states->places_count; i++)
    if (states->places[i].process == number && states->places[i].node) {
      nodes[count] = (struct stitch_node){states->places[i].thread, states->places[i].node};
      found[count] = MODEL_NONE;
      places[count++] = i;
    }
  struct problems reported_before = {0};
  struct read_file *file = NULL;
  if (count && read_open_again(copy.path, &reported_before, &file))
    problems_add(problems, "%s: cannot be read any more: the contexts of its calls of MPI are not known", copy.path);
  else if (count)
    stitch_find(file, &copy, &profile->catalog, &profile->contexts, nodes, count, found);
  for (uint32_t i = 0; i < count; i++)
    messages->contexts[places[i]] = found[i];
  read_close(file);
  problems_release(&reported_before);
  free(nodes);
  free(places);
  free(found);
}

/* Returns the logs that were read, without their readers. */
static struct logs read_logs(struct profile *profile, const struct job_listener *listener, struct problems *problems,
                             struct job_messages *messages)
{
  struct logs logs = {.profile = profile};
  *messages = (struct job_messages){0};
  if (same_ranks(profile, problems))
    return logs;
  open_logs(&logs, listener, problems, messages);
  match_all(&logs, listener, messages);
  for (uint32_t i = 0; i < logs.count; i++)
    log_reader_close(logs.all[i].reader);
  return logs;
}

void job_messages_listen(struct profile *profile, const struct job_listener *listener, struct problems *problems,
                         struct job_messages *messages)
{
  struct logs logs = read_logs(profile, listener, problems, messages);
  free(logs.all);
}

void job_messages_read(struct profile *profile, struct problems *problems, struct job_messages *messages)
{
  struct logs logs = read_logs(profile, NULL, problems, messages);
  messages->contexts = xcalloc((size_t)messages->states.places_count + 1, sizeof *messages->contexts);
  for (uint32_t i = 0; i <= messages->states.places_count; i++)
    messages->contexts[i] = MODEL_NONE;
  for (uint32_t i = 0; i < logs.count; i++)
    find_contexts(profile, logs.all[i].process, problems, messages);
  free(logs.all);
}

void job_messages_release(struct job_messages *messages)
{
  wait_states_release(&messages->states);
  free(messages->contexts);
  *messages = (struct job_messages){0};
}
