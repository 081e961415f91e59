#include "hpcprof-lite/timeline/mpi_events.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/grains/scratch_file.h"
#include "hpcprof-lite/messages/job_messages.h"
#include "hpcprof-lite/model/object_pool.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS_MAX = 1 << 26, NAME_SIZE = 129 };

/* What is known of a communicator, beside its groups. */
struct known {
  uint32_t process; /* whose name it is */
  char name[NAME_SIZE];
  bool checked, usable; /* usable: once it is checked, that its ranks exist */
};

/* Items of one lane, or the messages: blocks in the temporary file, and the last one. */
struct chain {
  uint64_t *offsets;
  uint32_t blocks, count; /* count: items in the last block */
  size_t room;
  void *last;
};

/* An operation that another call completes. */
struct request {
  struct mpi_event begun;
  uint32_t number; /* of its communicator in the process */
  bool shown;      /* its beginning is in a lane */
};

/* A thread that communicates. */
struct stream {
  uint32_t lane; /* + 1; 0: it has none */
  bool known, in_call, call_shown, in_collective;
  struct mpi_event call, collective;
  uint32_t receive; /* number in the process of the communicator of the call's receive */
};

struct mpi_events {
  const struct profile *profile;
  const struct timeline *timeline;
  struct problems *problems;
  struct scratch_file file;
  struct chain *chains; /* [lane], then the messages */
  struct stream *streams;
  uint32_t streams_count;
  size_t streams_room;
  struct hash_map lane_of; /* process and thread → lane + 1 */
  struct job_communicators communicators;
  struct known *known; /* [communicator] */
  size_t known_room;
  uint32_t known_count;
  struct object_pool requests;
  struct hash_map request_numbers;
  uint64_t last_request;
  uint64_t unknown;       /* operations that are left out */
  uint32_t *lane_of_rank; /* [rank] its first lane, MODEL_NONE */
  uint32_t ranks;
};

/* ---- items ---- */

static uint32_t number_of(uint64_t operand)
{
  return (uint32_t)MIN(operand, UINT32_MAX);
}

static size_t item_size(const struct mpi_events *events, const struct chain *chain)
{
  bool messages = chain == &events->chains[events->timeline->lanes_count];
  return messages ? sizeof(struct mpi_arrow) : sizeof(struct mpi_event);
}

static void put(struct mpi_events *events, struct chain *chain, const void *item)
{
  size_t size = item_size(events, chain);
  if (!chain->last)
    chain->last = xmalloc(MPI_EVENTS_BLOCK * size);
  if (chain->count == MPI_EVENTS_BLOCK) {
    *XAPPEND(chain->offsets, chain->blocks, chain->room) =
        scratch_file_append(&events->file, chain->last, MPI_EVENTS_BLOCK * size);
    chain->count = 0;
  }
  memcpy((char *)chain->last + chain->count++ * size, item, size);
}

/* Adds an event to the lane of a stream, if it is in the part of the run that the timeline shows. */
static bool add(struct mpi_events *events, const struct stream *stream, const struct mpi_event *event)
{
  const struct timeline *timeline = events->timeline;
  if (!stream->lane || event->time_ns < timeline->from_ns || event->time_ns > timeline->to_ns)
    return false;
  const struct timeline_lane *lane = &timeline->lanes[stream->lane - 1];
  struct mpi_event inside = *event;
  inside.time_ns = MIN(MAX(event->time_ns, lane->start_ns), lane->end_ns);
  put(events, &events->chains[stream->lane - 1], &inside);
  return true;
}

static void open_chain(struct mpi_events *events, uint32_t chain, struct mpi_events_reader *reader)
{
  reader->events = events;
  reader->chain = chain;
  reader->block = reader->at = reader->count = 0;
}

void mpi_events_open(struct mpi_events *events, uint32_t lane, struct mpi_events_reader *reader)
{
  assert(lane < events->timeline->lanes_count);
  open_chain(events, lane, reader);
}

void mpi_arrows_open(struct mpi_events *events, struct mpi_events_reader *reader)
{
  open_chain(events, events->timeline->lanes_count, reader);
}

/* Makes the next item the one at reader->at.  Returns false after the last one. */
static bool load(struct mpi_events_reader *reader)
{
  struct mpi_events *events = reader->events;
  const struct chain *chain = &events->chains[reader->chain];
  size_t size = item_size(events, chain);
  while (reader->at == reader->count) {
    if (events->file.failed || reader->block > chain->blocks)
      return false;
    bool last = reader->block == chain->blocks;
    reader->count = last ? chain->count : MPI_EVENTS_BLOCK;
    reader->at = 0;
    if (last && chain->count)
      memcpy(&reader->items, chain->last, chain->count * size);
    else if (!last &&
             !scratch_file_read(&events->file, &reader->items, MPI_EVENTS_BLOCK * size, chain->offsets[reader->block]))
      return false;
    reader->block++;
  }
  return true;
}

const struct mpi_event *mpi_events_peek(struct mpi_events_reader *reader)
{
  return load(reader) ? &reader->items.events[reader->at] : NULL;
}

const struct mpi_arrow *mpi_arrows_peek(struct mpi_events_reader *reader)
{
  return load(reader) ? &reader->items.arrows[reader->at] : NULL;
}

bool mpi_events_failed(const struct mpi_events *events)
{
  return events->file.failed;
}

/* ---- communicators ---- */

const struct job_communicators *mpi_events_communicators(const struct mpi_events *events)
{
  return &events->communicators;
}

const char *mpi_events_name(const struct mpi_events *events, uint32_t communicator)
{
  return communicator < events->known_count ? events->known[communicator].name : "";
}

static struct known *known_of(struct mpi_events *events, uint32_t communicator)
{
  if (communicator >= events->known_count) {
    xarray_reserve(&events->known, &events->known_room, (size_t)communicator + 1, sizeof *events->known);
    memset(&events->known[events->known_count], 0, (communicator + 1 - events->known_count) * sizeof *events->known);
    events->known_count = communicator + 1;
  }
  return &events->known[communicator];
}

bool mpi_events_usable(struct mpi_events *events, uint32_t communicator)
{
  assert(communicator && communicator <= events->communicators.count);
  struct known *known = known_of(events, communicator);
  const struct job_group *groups = events->communicators.all[communicator].groups;
  if (known->checked)
    return known->usable;
  known->checked = known->usable = true;
  for (unsigned i = 0; i < 2; i++)
    for (uint32_t k = 0; k < groups[i].count; k++)
      known->usable &= groups[i].ranks[k] < events->ranks;
  return known->usable;
}

/* Returns what a process knows of a communicator, if it is known in the job; counts what is left out. */
static const struct job_local *communicator_of(struct mpi_events *events, uint32_t process, uint64_t number)
{
  const struct job_local *local = number ? job_communicators_find(&events->communicators, process, number) : NULL;
  if (local && local->same && mpi_events_usable(events, local->same) &&
      job_communicators_self(&events->communicators, local) != JOB_RANK_NONE)
    return local;
  events->unknown++;
  return NULL;
}

/* A part of a name: of the first process that names it, whose later names replace it. */
static void on_name(struct mpi_events *events, uint32_t process, const uint64_t *operand)
{
  const struct job_local *local =
      operand[0] ? job_communicators_find(&events->communicators, process, operand[0]) : NULL;
  uint64_t position = operand[1];
  if (!local || !local->same || position > NAME_SIZE - 1 - sizeof(uint64_t))
    return;
  struct known *known = known_of(events, local->same);
  if (*known->name && known->process != process)
    return;
  known->process = process;
  if (!position)
    memset(known->name, 0, sizeof known->name);
  memcpy(known->name + position, &operand[2], sizeof operand[2]);
}

/* ---- requests ---- */

static uint64_t request_key(uint32_t process, uint64_t number)
{
  return hash_map_key(hash_map_key(1, process), number);
}

/* An operation begins that another call completes: gives it its number. */
static void begin_request(struct mpi_events *events, const struct stream *stream, uint32_t process, uint64_t number,
                          uint64_t communicator, struct mpi_event *event)
{
  uint64_t key = request_key(process, number);
  uint32_t index = hash_map_find(&events->request_numbers, key) ? 0 : object_pool_get(&events->requests);
  if (!index) {
    events->unknown++;
    return;
  }
  event->request = ++events->last_request;
  *(struct request *)object_pool_at(&events->requests, index) =
      (struct request){.begun = *event, .number = number_of(communicator), .shown = add(events, stream, event)};
  hash_map_add(&events->request_numbers, key, index);
}

/* Returns what a request stands for, which it does no more; kind MPI_EVENT_CALL: it is not known. */
static struct request end_request(struct mpi_events *events, uint32_t process, uint64_t number)
{
  uint64_t key = request_key(process, number);
  uint32_t index = hash_map_find(&events->request_numbers, key);
  if (!index)
    return (struct request){0};
  struct request request = *(struct request *)object_pool_at(&events->requests, index);
  hash_map_remove(&events->request_numbers, key);
  object_pool_put(&events->requests, index);
  return request;
}

/* ---- records ---- */

/* The call is shown before what it does, unless it has ended before the part of the run. */
static void show_call(struct mpi_events *events, struct stream *stream, uint64_t now)
{
  if (!stream->in_call || stream->call_shown || now < events->timeline->from_ns)
    return;
  stream->call.time_ns = MAX(stream->call.time_ns, events->timeline->from_ns);
  stream->call_shown = add(events, stream, &stream->call);
}

/* Whether a rank is one of those that an operation on the communicator can name. */
static bool is_peer(const struct mpi_events *events, const struct job_local *local, uint64_t rank)
{
  return job_communicators_peer(&events->communicators, local, rank) != JOB_RANK_NONE;
}

/* Likewise of a root as it is logged. */
static bool is_root(const struct mpi_events *events, const struct job_local *local, uint64_t root)
{
  bool two = job_communicator(&events->communicators, local)->groups[1].count;
  if (two && (root == GRAPHLOG_MPI_ROOT_SELF || root == GRAPHLOG_MPI_ROOT_THIS_GROUP))
    return true;
  return is_peer(events, local, root - 1);
}

static void on_call(struct stream *stream, const uint64_t *operand, uint64_t now)
{
  uint64_t function = operand[0];
  stream->in_call = function && function < MPI_FUNCTIONS;
  stream->call_shown = stream->in_collective = false;
  stream->receive = 0;
  stream->call = (struct mpi_event){.time_ns = now, .kind = MPI_EVENT_CALL, .function = (uint16_t)function};
}

static void on_return(struct mpi_events *events, struct stream *stream, uint64_t now)
{
  if (stream->in_collective && stream->collective.time_ns >= events->timeline->from_ns &&
      now <= events->timeline->to_ns) {
    add(events, stream, &stream->collective);
    stream->collective.kind = MPI_EVENT_COLLECTIVE_END;
    stream->collective.time_ns = now;
    add(events, stream, &stream->collective);
  }
  struct mpi_event end = {
      .time_ns = MIN(now, events->timeline->to_ns), .kind = MPI_EVENT_RETURN, .function = stream->call.function};
  if (stream->call_shown)
    add(events, stream, &end);
  stream->in_call = stream->call_shown = stream->in_collective = false;
}

static void on_send(struct mpi_events *events, struct stream *stream, uint32_t process, const uint64_t *operand,
                    uint64_t now)
{
  const struct job_local *local = communicator_of(events, process, operand[0]);
  if (!local)
    return;
  struct mpi_event event = {.time_ns = now,
                            .communicator = local->same,
                            .peer = number_of(operand[1]),
                            .tag = number_of(operand[2]),
                            .bytes = operand[3],
                            .kind = operand[4] ? MPI_EVENT_START_SEND : MPI_EVENT_SEND};
  if (!is_peer(events, local, operand[1]))
    events->unknown++;
  else if (operand[4])
    begin_request(events, stream, process, operand[4], operand[0], &event);
  else
    add(events, stream, &event);
}

static void on_receive(struct mpi_events *events, struct stream *stream, uint32_t process, const uint64_t *operand,
                       uint64_t now)
{
  const struct job_local *local = communicator_of(events, process, operand[0]);
  if (!local)
    return;
  struct mpi_event event = {.time_ns = now, .communicator = local->same, .kind = MPI_EVENT_START_RECEIVE};
  if (!operand[3])
    stream->receive = number_of(operand[0]);
  else
    begin_request(events, stream, process, operand[3], operand[0], &event);
}

static void on_received(struct mpi_events *events, struct stream *stream, uint32_t process, const uint64_t *operand,
                        uint64_t now)
{
  struct request request = {.begun.kind = MPI_EVENT_START_RECEIVE, .number = stream->receive};
  if (operand[0])
    request = end_request(events, process, operand[0]);
  if (request.begun.kind != MPI_EVENT_START_RECEIVE || !request.number)
    return;
  const struct job_local *local = communicator_of(events, process, request.number);
  if (!local || !operand[1] || !operand[2] || !is_peer(events, local, operand[1] - 1)) {
    events->unknown += local != NULL;
    return;
  }
  struct mpi_event event = {.time_ns = now,
                            .request = request.shown ? request.begun.request : 0,
                            .communicator = local->same,
                            .peer = number_of(operand[1] - 1),
                            .tag = number_of(operand[2] - 1),
                            .bytes = operand[3],
                            .kind = MPI_EVENT_RECEIVED};
  add(events, stream, &event);
}

static void on_collective(struct mpi_events *events, struct stream *stream, uint32_t process, const uint64_t *operand,
                          uint64_t now)
{
  const struct job_local *local = communicator_of(events, process, operand[0]);
  if (!local || operand[1] == GRAPHLOG_MPI_NEIGHBOURS) /* which formats do not have */
    return;
  bool names_root = !operand[2] || is_root(events, local, operand[2]);
  bool has_root = operand[2] && operand[1] != GRAPHLOG_MPI_JOIN; /* there it is a leader */
  struct mpi_event event = {.time_ns = now,
                            .communicator = local->same,
                            .peer = has_root ? number_of(operand[2] - 1) : MODEL_NONE,
                            .bytes = operand[3],
                            .kind = operand[4] ? MPI_EVENT_START_COLLECTIVE : MPI_EVENT_COLLECTIVE_BEGIN,
                            .collective = (uint8_t)MIN(operand[1], GRAPHLOG_MPI_COLLECTIVES),
                            .function = stream->call.function};
  if (!stream->in_call || !names_root) {
    events->unknown++;
  } else if (operand[4]) {
    begin_request(events, stream, process, operand[4], operand[0], &event);
  } else {
    stream->collective = event;
    stream->in_collective = true;
  }
}

/* A send or collective operation is complete. */
static void on_complete(struct mpi_events *events, struct stream *stream, uint32_t process, uint64_t number,
                        uint64_t now)
{
  struct request request = end_request(events, process, number);
  if (!request.shown || request.begun.kind == MPI_EVENT_START_RECEIVE)
    return;
  bool sends = request.begun.kind == MPI_EVENT_START_SEND;
  request.begun.kind = sends ? MPI_EVENT_SENT : MPI_EVENT_COLLECTIVE_COMPLETE;
  request.begun.time_ns = now;
  add(events, stream, &request.begun);
}

static void on_dropped(struct mpi_events *events, struct stream *stream, uint32_t process, uint64_t number,
                       uint64_t now)
{
  if (!number) {
    stream->receive = 0;
    stream->in_collective = false;
    return;
  }
  struct request request = end_request(events, process, number);
  if (!request.shown)
    return;
  request.begun.kind = MPI_EVENT_CANCELLED;
  request.begun.time_ns = now;
  add(events, stream, &request.begun);
}

static void on_operation(struct mpi_events *events, struct stream *stream, uint32_t process,
                         const struct graphlog_record *record, uint64_t now)
{
  const uint64_t *operand = record->operand;
  switch (record->op) {
  case GRAPHLOG_MPI_SEND:
  case GRAPHLOG_MPI_SYNCHRONOUS_SEND:
    on_send(events, stream, process, operand, now);
    break;
  case GRAPHLOG_MPI_RECEIVE:
    on_receive(events, stream, process, operand, now);
    break;
  case GRAPHLOG_MPI_RECEIVED:
    on_received(events, stream, process, operand, now);
    break;
  case GRAPHLOG_MPI_COLLECTIVE:
    on_collective(events, stream, process, operand, now);
    break;
  case GRAPHLOG_MPI_COMPLETE:
    on_complete(events, stream, process, operand[0], now);
    break;
  case GRAPHLOG_MPI_DROPPED:
    on_dropped(events, stream, process, operand[0], now);
    break;
  case GRAPHLOG_MPI_FREED:
    end_request(events, process, operand[0]);
    break;
  default:
    break;
  }
}

/* ---- the logs ---- */

static uint64_t thread_key(uint32_t process, uint32_t thread)
{
  return hash_map_key(hash_map_key(2, process), thread);
}

static struct stream *stream_at(struct mpi_events *events, uint32_t number, const struct message_stream *of)
{
  if (number >= events->streams_count) {
    xarray_reserve(&events->streams, &events->streams_room, (size_t)number + 1, sizeof *events->streams);
    memset(&events->streams[events->streams_count], 0, (number + 1 - events->streams_count) * sizeof *events->streams);
    events->streams_count = number + 1;
  }
  struct stream *stream = &events->streams[number];
  if (!stream->known)
    stream->lane = hash_map_find(&events->lane_of, thread_key(of->process, of->thread));
  stream->known = true;
  return stream;
}

static uint64_t since_start(const struct mpi_events *events, uint64_t ns)
{
  uint64_t origin = events->timeline->origin_ns;
  return ns > origin ? ns - origin : 0;
}

static void take_record(void *context, uint32_t number, const struct message_stream *of,
                        const struct graphlog_record *record, uint64_t now)
{
  struct mpi_events *events = context;
  uint64_t time_ns = since_start(events, now);
  struct stream *stream = stream_at(events, number, of);
  if (record->op == GRAPHLOG_MPI_COMMUNICATOR || record->op == GRAPHLOG_MPI_RANKS)
    job_communicators_take(&events->communicators, of->process, record);
  else if (record->op == GRAPHLOG_MPI_NAME)
    on_name(events, of->process, record->operand);
  else if (record->op == GRAPHLOG_MPI_CALL)
    on_call(stream, record->operand, time_ns);
  else {
    show_call(events, stream, time_ns);
    if (record->op == GRAPHLOG_MPI_RETURN)
      on_return(events, stream, time_ns);
    else
      on_operation(events, stream, of->process, record, time_ns);
  }
}

/* A message ends a ns before its receive is complete, so that it does so in the call. */
static void take_message(void *context, const struct matched_message *message)
{
  struct mpi_events *events = context;
  const struct timeline *timeline = events->timeline;
  struct mpi_arrow arrow = {.from = events->streams[message->sender].lane,
                            .to = events->streams[message->receiver].lane,
                            .from_ns = since_start(events, message->sent_ns),
                            .to_ns = since_start(events, message->received_ns),
                            .bytes = message->bytes,
                            .waited_ns = message->waited_ns};
  if (!arrow.from-- || !arrow.to-- || arrow.from_ns < timeline->from_ns || arrow.to_ns > timeline->to_ns)
    return;
  if (message->received_ns > message->call_ns)
    arrow.to_ns = MAX(arrow.to_ns, timeline->from_ns + 1) - 1;
  put(events, &events->chains[timeline->lanes_count], &arrow);
}

/* ---- all ---- */

/* Finds the lane of each thread, and of each rank. */
static void map_lanes(struct mpi_events *events)
{
  const struct timeline *timeline = events->timeline;
  for (uint32_t i = 0; i < timeline->lanes_count; i++) {
    const struct timeline_lane *lane = &timeline->lanes[i];
    const struct profile_process *process = &events->profile->processes[lane->process];
    hash_map_add(&events->lane_of, thread_key(lane->process, process->threads[lane->thread].index), i + 1);
    uint32_t rank = (uint32_t)process->mpi_rank;
    if (process->mpi_size && rank < events->ranks && events->lane_of_rank[rank] == MODEL_NONE)
      events->lane_of_rank[rank] = i;
  }
}

/* Returns false if there are none, or too many. */
static bool count_ranks(struct mpi_events *events)
{
  for (uint32_t i = 0; i < events->profile->processes_usable; i++)
    events->ranks = MAX(events->ranks, events->profile->processes[i].mpi_size);
  if (events->ranks > (uint64_t)events->timeline->lanes_count + MPI_EVENTS_MISSING_MAX) {
    problems_add(events->problems, "more than %d ranks of MPI have no trace: messages are left out",
                 MPI_EVENTS_MISSING_MAX);
    events->ranks = 0;
  }
  events->lane_of_rank = model_nones(events->ranks);
  return events->ranks;
}

/* Threads that were in a call when the logs end. */
static void end_calls(struct mpi_events *events)
{
  for (uint32_t i = 0; i < events->streams_count; i++)
    show_call(events, &events->streams[i], UINT64_MAX);
}

struct mpi_events *mpi_events_read(struct profile *profile, const struct timeline *timeline, struct problems *problems)
{
  struct mpi_events *events = xcalloc(1, sizeof *events);
  struct job_messages messages;
  struct problems found = {0};
  *events = (struct mpi_events){.profile = profile, .timeline = timeline, .problems = problems};
  const struct job_listener listener = {.record = take_record, .received = take_message, .context = events};
  events->chains = xcalloc((size_t)timeline->lanes_count + 1, sizeof *events->chains);
  scratch_file_init(&events->file, problems);
  object_pool_init(&events->requests, sizeof(struct request), REQUESTS_MAX);
  bool known = count_ranks(events);
  if (known) {
    map_lanes(events);
    job_messages_listen(profile, &listener, &found, &messages);
    problems_append_new(problems, &found); /* the critical path has been read from the same logs */
    end_calls(events);
    known = messages.known;
    job_messages_release(&messages);
  }
  if (events->unknown)
    problems_add(problems,
                 "%" PRIu64 " operations of MPI are left out: their communicators are not known in other "
                 "processes, or they contradict the log",
                 events->unknown);
  if (known)
    return events;
  mpi_events_free(events);
  return NULL;
}

void mpi_events_free(struct mpi_events *events)
{
  if (!events)
    return;
  for (uint32_t i = 0; i <= events->timeline->lanes_count; i++) {
    free(events->chains[i].offsets);
    free(events->chains[i].last);
  }
  free(events->chains);
  scratch_file_release(&events->file);
  object_pool_release(&events->requests);
  hash_map_release(&events->request_numbers);
  hash_map_release(&events->lane_of);
  job_communicators_release(&events->communicators);
  free(events->known);
  free(events->streams);
  free(events->lane_of_rank);
  free(events);
}

uint32_t mpi_events_lane(const struct mpi_events *events, uint32_t rank)
{
  return rank < events->ranks ? events->lane_of_rank[rank] : MODEL_NONE;
}

uint32_t mpi_events_ranks(const struct mpi_events *events)
{
  return events->ranks;
}
