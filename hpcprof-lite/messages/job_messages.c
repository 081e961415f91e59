#include "hpcprof-lite/messages/job_messages.h"

#include "common/order.h"
#include "common/tracelog.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/merge/stitch.h"
#include "hpcprof-lite/messages/ideal_time.h"
#include "hpcprof-lite/messages/job_order.h"
#include "hpcprof-lite/model/hash_map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The logs of the processes. */
struct logs {
  struct profile *profile;
  uint32_t count;
  uint32_t *processes; /* [log] its process's position in the profile, */
  uint32_t *hosts;     /* and that of the first one on its host */
  struct log_clock *clocks;
  struct log_part *parts;
  struct log_reader *reader; /* NULL: there are none */
  bool waits;                /* records wait for those of other hosts */
  bool causes;               /* of waits are wanted */
};

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

/* Returns the first process of the same host whose ticks are known: all of them have its clock.  hosts: those of the
 * processes before, to position + 1. */
static uint32_t host_of(const struct profile *profile, uint32_t number, struct hash_map *hosts)
{
  const char *host = profile->processes[number].host;
  uint64_t key = hash_map_key_bytes(1, host, strlen(host));
  uint32_t found = HASH_MAP_FIND(hosts, key, i, !strcmp(profile->processes[i - 1].host, host));
  if (!found)
    hash_map_add(hosts, key, found = number + 1);
  return found - 1;
}

/* The clock of a process or, `joins`, of its host alone. */
static struct log_clock clock_of(const struct profile_process *process, bool joins, uint32_t shift)
{
  return (struct log_clock){.start_ticks = process->start_ticks,
                            .start_ns = joins ? JOB_MESSAGES_UNRELATED_NS : process->start_ns,
                            .tick_ns = profile_tick_ns(process),
                            .shift = shift};
}

/* Lists the logs of all processes whose ticks are known. */
static void list_logs(struct logs *logs, const struct job_listener *listener)
{
  const struct profile *profile = logs->profile;
  struct hash_map hosts = {0};
  bool joins = listener && listener->joins, shows = listener && !joins;
  logs->processes = xcalloc(profile->processes_usable, sizeof *logs->processes);
  logs->hosts = xcalloc(profile->processes_usable, sizeof *logs->hosts);
  logs->clocks = xcalloc(profile->processes_usable, sizeof *logs->clocks);
  logs->parts = xcalloc(profile->processes_usable, sizeof *logs->parts);
  for (uint32_t i = 0; i < profile->processes_usable; i++) {
    uint32_t number = logs->count;
    if (!(profile->processes[i].workspan.tick_ns > 0))
      continue;
    logs->processes[number] = i;
    logs->hosts[number] = host_of(profile, i, &hosts);
    bool itself = shows || profile->processes[i].clock_rate > 0;
    const struct profile_process *whose = &profile->processes[itself ? i : logs->hosts[number]];
    logs->clocks[number] = clock_of(whose, joins, shows ? TRACELOG_STATE_SHIFT : 0);
    logs->parts[number] = (struct log_part){.measurement = profile->processes[i].path, .clock = &logs->clocks[number]};
    logs->count++;
  }
  hash_map_release(&hosts);
}

static bool has_log(const struct logs *logs, uint32_t number)
{
  return logs->reader && log_reader_has(logs->reader, number);
}

/* Opens the logs, and enters what is known of them. */
static void open_logs(struct logs *logs, const struct log_help *help, struct problems *problems,
                      struct job_messages *messages)
{
  const struct profile *profile = logs->profile;
  uint32_t first = MODEL_NONE;
  if (logs->count)
    logs->reader =
        log_reader_open_helped(logs->parts, logs->count, logs->causes ? LOG_WAITS : LOG_MESSAGES, help, problems);
  for (uint32_t i = 0; i < profile->processes_usable; i++) {
    const struct profile_process *process = &profile->processes[i];
    messages->ranks = MAX(messages->ranks, process->mpi_size);
    messages->undecoded |= process->mpi_size && !process->mpi_decoded;
  }
  for (uint32_t i = 0; i < logs->count; i++) {
    if (!has_log(logs, i))
      continue;
    first = MIN(first, i);
    messages->logs += profile->processes[logs->processes[i]].mpi_size != 0;
    messages->several_hosts |= logs->hosts[i] != logs->hosts[first];
  }
}

static void close_logs(struct logs *logs)
{
  log_reader_close(logs->reader);
  free(logs->processes);
  free(logs->hosts);
  free(logs->clocks);
  free(logs->parts);
}

/* ---- matching ---- */

/* When the process of a log started. */
static uint64_t start_ns(const struct logs *logs, uint32_t number)
{
  return log_clock_ns(&logs->clocks[number], logs->profile->processes[logs->processes[number]].start_ticks);
}

/* How long it ran, on the clock of the job. */
static uint64_t wall_ns(const struct logs *logs, uint32_t number)
{
  const struct profile_process *process = &logs->profile->processes[logs->processes[number]];
  return profile_corrected_ns(process, process->wall_ns);
}

/* Each rank is outside MPI from its start on. */
static void begin_ideal(const struct logs *logs, struct ideal_time *ideal)
{
  ideal_time_init(ideal, logs->profile->processes_count, log_reader_count(logs->reader));
  for (uint32_t i = 0; i < logs->count; i++) {
    const struct profile_thread *initial = profile_initial_thread(&logs->profile->processes[logs->processes[i]]);
    struct ideal_rank *rank = &ideal->ranks[logs->processes[i]];
    rank->thread = initial ? initial->index : 1;
    rank->left_ns = start_ns(logs, i);
  }
}

static void end_ideal(const struct logs *logs, struct ideal_time *ideal, struct job_messages *messages)
{
  for (uint32_t i = 0; i < logs->count; i++)
    if (has_log(logs, i))
      ideal_time_end(ideal, logs->processes[i], model_sum(start_ns(logs, i), wall_ns(logs, i)));
  const struct wait_states *states = &messages->states;
  bool related = !messages->several_hosts || messages->clocks.corrected;
  bool whole = !ideal->incomplete && related && !messages->undecoded &&
               !(states->unsent + states->ambiguous + states->unknown + states->incomplete + states->unfinished +
                 states->unseen);
  if (whole && messages->known && messages->logs == messages->ranks) {
    messages->ideal_ns = ideal->longest_ns;
    messages->computed_ns = ideal->most_ns;
  }
  ideal_time_release(ideal);
}

static void match_all(const struct logs *logs, const struct job_listener *listener, struct job_messages *messages)
{
  struct ideal_time ideal = {0};
  struct message_observer observer = {0};
  struct log_reader_record next;
  bool joins = listener && listener->joins;
  if (!logs->causes) {
    begin_ideal(logs, &ideal);
    observer = ideal_time_observer(&ideal);
  }
  if (joins) {
    observer = *listener->joins;
  } else if (listener) {
    observer.received = listener->received;
    observer.receiver = listener->context;
  }
  struct message_matching *matching =
      message_matching_new(log_reader_count(logs->reader), logs->causes, &messages->states, &observer);
  struct job_order order = {.log = logs->reader, .matching = logs->waits ? matching : NULL};
  while (job_order_next(&order, &next)) {
    struct message_stream of = {logs->processes[next.part], next.local};
    uint64_t begin_ns = next.begin_ticks - (joins ? next.moved : 0);
    messages->known |= next.record.op > GRAPHLOG_MPI_RETURN; /* of operations, which were decoded */
    if (!logs->causes)
      ideal_time_take(&ideal, next.stream, &of, next.record.op, begin_ns);
    if (listener && next.record.op >= GRAPHLOG_MPI_CALL)
      listener->record(listener->context, next.stream, &of, &next.record, begin_ns);
    message_matching_take(matching, next.stream, &of, &next.record, begin_ns, next.end_ticks);
  }
  messages->early = order.early;
  messages->early_ns = order.early_ns;
  messages->earliest_ns = order.earliest_ns;
  job_order_release(&order);
  message_matching_end(matching);
  if (!logs->causes)
    end_ideal(logs, &ideal, messages);
}

/* ---- contexts ---- */

/* Places in the order of their processes. */
struct places {
  uint32_t *numbers;
  uint32_t *firsts; /* [process], and behind the last one */
};

static void sort_places(const struct profile *profile, const struct wait_states *states, struct places *places)
{
  uint32_t processes = profile->processes_count;
  places->firsts = xcalloc((size_t)processes + 2, sizeof *places->firsts);
  places->numbers = xcalloc((size_t)states->places_count + 1, sizeof *places->numbers);
  for (uint32_t i = 1; i <= states->places_count; i++)
    places->firsts[states->places[i].process + 2]++;
  for (uint32_t i = 2; i <= processes + 1; i++)
    places->firsts[i] += places->firsts[i - 1];
  for (uint32_t i = 1; i <= states->places_count; i++)
    places->numbers[places->firsts[states->places[i].process + 1]++] = i;
}

/* Finds the contexts of some places of one process. */
static void find_contexts(struct profile *profile, uint32_t number, const uint32_t *places, uint32_t places_count,
                          struct problems *problems, struct job_messages *messages)
{
  struct profile_process copy = profile->processes[number];
  struct stitch_node *nodes = xcalloc(places_count, sizeof *nodes);
  uint32_t *found = xcalloc(places_count, sizeof *found), count = 0;
  for (uint32_t i = 0; i < places_count; i++) {
    const struct wait_place *place = &messages->states.places[places[i]];
    nodes[i] = (struct stitch_node){place->thread, place->node};
    found[i] = MODEL_NONE;
    count += place->node != 0;
  }
  struct problems reported_before = {0};
  struct read_file *file = NULL;
  if (count && read_open_again(copy.path, &reported_before, &file))
    problems_add(problems, "%s: cannot be read any more: the contexts of its calls of MPI are not known", copy.path);
  else if (count)
    stitch_find(file, &copy, &profile->catalog, &profile->contexts, nodes, places_count, found);
  for (uint32_t i = 0; i < places_count; i++)
    messages->contexts[places[i]] = messages->states.places[places[i]].node ? found[i] : MODEL_NONE;
  read_close(file);
  problems_release(&reported_before);
  free(nodes);
  free(found);
}

static void find_all_contexts(const struct logs *logs, struct problems *problems, struct job_messages *messages)
{
  struct places places;
  messages->contexts = xcalloc((size_t)messages->states.places_count + 1, sizeof *messages->contexts);
  messages->contexts[0] = MODEL_NONE;
  sort_places(logs->profile, &messages->states, &places);
  for (uint32_t i = 0; i < logs->count; i++) {
    const uint32_t *first = &places.firsts[logs->processes[i]];
    find_contexts(logs->profile, logs->processes[i], places.numbers + first[0], first[1] - first[0], problems,
                  messages);
  }
  free(places.firsts);
  free(places.numbers);
}

/* ---- all ---- */

static const struct log_help no_help;

/* Lists the logs and reads those that there are. */
static void read_logs(struct logs *logs, const struct log_help *help, const struct job_listener *listener,
                      struct problems *problems, struct job_messages *messages)
{
  *messages = (struct job_messages){0};
  if (same_ranks(logs->profile, problems))
    return;
  messages->clocks = logs->profile->clocks;
  logs->waits = messages->clocks.corrected || (listener && listener->joins);
  list_logs(logs, listener);
  open_logs(logs, logs->waits ? &no_help : help, problems, messages);
  if (logs->reader)
    match_all(logs, listener, messages);
}

void job_messages_listen(struct profile *profile, const struct job_listener *listener, struct problems *problems,
                         struct job_messages *messages)
{
  struct logs logs = {.profile = profile};
  read_logs(&logs, &no_help, listener, problems, messages);
  close_logs(&logs);
}

void job_messages_sum(struct profile *profile, const struct log_help *help, struct problems *problems,
                      struct job_messages *messages)
{
  struct logs logs = {.profile = profile};
  read_logs(&logs, help, NULL, problems, messages);
  close_logs(&logs);
}

void job_messages_read(struct profile *profile, const struct log_help *help, struct problems *problems,
                       struct job_messages *messages)
{
  struct logs logs = {.profile = profile, .causes = true};
  read_logs(&logs, help, NULL, problems, messages);
  find_all_contexts(&logs, problems, messages);
  close_logs(&logs);
}

void job_messages_release(struct job_messages *messages)
{
  wait_states_release(&messages->states);
  free(messages->contexts);
  *messages = (struct job_messages){0};
}
