#include "hpcprof-lite/messages/message_matching.h"

#include "common/mpi_functions.h"
#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/messages/job_communicators.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/object_pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
  OBJECTS_MAX = 1 << 26,
  KEPT_RANKS_MAX = 1 << 24,
  ANY = UINT32_MAX,
  SEARCHED_MAX = 8,
  RECENT_PLACES = 8,
  IDLE_MAX = 1 << 16 /* channels that are kept though they are empty: most are used again */
};

/* Visits of undecided receives, and of ranks for which one waits, beyond VISITS_OF_CALL for each call; while there are
 * more, none is decided any more.  Bounds the time for hostile logs, not for long ones. */
static const uint64_t visits_max = (uint64_t)256 << 20;
enum { VISITS_OF_CALL = 1024 };

/* An operation whose beginning another one waits for. */
struct partner {
  uint64_t begin_ns;
  uint32_t stream, place;
};

/* A send or a receive. */
struct operation {
  uint32_t next, previous;             /* in the queue of its channel or inbox */
  uint32_t inbox_next, inbox_previous; /* of a send in a queue: among all for that receiver */
  uint32_t channel, inbox;
  struct partner own, partner;         /* partner: once it is matched */
  uint32_t matched_with;               /* while both are kept; 0: none */
  uint32_t from, to;                   /* once it is matched: ranks in MPI_COMM_WORLD */
  uint32_t source;                     /* of a receive: in MPI_COMM_WORLD, or ANY */
  uint64_t tag;                        /* + 1; 0: any */
  uint64_t number;                     /* of a receive: its communicator's in the process */
  uint64_t bytes;                      /* of a receive that is complete */
  uint64_t message;                    /* its number for the observer; of a receive: once it is matched */
  uint64_t begun;                      /* of a receive: that of its beginning; once matched, its send has it */
  uint64_t call;                       /* number of the call that has completed it, in its stream, */
  uint64_t call_begin_ns, call_end_ns; /* and when that was */
  uint32_t done_stream, done_place;
  bool sends, synchronous, queued, matched, complete, ambiguous;
};

struct queue {
  uint32_t first, last;
};

/* Messages of one communicator, sender, receiver and tag.  At most one of the queues is not empty. */
struct channel {
  uint32_t communicator, from, to;
  uint64_t tag;
  uint32_t inbox; /* of the receiver; 0: there are too many */
  uint32_t pair;  /* position + 1 of the two ranks' pair; 0: nothing was sent so far */
  struct queue sends, receives;
  uint32_t sender, receiver; /* the streams that used it last, and their calls */
  uint64_t sender_call, receiver_call;
  bool used, ambiguous;
  bool idle; /* it is among the idle ones, or was when it was used again */
};

/* A rank in a communicator. */
struct inbox {
  uint32_t communicator, rank; /* in MPI_COMM_WORLD */
  struct queue undecided;      /* receives in the order in which they were posted */
  struct queue unreceived;     /* sends that are in a channel's queue */
  uint64_t collectives;        /* operations that it has begun */
};

/* A collective operation.  Between two groups, each waits for the other one; else the second one is empty. */
struct collective {
  uint32_t communicator;
  uint64_t number;
  enum graphlog_mpi_collective kind;
  uint64_t first; /* its number for the observer, or that of its first rank or group */
  struct side {
    uint32_t size, arrived;
    struct partner last;
  } sides[2];
  uint32_t root_rank, root_side;
  uint32_t ended;
  uint32_t other; /* of a join: that of the other group, once it is known */
  struct partner root;
  bool root_known, mixed, failed;
  bool led;              /* the leader of a join has named that of the other group */
  bool loose;            /* on a file: no rank waits for another one */
  struct partner *ranks; /* [size], of those in which ranks wait for some others; begin_ns 0: not there */
};

/* What a request stands for. */
struct request {
  uint32_t operation, collective; /* one of them is 0 */
  uint32_t rank;                  /* in the communicator */
  uint64_t number;                /* of the communicator in the process */
  uint8_t side;                   /* which group of the operation it is in */
  bool beside;                    /* the root of an operation between two groups is another rank of that group */
  bool freed;                     /* nothing waits for it */
};

struct stream {
  struct message_stream of;
  uint64_t calls, call_begin_ns;
  bool in_call;
  bool unseen; /* ranks can wait for each other in the call, but no operation of it is logged so far */
  uint32_t place;
  uint32_t locals;               /* the communicator that it used last is known since there were so many; 0: none is, */
  uint64_t local_number;         /* its number in the process, */
  const struct job_local *local; /* what the process knows of it, */
  uint32_t own_inbox;            /* and the own inbox there; 0: not known */
  uint32_t send, receive;        /* that end with the call */
  uint32_t channels[2];          /* that the call has used last: to send, to receive */
  struct request collective;     /* likewise */
  bool waits;                    /* the following are known */
  enum wait_state state;
  struct partner until;
  uint32_t from, to; /* of a message */
  struct place_of_node {
    uint32_t node, place;
  } recent[RECENT_PLACES]; /* [node % RECENT_PLACES] where the thread was lately; place 0: none */
  struct delay fragment;   /* samples of the next fragment */
  struct history history;
  struct stretch before; /* before the first call */
};

struct message_matching {
  struct stream *streams;
  uint32_t count;
  bool causes; /* of waits are wanted */
  struct wait_states *states;
  struct message_observer observer;
  uint64_t numbers; /* that the observer has got; those that have ended are used again */
  uint64_t *ended;
  struct numbers {
    uint64_t first;
    uint32_t count;
  } * ended_rows; /* several that follow each other */
  size_t ended_room, ended_rows_room;
  uint32_t ended_count, ended_rows_count;
  struct job_communicators communicators;
  struct object_pool operations, channels, inboxes, collectives, requests;
  struct hash_map channel_numbers, inbox_numbers, collective_numbers, request_numbers;
  struct hash_map joins;   /* the leaders of two groups → the operation of the first one */
  uint32_t idle[IDLE_MAX]; /* a ring of channels */
  uint32_t idle_first, idle_count;
  uint64_t visits;     /* of undecided receives */
  uint64_t kept_ranks; /* of collective operations */
  uint32_t failed;     /* collective operations, which have not ended in all ranks */
};

static struct operation *operation_at(const struct message_matching *m, uint32_t index)
{
  return object_pool_at(&m->operations, index);
}

static struct channel *channel_at(const struct message_matching *m, uint32_t index)
{
  return object_pool_at(&m->channels, index);
}

static struct inbox *inbox_at(const struct message_matching *m, uint32_t index)
{
  return object_pool_at(&m->inboxes, index);
}

static struct collective *collective_at(const struct message_matching *m, uint32_t index)
{
  return object_pool_at(&m->collectives, index);
}

static struct request *request_at(const struct message_matching *m, uint32_t index)
{
  return object_pool_at(&m->requests, index);
}

static void offers(const struct message_matching *m, uint32_t stream, uint64_t number)
{
  if (m->observer.offers)
    m->observer.offers(m->observer.context, stream, number);
}

static void takes(const struct message_matching *m, uint32_t stream, uint64_t number)
{
  if (m->observer.takes)
    m->observer.takes(m->observer.context, stream, number);
}

/* first: 0: none. */
static void ends(struct message_matching *m, uint64_t first, uint32_t count)
{
  if (!first)
    return;
  for (uint32_t i = 0; i < count && m->observer.ends; i++)
    m->observer.ends(m->observer.context, first + i);
  if (count == 1)
    *XAPPEND(m->ended, m->ended_count, m->ended_room) = first;
  else
    *XAPPEND(m->ended_rows, m->ended_rows_count, m->ended_rows_room) = (struct numbers){first, count};
}

/* Return a number for the observer, and the first of so many that follow each other. */
static uint64_t new_number(struct message_matching *m)
{
  return m->ended_count ? m->ended[--m->ended_count] : ++m->numbers;
}

static uint64_t new_numbers(struct message_matching *m, uint32_t count)
{
  if (count == 1)
    return new_number(m);
  for (uint32_t i = m->ended_rows_count, searched = 0; i-- > 0 && searched < SEARCHED_MAX; searched++) {
    uint64_t first = m->ended_rows[i].first;
    if (m->ended_rows[i].count != count)
      continue;
    m->ended_rows[i] = m->ended_rows[--m->ended_rows_count];
    return first;
  }
  m->numbers += count;
  return m->numbers - count + 1;
}

/* ---- waits ---- */

/* The call that a stream is in has waited until a partner began, unless it has waited longer for another one. */
static void call_waited(struct stream *stream, enum wait_state state, const struct partner *until, uint32_t from,
                        uint32_t to)
{
  /* A send that is complete in the same call as a receive may have been buffered: the receive waits. */
  bool sends = state == WAIT_STATE_LATE_RECEIVER, sent = stream->waits && stream->state == WAIT_STATE_LATE_RECEIVER;
  bool replaces = !stream->waits || stream->until.begin_ns < until->begin_ns;
  if (stream->waits && sends != sent)
    replaces = sent;
  if (until->begin_ns <= stream->call_begin_ns || !replaces)
    return;
  stream->waits = true;
  stream->state = state;
  stream->until = *until;
  stream->from = from;
  stream->to = to;
}

/* Returns the place that stands for what a thread did before the call in a place. */
static uint32_t before_call(struct message_matching *m, uint32_t place)
{
  if (!place)
    return 0;
  struct wait_place before = m->states->places[place];
  before.before = true;
  return wait_states_place(m->states, &before);
}

/* What a late rank did between two times. */
static struct delay find_cause(struct message_matching *m, uint64_t begin_ns, uint64_t end_ns,
                               const struct partner *late)
{
  struct delay delay = {0};
  uint64_t unknown_ns = history_find(&m->streams[late->stream].history, begin_ns, end_ns, &delay);
  if (unknown_ns)
    delay_add(&delay, before_call(m, late->place), (double)unknown_ns);
  return delay;
}

/* Adds a wait of a call; returns what has delayed it, if that is wanted. */
static struct delay charge(struct message_matching *m, enum wait_state state, uint32_t place, uint64_t begin_ns,
                           uint64_t end_ns, const struct partner *late, uint32_t from, uint32_t to)
{
  struct delay delay = {0};
  if (m->causes) {
    delay = find_cause(m, begin_ns, end_ns, late);
    wait_states_add(m->states, state, place, &delay);
  }
  bool by_sender = state == WAIT_STATE_LATE_SENDER || state == WAIT_STATE_WRONG_ORDER;
  if (!by_sender && state != WAIT_STATE_LATE_RECEIVER)
    return delay;
  struct wait_pair *pair = wait_states_pair(m->states, from, to);
  *(by_sender ? &pair->late_sender_ns : &pair->late_receiver_ns) += (double)(end_ns - begin_ns);
  ++*(by_sender ? &pair->late_senders : &pair->late_receivers);
  return delay;
}

/* An operation waited in a call until its partner began. */
static void operation_waited(struct message_matching *m, const struct operation *operation, enum wait_state state)
{
  struct stream *stream = &m->streams[operation->done_stream];
  const struct partner *until = &operation->partner;
  uint64_t begin_ns = MAX(operation->call_begin_ns, operation->own.begin_ns);
  if (operation->ambiguous || until->begin_ns <= begin_ns)
    return;
  if (stream->in_call && stream->calls == operation->call)
    call_waited(stream, state, until, operation->from, operation->to);
  else if (until->begin_ns < operation->call_end_ns)
    charge(m, state, operation->done_place, begin_ns, until->begin_ns, until, operation->from, operation->to);
}

/* ---- queues ---- */

static void append(struct message_matching *m, struct queue *queue, uint32_t index)
{
  operation_at(m, index)->previous = queue->last;
  operation_at(m, index)->next = 0;
  if (queue->last)
    operation_at(m, queue->last)->next = index;
  else
    queue->first = index;
  queue->last = index;
}

static void take_out(struct message_matching *m, struct queue *queue, uint32_t index)
{
  const struct operation *operation = operation_at(m, index);
  if (operation->previous)
    operation_at(m, operation->previous)->next = operation->next;
  else
    queue->first = operation->next;
  if (operation->next)
    operation_at(m, operation->next)->previous = operation->previous;
  else
    queue->last = operation->previous;
}

static void append_unreceived(struct message_matching *m, struct inbox *inbox, uint32_t index)
{
  struct operation *send = operation_at(m, index);
  send->queued = true;
  send->inbox_previous = inbox->unreceived.last;
  send->inbox_next = 0;
  if (inbox->unreceived.last)
    operation_at(m, inbox->unreceived.last)->inbox_next = index;
  else
    inbox->unreceived.first = index;
  inbox->unreceived.last = index;
}

static void take_unreceived(struct message_matching *m, struct inbox *inbox, uint32_t index)
{
  struct operation *send = operation_at(m, index);
  send->queued = false;
  if (send->inbox_previous)
    operation_at(m, send->inbox_previous)->inbox_next = send->inbox_next;
  else
    inbox->unreceived.first = send->inbox_next;
  if (send->inbox_next)
    operation_at(m, send->inbox_next)->inbox_previous = send->inbox_previous;
  else
    inbox->unreceived.last = send->inbox_previous;
}

/* ---- channels and inboxes ---- */

static uint64_t channel_key(const struct channel *channel)
{
  uint64_t key = hash_map_key(hash_map_key(1, channel->communicator), channel->from);
  return hash_map_key(hash_map_key(key, channel->to), channel->tag);
}

static bool same_channel(const struct channel *x, const struct channel *y)
{
  return x->communicator == y->communicator && x->from == y->from && x->to == y->to && x->tag == y->tag;
}

static uint32_t inbox_of(struct message_matching *m, uint32_t communicator, uint32_t rank)
{
  uint64_t key = hash_map_key(hash_map_key(2, communicator), rank);
  uint32_t index = HASH_MAP_FIND(&m->inbox_numbers, key, i,
                                 inbox_at(m, i)->communicator == communicator && inbox_at(m, i)->rank == rank);
  if (index)
    return index;
  index = object_pool_get(&m->inboxes);
  if (index) {
    *inbox_at(m, index) = (struct inbox){.communicator = communicator, .rank = rank};
    hash_map_add(&m->inbox_numbers, key, index);
  }
  return index;
}

/* Returns 0 if there are too many. */
static uint32_t channel_of(struct message_matching *m, const struct channel *wanted)
{
  uint64_t key = channel_key(wanted);
  uint32_t index = HASH_MAP_FIND(&m->channel_numbers, key, i, same_channel(channel_at(m, i), wanted));
  if (index)
    return index;
  index = object_pool_get(&m->channels);
  if (index) {
    struct channel *channel = channel_at(m, index);
    *channel = *wanted;
    channel->inbox = inbox_of(m, wanted->communicator, wanted->to);
    channel->used = true;
    hash_map_add(&m->channel_numbers, key, index);
  }
  return index;
}

/* Whether the call in which a stream used a channel last goes on. */
static bool goes_on(const struct message_matching *m, uint32_t stream, uint64_t call)
{
  return call && m->streams[stream].in_call && m->streams[stream].calls == call;
}

/* A stream uses a channel; two at once have no order. */
static void use_channel(struct message_matching *m, uint32_t index, uint32_t stream, bool sends)
{
  struct channel *channel = channel_at(m, index);
  uint32_t *last = sends ? &channel->sender : &channel->receiver;
  uint64_t *call = sends ? &channel->sender_call : &channel->receiver_call;
  if (*last != stream && goes_on(m, *last, *call))
    channel->ambiguous = true;
  *last = stream;
  *call = m->streams[stream].calls;
  m->streams[stream].channels[!sends] = index;
}

/* Whether nothing is left of a channel, and no call is using it. */
static bool is_empty(const struct message_matching *m, const struct channel *channel)
{
  return !channel->sends.first && !channel->receives.first && !goes_on(m, channel->sender, channel->sender_call) &&
         !goes_on(m, channel->receiver, channel->receiver_call);
}

static void free_channel(struct message_matching *m, uint32_t index)
{
  struct channel *channel = channel_at(m, index);
  uint64_t key = channel_key(channel);
  channel->used = false;
  uint32_t number = hash_map_find(&m->channel_numbers, key);
  if (number != index) /* another one with the same hash stays in the map, and this one with it */
    return;
  hash_map_remove(&m->channel_numbers, key);
  object_pool_put(&m->channels, index);
}

/* If a channel is empty, it is as a new one, and is freed when many others are empty. */
static void leave_channel(struct message_matching *m, uint32_t index)
{
  struct channel *channel = channel_at(m, index);
  if (!channel->used || !is_empty(m, channel))
    return;
  channel->ambiguous = false;
  if (channel->idle)
    return;
  channel->idle = true;
  if (m->idle_count == IDLE_MAX) {
    uint32_t oldest = m->idle[m->idle_first];
    m->idle_first = (m->idle_first + 1) % IDLE_MAX;
    m->idle_count--;
    channel_at(m, oldest)->idle = false;
    if (is_empty(m, channel_at(m, oldest)))
      free_channel(m, oldest);
  }
  m->idle[(m->idle_first + m->idle_count++) % IDLE_MAX] = index;
}

/* ---- matching ---- */

static bool accepts(const struct operation *receive, uint32_t from, uint64_t tag)
{
  return (receive->source == ANY || receive->source == from) && (!receive->tag || receive->tag == tag);
}

/* Whether, before a late message began, another one had been sent to the receiver which none of its receives is for. */
static bool in_wrong_order(struct message_matching *m, const struct operation *receive)
{
  const struct inbox *inbox = inbox_at(m, receive->inbox);
  uint32_t index = inbox->unreceived.first;
  for (unsigned searched = 0; index && searched < SEARCHED_MAX; searched++) {
    const struct operation *send = operation_at(m, index);
    const struct channel *channel = channel_at(m, send->channel);
    bool wanted = false;
    if (send->own.begin_ns >= receive->partner.begin_ns)
      return false;
    for (uint32_t i = inbox->undecided.first; i && !wanted; i = operation_at(m, i)->next)
      wanted = m->visits++ > visits_max || accepts(operation_at(m, i), channel->from, channel->tag);
    if (!wanted)
      return true;
    index = send->inbox_next;
  }
  return false;
}

/* How long the call that has completed a receive waited for its send to begin. */
static uint64_t waited_ns(const struct operation *receive)
{
  uint64_t begin_ns = MAX(receive->call_begin_ns, receive->own.begin_ns);
  uint64_t until_ns = MIN(receive->partner.begin_ns, receive->call_end_ns);
  return until_ns > begin_ns ? until_ns - begin_ns : 0;
}

static void received(struct message_matching *m, const struct operation *receive)
{
  takes(m, receive->done_stream, receive->message);
  ends(m, receive->message, 1);
  if (m->observer.received && !receive->ambiguous)
    m->observer.received(m->observer.receiver, &(struct matched_message){.sender = receive->partner.stream,
                                                                         .receiver = receive->done_stream,
                                                                         .sent_ns = receive->partner.begin_ns,
                                                                         .received_ns = receive->call_end_ns,
                                                                         .bytes = receive->bytes,
                                                                         .waited_ns = waited_ns(receive),
                                                                         .call_ns = receive->call_begin_ns});
  operation_waited(m, receive, in_wrong_order(m, receive) ? WAIT_STATE_WRONG_ORDER : WAIT_STATE_LATE_SENDER);
}

static void free_operation(struct message_matching *m, uint32_t index)
{
  const struct operation *operation = operation_at(m, index);
  if (operation->matched_with)
    operation_at(m, operation->matched_with)->matched_with = 0;
  object_pool_put(&m->operations, index);
}

/* Frees a receive that is complete, and its send if that is complete, too.  A send is kept until then, because the
 * receive may be cancelled. */
static void free_received(struct message_matching *m, uint32_t index)
{
  uint32_t send = operation_at(m, index)->matched_with;
  free_operation(m, index);
  if (send && operation_at(m, send)->complete)
    free_operation(m, send);
}

/* Both are in no queue any more. */
static void match(struct message_matching *m, uint32_t channel_index, uint32_t send_index, uint32_t receive_index)
{
  struct operation *send = operation_at(m, send_index), *receive = operation_at(m, receive_index);
  const struct channel *channel = channel_at(m, channel_index);
  send->matched = receive->matched = true;
  send->matched_with = receive_index;
  receive->matched_with = send_index;
  send->from = receive->from = channel->from;
  send->to = receive->to = channel->to;
  send->ambiguous = receive->ambiguous = channel->ambiguous;
  send->partner = receive->own;
  receive->partner = send->own;
  receive->message = send->message;
  if (send->synchronous && !send->complete)
    send->begun = receive->begun;
  else
    ends(m, receive->begun, 1);
  m->states->ambiguous += channel->ambiguous;
  if (receive->complete)
    received(m, receive);
  if (send->complete)
    operation_waited(m, send, WAIT_STATE_LATE_RECEIVER);
  if (receive->complete)
    free_received(m, receive_index);
  leave_channel(m, channel_index);
}

/* A message is sent: the first receive gets it, or it waits for one. */
static void offer(struct message_matching *m, uint32_t number, uint32_t index)
{
  struct channel *channel = channel_at(m, number);
  struct operation *send = operation_at(m, index);
  uint32_t receive = channel->receives.first;
  send->channel = number;
  if (!receive) {
    append(m, &channel->sends, index);
    append_unreceived(m, inbox_at(m, send->inbox), index);
    return;
  }
  take_out(m, &channel->receives, receive);
  operation_at(m, receive)->queued = false;
  match(m, number, index, receive);
}

/* It is known which messages a receive is for. */
static void decide(struct message_matching *m, uint32_t index, uint32_t from, uint64_t tag)
{
  struct operation *receive = operation_at(m, index);
  struct inbox *inbox = inbox_at(m, receive->inbox);
  take_out(m, &inbox->undecided, index);
  uint32_t number = channel_of(
      m, &(struct channel){.communicator = inbox->communicator, .from = from, .to = inbox->rank, .tag = tag});
  if (!number) {
    m->states->ambiguous++;
    receive->matched = true;
    return;
  }
  struct channel *channel = channel_at(m, number);
  receive->channel = number;
  receive->source = from;
  receive->tag = tag;
  use_channel(m, number, receive->own.stream, false);
  uint32_t send = channel->sends.first;
  if (!send) {
    append(m, &channel->receives, index);
    receive->queued = true;
    return;
  }
  take_out(m, &channel->sends, send);
  take_unreceived(m, inbox, send);
  match(m, number, send, index);
}

/* Decides receives, in the order in which they were posted: those from one source and of one tag, unless one before it
 * might get the same message. */
static void decide_all(struct message_matching *m, struct inbox *inbox)
{
  for (uint32_t i = inbox->undecided.first, next; i && m->visits++ <= visits_max; i = next) {
    const struct operation *receive = operation_at(m, i);
    bool open = receive->source == ANY || !receive->tag;
    next = receive->next;
    for (uint32_t k = inbox->undecided.first; k != i && !open; k = operation_at(m, k)->next)
      open = accepts(operation_at(m, k), receive->source, receive->tag) || m->visits++ > visits_max;
    if (!open)
      decide(m, i, receive->source, receive->tag);
  }
}

/* ---- requests ---- */

static uint64_t request_key(uint32_t process, uint64_t number)
{
  return hash_map_key(hash_map_key(4, process), number);
}

static void add_request(struct message_matching *m, uint32_t process, uint64_t number, const struct request *request)
{
  uint64_t key = request_key(process, number);
  uint32_t index = hash_map_find(&m->request_numbers, key) ? 0 : object_pool_get(&m->requests);
  if (!index) {
    m->states->ambiguous++;
    return;
  }
  *request_at(m, index) = *request;
  hash_map_add(&m->request_numbers, key, index);
}

/* Returns what a request stands for; nothing if it is not known. */
static struct request request_of(const struct message_matching *m, uint32_t process, uint64_t number)
{
  return *request_at(m, hash_map_find(&m->request_numbers, request_key(process, number)));
}

/* The same, which it does no more. */
static struct request take_request(struct message_matching *m, uint32_t process, uint64_t number)
{
  uint32_t index = hash_map_remove(&m->request_numbers, request_key(process, number));
  struct request request = *request_at(m, index);
  if (index)
    object_pool_put(&m->requests, index);
  return request;
}

/* ---- messages ---- */

static struct partner own_of(const struct message_matching *m, uint32_t stream)
{
  const struct stream *s = &m->streams[stream];
  return (struct partner){s->call_begin_ns, stream, s->place};
}

/* Returns what the stream's process knows of a communicator, if its messages can be matched; counts those that cannot.
 */
static const struct job_local *communicator_of(struct message_matching *m, uint32_t stream, uint64_t number)
{
  struct stream *s = &m->streams[stream];
  s->unseen = false;
  if (s->locals && s->locals == m->communicators.locals_count && s->local_number == number)
    return s->local;
  const struct job_local *local = job_communicators_find(&m->communicators, s->of.process, number);
  s->locals = 0;
  if (!local || !local->same) {
    m->states->unknown++;
    return NULL;
  }
  uint32_t self = job_communicators_self(&m->communicators, local);
  s->own_inbox = self == JOB_RANK_NONE ? 0 : inbox_of(m, local->same, self);
  s->locals = m->communicators.locals_count;
  s->local_number = number;
  return s->local = local;
}

static void keep(struct message_matching *m, uint32_t stream, uint64_t request, uint32_t index, bool sends)
{
  struct stream *s = &m->streams[stream];
  if (request)
    add_request(m, s->of.process, request, &(struct request){.operation = index});
  else if (sends)
    s->send = index;
  else
    s->receive = index;
}

/* Returns the pair of the two ranks of a channel, which is 0 if there are too many. */
static struct wait_pair *pair_of(struct message_matching *m, uint32_t channel, uint32_t from, uint32_t to)
{
  uint32_t known = channel_at(m, channel)->pair;
  if (known)
    return &m->states->pairs[known - 1];
  struct wait_pair *pair = wait_states_pair(m->states, from, to);
  if (channel)
    channel_at(m, channel)->pair = (uint32_t)(pair - m->states->pairs) + 1;
  return pair;
}

static void on_send(struct message_matching *m, uint32_t stream, const uint64_t *operand, bool synchronous)
{
  const struct job_local *local = communicator_of(m, stream, operand[0]);
  if (!local)
    return;
  struct channel wanted = {.communicator = local->same,
                           .from = job_communicators_self(&m->communicators, local),
                           .to = job_communicators_peer(&m->communicators, local, operand[1]),
                           .tag = operand[2] + 1};
  if (wanted.from == JOB_RANK_NONE || wanted.to == JOB_RANK_NONE) {
    m->states->unknown++;
    return;
  }
  uint32_t number = channel_of(m, &wanted), inbox = channel_at(m, number)->inbox;
  struct wait_pair *pair = pair_of(m, number, wanted.from, wanted.to);
  pair->messages++;
  model_add(&pair->bytes, operand[3]);
  uint32_t index = number && inbox ? object_pool_get(&m->operations) : 0;
  if (!index) {
    m->states->ambiguous++;
    return;
  }
  *operation_at(m, index) = (struct operation){.sends = true,
                                               .synchronous = synchronous,
                                               .channel = number,
                                               .inbox = inbox,
                                               .own = own_of(m, stream),
                                               .message = new_number(m)};
  offers(m, stream, operation_at(m, index)->message);
  keep(m, stream, operand[4], index, true);
  use_channel(m, number, stream, true);
  offer(m, number, index);
}

static void on_receive(struct message_matching *m, uint32_t stream, const uint64_t *operand)
{
  const struct job_local *local = communicator_of(m, stream, operand[0]);
  if (!local)
    return;
  uint32_t source = operand[1] ? job_communicators_peer(&m->communicators, local, operand[1] - 1) : ANY;
  uint32_t inbox = m->streams[stream].own_inbox;
  if (!inbox || (operand[1] && source == JOB_RANK_NONE)) {
    m->states->unknown++;
    return;
  }
  uint32_t index = object_pool_get(&m->operations);
  if (!index) {
    m->states->ambiguous++;
    return;
  }
  *operation_at(m, index) = (struct operation){.inbox = inbox,
                                               .own = own_of(m, stream),
                                               .source = source,
                                               .tag = operand[2],
                                               .number = operand[0],
                                               .begun = new_number(m)};
  offers(m, stream, operation_at(m, index)->begun);
  keep(m, stream, operand[3], index, false);
  append(m, &inbox_at(m, inbox)->undecided, index);
  decide_all(m, inbox_at(m, inbox));
}

/* An operation ends with the call that the stream is in. */
static void complete(const struct message_matching *m, uint32_t stream, uint64_t now, struct operation *operation)
{
  const struct stream *s = &m->streams[stream];
  operation->complete = true;
  operation->call = s->calls;
  operation->call_begin_ns = s->call_begin_ns;
  operation->call_end_ns = now;
  operation->done_stream = stream;
  operation->done_place = s->place;
}

/* Returns the rank in MPI_COMM_WORLD of a source + 1; ANY: not known. */
static uint32_t source_of(struct message_matching *m, uint32_t process, uint64_t number, uint64_t source)
{
  const struct job_local *local = job_communicators_find(&m->communicators, process, number);
  return local && source ? job_communicators_peer(&m->communicators, local, source - 1) : ANY;
}

static void on_received(struct message_matching *m, uint32_t stream, const uint64_t *operand, uint64_t now)
{
  struct stream *s = &m->streams[stream];
  uint32_t index = operand[0] ? take_request(m, s->of.process, operand[0]).operation : s->receive;
  if (!operand[0])
    s->receive = 0;
  if (!index || operation_at(m, index)->sends)
    return;
  struct operation *receive = operation_at(m, index);
  struct inbox *inbox = inbox_at(m, receive->inbox);
  complete(m, stream, now, receive);
  receive->bytes = operand[3];
  if (receive->matched) {
    received(m, receive);
    free_received(m, index);
  } else if (!receive->queued) { /* undecided until now */
    receive->source = source_of(m, s->of.process, receive->number, operand[1]);
    receive->tag = operand[2];
    decide_all(m, inbox);
  }
}

/* A receive has got the message of a send that is complete, but it is not known which one, unless only one could.
 * Returns that one, or NULL. */
static const struct operation *only_receive(struct message_matching *m, const struct operation *send)
{
  const struct channel *channel = channel_at(m, send->channel);
  const struct operation *only = NULL;
  for (uint32_t i = inbox_at(m, send->inbox)->undecided.first; i; i = operation_at(m, i)->next) {
    const struct operation *receive = operation_at(m, i);
    if (m->visits++ > visits_max || (accepts(receive, channel->from, channel->tag) && only))
      return NULL;
    if (accepts(receive, channel->from, channel->tag))
      only = receive;
  }
  return only;
}

/* A synchronous send is complete: the thread goes on after its receive has begun. */
static void take_receive(struct message_matching *m, uint32_t stream, const struct operation *send)
{
  const struct operation *receive = send->matched ? NULL : only_receive(m, send);
  uint64_t begun = receive ? receive->begun : send->begun;
  if (begun)
    takes(m, stream, begun);
  else
    m->states->ambiguous++;
}

/* waits: the thread has waited for it. */
static void send_complete(struct message_matching *m, uint32_t stream, uint32_t index, uint64_t now, bool waits)
{
  struct operation *send = operation_at(m, index);
  if (send->synchronous && waits)
    take_receive(m, stream, send);
  if (send->begun)
    ends(m, send->begun, 1);
  send->begun = 0;
  complete(m, stream, now, send);
  if (!send->matched)
    return;
  operation_waited(m, send, WAIT_STATE_LATE_RECEIVER);
  if (!send->matched_with)
    free_operation(m, index);
}

/* A receive was cancelled.  If a message was thought to be for it, that is for the next one. */
static void drop_receive(struct message_matching *m, uint32_t index)
{
  struct operation *receive = operation_at(m, index);
  struct inbox *inbox = inbox_at(m, receive->inbox);
  uint32_t send = receive->matched_with;
  if (!receive->matched) {
    ends(m, receive->begun, 1);
    take_out(m, receive->queued ? &channel_at(m, receive->channel)->receives : &inbox->undecided, index);
    decide_all(m, inbox);
  } else if (send && !operation_at(m, send)->ambiguous) {
    struct channel wanted = {
        .communicator = inbox->communicator, .from = receive->from, .to = receive->to, .tag = receive->tag};
    uint32_t number = channel_of(m, &wanted);
    ends(m, operation_at(m, send)->begun, 1);
    operation_at(m, send)->begun = 0;
    operation_at(m, send)->matched = false;
    operation_at(m, send)->matched_with = receive->matched_with = 0;
    if (number)
      offer(m, number, send);
  }
  free_operation(m, index);
}

static void drop_send(struct message_matching *m, uint32_t index)
{
  const struct operation *send = operation_at(m, index);
  if (!send->matched) {
    take_out(m, &channel_at(m, send->channel)->sends, index);
    take_unreceived(m, inbox_at(m, send->inbox), index);
    ends(m, send->message, 1);
  }
  if (send->begun)
    ends(m, send->begun, 1);
  free_operation(m, index);
}

/* ---- collective operations ---- */

static uint64_t collective_key(uint32_t communicator, uint64_t number)
{
  return hash_map_key(hash_map_key(5, communicator), number);
}

/* Whether ranks wait for some others only. */
static bool waits_for_some(enum graphlog_mpi_collective kind)
{
  return kind == GRAPHLOG_MPI_PREFIX || kind == GRAPHLOG_MPI_NEIGHBOURS;
}

/* How many numbers it has for the observer. */
static uint32_t numbers_of(const struct collective *collective)
{
  if (waits_for_some(collective->kind))
    return collective->sides[0].size;
  return collective->sides[1].size ? 2 : 1;
}

/* Returns the operation of that kind on a communicator that its ranks begin there as the one with that number, or 0 if
 * there are too many. */
static uint32_t collective_of(struct message_matching *m, const struct job_local *local, uint64_t number,
                              enum graphlog_mpi_collective kind)
{
  const struct job_group *groups = job_communicator(&m->communicators, local)->groups;
  uint32_t communicator = local->same, size = groups[0].count;
  uint64_t key = collective_key(communicator, number);
  uint32_t index =
      HASH_MAP_FIND(&m->collective_numbers, key, i,
                    collective_at(m, i)->communicator == communicator && collective_at(m, i)->number == number);
  if (index)
    return index;
  index = object_pool_get(&m->collectives);
  if (!index)
    return 0;
  m->states->collectives++;
  *collective_at(m, index) = (struct collective){.communicator = communicator,
                                                 .sides = {{.size = size}, {.size = groups[1].count}},
                                                 .number = number,
                                                 .kind = kind};
  collective_at(m, index)->first = new_numbers(m, numbers_of(collective_at(m, index)));
  if (waits_for_some(kind) && m->kept_ranks + size <= KEPT_RANKS_MAX) {
    collective_at(m, index)->ranks = xcalloc(size, sizeof *collective_at(m, index)->ranks);
    m->kept_ranks += size;
  }
  hash_map_add(&m->collective_numbers, key, index);
  return index;
}

/* Logs of earlier versions lack the root of an operation between two groups. */
static bool can_follow(const struct job_communicator *communicator, uint64_t kind, uint64_t root)
{
  bool simple = kind == GRAPHLOG_MPI_BARRIER || kind == GRAPHLOG_MPI_ALL_TO_ALL;
  bool rooted = kind == GRAPHLOG_MPI_FROM_ROOT || kind == GRAPHLOG_MPI_TO_ROOT;
  return communicator->groups[1].count ? simple || (rooted && root) : kind < GRAPHLOG_MPI_COLLECTIVES;
}

static void on_collective(struct message_matching *m, uint32_t stream, const uint64_t *operand)
{
  struct stream *s = &m->streams[stream];
  const struct job_local *local = communicator_of(m, stream, operand[0]);
  if (!local)
    return;
  uint32_t inbox = s->own_inbox;
  const struct job_communicator *communicator = job_communicator(&m->communicators, local);
  bool two = communicator->groups[1].count;
  if (!inbox || !can_follow(communicator, operand[1], operand[2])) {
    m->states->unknown++;
    return;
  }
  enum graphlog_mpi_collective kind = (enum graphlog_mpi_collective)operand[1];
  uint32_t index = collective_of(m, local, inbox_at(m, inbox)->collectives++, kind);
  if (!index) {
    m->states->ambiguous++;
    return;
  }
  struct collective *collective = collective_at(m, index);
  struct partner own = own_of(m, stream);
  collective->sides[local->own].arrived++;
  collective->sides[local->own].last = own;
  collective->mixed |= kind != collective->kind;
  if (collective->ranks)
    collective->ranks[local->rank] = own;
  bool root = operand[2] == (two ? GRAPHLOG_MPI_ROOT_SELF : (uint64_t)local->rank + 1);
  if (waits_for_some(kind))
    offers(m, stream, collective->first + local->rank);
  else if (kind != GRAPHLOG_MPI_FROM_ROOT || root)
    offers(m, stream, collective->first + local->own);
  if (root) {
    collective->root_rank = local->rank;
    collective->root_side = local->own;
    collective->root = own;
    collective->root_known = true;
  }
  struct request begun = {.collective = index,
                          .rank = local->rank,
                          .side = local->own,
                          .beside = two && operand[2] == GRAPHLOG_MPI_ROOT_THIS_GROUP,
                          .number = operand[0]};
  if (operand[4])
    add_request(m, s->of.process, operand[4], &begun);
  else
    s->collective = begun;
}

/* Two groups are joined by their leaders, whom both know. */
static void on_leader(struct message_matching *m, uint32_t stream, const uint64_t *operand)
{
  uint32_t index = m->streams[stream].collective.collective;
  if (!index || collective_at(m, index)->kind != GRAPHLOG_MPI_JOIN || collective_at(m, index)->led)
    return;
  const struct job_local *local = communicator_of(m, stream, operand[0]);
  if (!local)
    return;
  uint32_t own = job_communicators_self(&m->communicators, local);
  uint32_t peer = job_communicators_peer(&m->communicators, local, operand[1]);
  uint64_t key = hash_map_key(hash_map_key(6, local->same), operand[2]);
  key = hash_map_key(hash_map_key(key, MIN(own, peer)), MAX(own, peer));
  uint32_t other = hash_map_find(&m->joins, key);
  collective_at(m, index)->led = true;
  if (!other) {
    hash_map_add(&m->joins, key, index);
  } else {
    hash_map_remove(&m->joins, key);
    collective_at(m, index)->other = other;
    collective_at(m, other)->other = index;
    m->states->collectives--;
  }
}

/* The group for which a rank waits where it waits for all of one. */
static unsigned awaited_side(const struct collective *collective, const struct request *part)
{
  return collective->sides[1].size ? !part->side : 0;
}

/* The ranks for which a rank waits where it waits for some others. */
struct some {
  const uint32_t *ranks; /* [count]; NULL: 0, 1, ... */
  uint32_t count;
};

static struct some some_of(struct message_matching *m, uint32_t stream, const struct request *part)
{
  if (collective_at(m, part->collective)->kind == GRAPHLOG_MPI_PREFIX)
    return (struct some){.count = part->rank};
  const struct job_local *local =
      job_communicators_find(&m->communicators, m->streams[stream].of.process, part->number);
  return (struct some){local->sources.ranks, local->sources.count};
}

/* Returns the one at that position; the rank itself if it waits for none there. */
static uint32_t some_rank(const struct message_matching *m, const struct some *some, const struct request *part,
                          uint32_t position)
{
  uint32_t rank = some->ranks ? some->ranks[position] : position;
  return rank < collective_at(m, part->collective)->sides[0].size ? rank : part->rank;
}

/* Finds the last of these; returns false if there are none, or one is not there. */
static bool last_of_some(struct message_matching *m, uint32_t stream, const struct request *part, struct partner *last)
{
  const struct partner *ranks = collective_at(m, part->collective)->ranks;
  struct some some = some_of(m, stream, part);
  bool found = false;
  for (uint32_t i = 0; ranks && i < some.count; i++) {
    uint32_t rank = some_rank(m, &some, part, i);
    if (!ranks[rank].begin_ns)
      return false;
    if (rank != part->rank && (!found || ranks[rank].begin_ns > last->begin_ns))
      *last = ranks[rank];
    found |= rank != part->rank;
  }
  return found;
}

/* Whether a rank waits for others, as far as is known: if there is a root, for that, or as the root. */
static bool waits_for_others(const struct collective *collective, const struct request *part)
{
  bool is_root = collective->root_known && collective->root_rank == part->rank && collective->root_side == part->side;
  if (collective->kind == GRAPHLOG_MPI_FROM_ROOT)
    return collective->root_known && !is_root && !part->beside;
  return collective->kind == GRAPHLOG_MPI_TO_ROOT ? is_root : !collective->loose;
}

static bool all_there(const struct side *side)
{
  return side->arrived == side->size;
}

/* Both groups of a join wait for the last rank of both; returns false if one is not there. */
static bool last_of_both(const struct message_matching *m, const struct collective *collective, struct partner *last)
{
  if (!collective->other)
    return false;
  const struct side *own = &collective->sides[0], *other = &collective_at(m, collective->other)->sides[0];
  *last = own->last.begin_ns > other->last.begin_ns ? own->last : other->last;
  return all_there(own) && all_there(other);
}

/* What a rank in an operation waits for; returns false if that is not known, or nothing. */
static bool awaited(struct message_matching *m, uint32_t stream, const struct request *part, struct partner *until)
{
  const struct collective *collective = collective_at(m, part->collective);
  const struct side *side = &collective->sides[awaited_side(collective, part)];
  bool from_root = collective->kind == GRAPHLOG_MPI_FROM_ROOT;
  if (waits_for_some(collective->kind))
    return last_of_some(m, stream, part, until);
  if (collective->kind == GRAPHLOG_MPI_JOIN)
    return last_of_both(m, collective, until);
  *until = from_root ? collective->root : side->last;
  return waits_for_others(collective, part) && (from_root || all_there(side));
}

/* A rank goes on after a collective operation: it takes what those have done that it has to wait for. */
static void take_collective(struct message_matching *m, uint32_t stream, const struct request *part)
{
  const struct collective *collective = collective_at(m, part->collective);
  if (collective->mixed)
    return;
  if (waits_for_some(collective->kind)) {
    struct some some = some_of(m, stream, part);
    uint32_t i = 0;
    for (; i < some.count && m->visits++ <= visits_max; i++)
      if (some_rank(m, &some, part, i) != part->rank)
        takes(m, stream, collective->first + some_rank(m, &some, part, i));
    m->states->ambiguous += i < some.count;
    return;
  }
  if (waits_for_others(collective, part))
    takes(m, stream, collective->first + awaited_side(collective, part));
  if (collective->other)
    takes(m, stream, collective_at(m, collective->other)->first);
}

static bool has_ended(const struct collective *collective)
{
  return collective->ended >= collective->sides[0].size + collective->sides[1].size;
}

static void free_collective(struct message_matching *m, uint32_t index)
{
  struct collective *collective = collective_at(m, index);
  ends(m, collective->first, numbers_of(collective));
  m->states->ambiguous += collective->mixed && !collective->failed;
  m->failed -= collective->failed;
  hash_map_remove(&m->collective_numbers, collective_key(collective->communicator, collective->number));
  m->kept_ranks -= collective->ranks ? collective->sides[0].size : 0;
  free(collective->ranks);
  collective->ranks = NULL;
  object_pool_put(&m->collectives, index);
}

/* The operation is over in one more rank, which may be the last one; that of a join, of both groups. */
static void leave_collective(struct message_matching *m, uint32_t index)
{
  struct collective *collective = collective_at(m, index);
  uint32_t other = collective->other;
  collective->ended++;
  if (!has_ended(collective) || (collective->kind == GRAPHLOG_MPI_JOIN && !other) ||
      (other && !has_ended(collective_at(m, other))))
    return;
  if (other)
    free_collective(m, other);
  free_collective(m, index);
}

/* An operation that has failed is counted once, in whichever ranks. */
static void drop_collective(struct message_matching *m, uint32_t index)
{
  struct collective *collective = collective_at(m, index);
  m->states->cancelled += !collective->failed;
  m->failed += !collective->failed;
  collective->failed = true;
  leave_collective(m, index);
}

/* A rank has completed its part in the call that the stream is in. */
static void collective_ended(struct message_matching *m, uint32_t stream, const struct request *part)
{
  static const enum wait_state states[GRAPHLOG_MPI_COLLECTIVES] = {
      [GRAPHLOG_MPI_BARRIER] = WAIT_STATE_BARRIER,          [GRAPHLOG_MPI_ALL_TO_ALL] = WAIT_STATE_ALL_TO_ALL,
      [GRAPHLOG_MPI_FROM_ROOT] = WAIT_STATE_LATE_BROADCAST, [GRAPHLOG_MPI_TO_ROOT] = WAIT_STATE_EARLY_REDUCE,
      [GRAPHLOG_MPI_PREFIX] = WAIT_STATE_EARLY_SCAN,        [GRAPHLOG_MPI_NEIGHBOURS] = WAIT_STATE_NEIGHBOURS,
      [GRAPHLOG_MPI_JOIN] = WAIT_STATE_ALL_TO_ALL,          [GRAPHLOG_MPI_FILE] = WAIT_STATE_ALL_TO_ALL};
  struct collective *collective = collective_at(m, part->collective);
  struct partner until;
  /* A library that lets a rank go on before the last one begins makes none wait. */
  if (collective->kind == GRAPHLOG_MPI_FILE)
    collective->loose |= m->observer.unrelated || !all_there(&collective->sides[0]);
  if (!part->freed)
    take_collective(m, stream, part);
  if (!collective->mixed && awaited(m, stream, part, &until) && until.stream != stream)
    call_waited(&m->streams[stream], states[collective->kind], &until, 0, 0);
  leave_collective(m, part->collective);
}

/* ---- calls and other records ---- */

static void on_fragment(struct stream *s, uint64_t begin_ns, uint64_t end_ns)
{
  struct stretch stretch = {.begin_ns = begin_ns, .end_ns = end_ns, .delay = s->fragment};
  s->fragment.count = 0;
  if (s->calls) {
    history_add(&s->history, &stretch);
    return;
  }
  if (!s->before.end_ns)
    s->before.begin_ns = begin_ns;
  s->before.end_ns = end_ns;
  for (uint32_t i = 0; i < stretch.delay.count; i++)
    delay_add(&s->before.delay, stretch.delay.shares[i].place, stretch.delay.shares[i].amount);
}

/* Whether ranks can wait for each other in a function: then an operation of it is logged, or it is not followed. */
static bool ranks_wait_in(uint64_t function)
{
  switch (function) {
  case MPI_FUNCTION_NONE:
  case MPI_FUNCTION_Comm_free:
  case MPI_FUNCTION_Comm_set_name:
  case MPI_FUNCTION_Win_attach:
  case MPI_FUNCTION_Win_detach:
    return false;
  case MPI_FUNCTION_Psend_init:
  case MPI_FUNCTION_Precv_init:
    return true;
  default:
    break;
  }
  if (function >= MPI_FUNCTIONS)
    return false;
  enum mpi_kind kind = mpi_function_kind((enum mpi_function)function);
  return kind == MPI_KIND_COLLECTIVE || kind == MPI_KIND_START_COLLECTIVE || kind == MPI_KIND_COMMUNICATOR ||
         kind == MPI_KIND_ONE_SIDED_SYNC || kind == MPI_KIND_WINDOW || kind == MPI_KIND_FILE ||
         kind == MPI_KIND_CONNECT || kind == MPI_KIND_START_SENDRECV;
}

/* Returns the place of a node of the stream's thread. */
static uint32_t place_of(struct message_matching *m, struct stream *s, uint64_t node)
{
  struct wait_place place = {.process = s->of.process, .thread = s->of.thread, .node = (uint32_t)MIN(node, UINT32_MAX)};
  struct place_of_node *recent = &s->recent[place.node % RECENT_PLACES];
  if (!recent->place || recent->node != place.node)
    *recent = (struct place_of_node){place.node, wait_states_place(m->states, &place)};
  return recent->place;
}

static void on_call(struct message_matching *m, uint32_t stream, const uint64_t *operand, uint64_t now)
{
  struct stream *s = &m->streams[stream];
  if (!s->calls && s->before.delay.count) {
    s->before.end_ns = MAX(s->before.begin_ns, now);
    history_add(&s->history, &s->before);
  }
  s->place = m->causes ? place_of(m, s, operand[1]) : 0;
  m->visits -= MIN(m->visits, VISITS_OF_CALL);
  s->calls++;
  s->call_begin_ns = now;
  s->in_call = true;
  s->unseen = ranks_wait_in(operand[0]);
  s->waits = false;
  s->send = s->receive = 0;
  s->collective = (struct request){0};
  s->channels[0] = s->channels[1] = 0;
}

/* Adds the call to what its thread has done, if that is wanted: while it waited, what others did. */
static void add_call(struct message_matching *m, struct stream *s, uint64_t now)
{
  uint64_t begin_ns = s->call_begin_ns, until_ns = s->waits ? MIN(s->until.begin_ns, now) : begin_ns;
  if (until_ns > begin_ns) {
    struct stretch waited = {.begin_ns = begin_ns, .end_ns = until_ns};
    waited.delay = charge(m, s->state, s->place, begin_ns, until_ns, &s->until, s->from, s->to);
    if (m->causes)
      history_add(&s->history, &waited);
  }
  if (m->causes)
    history_add_place(&s->history, MAX(begin_ns, until_ns), now, s->place);
}

static void on_return(struct message_matching *m, uint32_t stream, uint64_t now)
{
  struct stream *s = &m->streams[stream];
  if (!s->in_call)
    return;
  if (s->send)
    send_complete(m, stream, s->send, now, true);
  if (s->collective.collective)
    collective_ended(m, stream, &s->collective);
  s->collective = (struct request){0};
  add_call(m, s, now);
  m->states->unseen += s->unseen;
  s->in_call = false;
  for (unsigned i = 0; i < 2; i++)
    if (s->channels[i])
      leave_channel(m, s->channels[i]);
}

static void on_complete(struct message_matching *m, uint32_t stream, uint64_t number, uint64_t now)
{
  struct request request = take_request(m, m->streams[stream].of.process, number);
  if (request.collective)
    collective_ended(m, stream, &request);
  else if (request.operation && operation_at(m, request.operation)->sends)
    send_complete(m, stream, request.operation, now, true);
}

static void on_dropped(struct message_matching *m, uint32_t stream, uint64_t number)
{
  struct stream *s = &m->streams[stream];
  struct request request = {.operation = s->receive, .collective = s->collective.collective};
  if (number) {
    request = take_request(m, s->of.process, number);
  } else {
    s->receive = 0;
    s->collective = (struct request){0};
  }
  if (request.collective)
    drop_collective(m, request.collective);
  if (!request.operation)
    return;
  m->states->cancelled++;
  if (operation_at(m, request.operation)->sends)
    drop_send(m, request.operation);
  else
    drop_receive(m, request.operation);
}

/* Nothing more is known of it: a message for a receive is taken as received. */
static void on_freed(struct message_matching *m, uint32_t stream, uint64_t number, uint64_t now)
{
  struct request request = take_request(m, m->streams[stream].of.process, number);
  request.freed = true;
  if (request.collective)
    collective_ended(m, stream, &request);
  if (!request.operation)
    return;
  const struct operation *operation = operation_at(m, request.operation);
  if (operation->sends)
    send_complete(m, stream, request.operation, now, false);
  else if (operation->matched)
    free_received(m, request.operation);
  else if (!operation->queued)
    m->states->ambiguous++; /* it stays undecided, as do those behind it */
}

static void on_sample(struct message_matching *m, struct stream *s, const uint64_t *operand)
{
  delay_add(&s->fragment, place_of(m, s, operand[0]), (double)operand[1]);
}

void message_matching_take(struct message_matching *matching, uint32_t stream, const struct message_stream *of,
                           const struct graphlog_record *record, uint64_t begin_ns, uint64_t end_ns)
{
  assert(stream < matching->count && begin_ns <= end_ns);
  struct stream *s = &matching->streams[stream];
  const uint64_t *operand = record->operand;
  s->of = *of;
  switch (record->op) {
  case GRAPHLOG_RUN:
  case GRAPHLOG_RUN_OTHER:
    on_fragment(s, begin_ns, end_ns);
    break;
  case GRAPHLOG_SAMPLE:
    on_sample(matching, s, operand);
    break;
  case GRAPHLOG_MPI_CALL:
    on_call(matching, stream, operand, begin_ns);
    break;
  case GRAPHLOG_MPI_RETURN:
    on_return(matching, stream, begin_ns);
    break;
  case GRAPHLOG_MPI_COMMUNICATOR:
  case GRAPHLOG_MPI_RANKS:
  case GRAPHLOG_MPI_SOURCES:
    job_communicators_take(&matching->communicators, s->of.process, record);
    break;
  case GRAPHLOG_MPI_SEND:
  case GRAPHLOG_MPI_SYNCHRONOUS_SEND:
    on_send(matching, stream, operand, record->op == GRAPHLOG_MPI_SYNCHRONOUS_SEND);
    break;
  case GRAPHLOG_MPI_RECEIVE:
    on_receive(matching, stream, operand);
    break;
  case GRAPHLOG_MPI_RECEIVED:
    on_received(matching, stream, operand, begin_ns);
    break;
  case GRAPHLOG_MPI_COLLECTIVE:
    on_collective(matching, stream, operand);
    break;
  case GRAPHLOG_MPI_LEADER:
    on_leader(matching, stream, operand);
    break;
  case GRAPHLOG_MPI_COMPLETE:
    on_complete(matching, stream, operand[0], begin_ns);
    break;
  case GRAPHLOG_MPI_DROPPED:
    on_dropped(matching, stream, operand[0]);
    break;
  case GRAPHLOG_MPI_FREED:
    on_freed(matching, stream, operand[0], begin_ns);
    break;
  default:
    break;
  }
}

/* ---- records before those that they need ---- */

/* Whether the message of a receive that is complete has not been sent.  Of one that is undecided, because one before it
 * might have got the same message, only that no such message was sent. */
static bool lacks_message(const struct message_matching *m, const struct operation *receive, uint32_t from,
                          uint64_t tag)
{
  if (receive->matched || receive->queued || from == ANY)
    return !receive->matched && receive->queued;
  const struct inbox *inbox = inbox_at(m, receive->inbox);
  const struct channel wanted = {.communicator = inbox->communicator, .from = from, .to = inbox->rank, .tag = tag};
  uint32_t channel =
      HASH_MAP_FIND(&m->channel_numbers, channel_key(&wanted), i, same_channel(channel_at(m, i), &wanted));
  return !channel || !channel_at(m, channel)->sends.first;
}

/* Whether no receive has begun that can have got the message of a synchronous send that is complete. */
static bool lacks_receive(struct message_matching *m, const struct operation *send)
{
  if (!send->synchronous || send->matched)
    return false;
  const struct channel *channel = channel_at(m, send->channel);
  for (uint32_t i = inbox_at(m, send->inbox)->undecided.first; i; i = operation_at(m, i)->next)
    if (accepts(operation_at(m, i), channel->from, channel->tag) || m->visits++ > visits_max)
      return false;
  return true;
}

/* Whether one of some ranks for which a rank waits has not begun. */
static bool lacks_some(struct message_matching *m, uint32_t stream, const struct request *part)
{
  const struct partner *ranks = collective_at(m, part->collective)->ranks;
  struct some some = some_of(m, stream, part);
  for (uint32_t i = 0; ranks && i < some.count && m->visits++ <= visits_max; i++)
    if (!ranks[some_rank(m, &some, part, i)].begin_ns)
      return true;
  return false;
}

/* Whether a rank has completed its part of a collective operation, and those that it has to wait for have not begun. */
static bool lacks_ranks(struct message_matching *m, uint32_t stream, const struct request *part)
{
  const struct collective *collective = collective_at(m, part->collective);
  const struct side *side = &collective->sides[awaited_side(collective, part)];
  if (collective->mixed || collective->kind == GRAPHLOG_MPI_FILE)
    return false;
  if (waits_for_some(collective->kind))
    return lacks_some(m, stream, part);
  if (collective->kind == GRAPHLOG_MPI_FROM_ROOT)
    return !collective->root_known && !part->beside;
  struct partner last;
  if (collective->kind == GRAPHLOG_MPI_JOIN)
    return !last_of_both(m, collective, &last);
  return waits_for_others(collective, part) && !all_there(side);
}

bool message_matching_awaits(struct message_matching *m, uint32_t stream, const struct graphlog_record *record)
{
  const struct stream *s = &m->streams[stream];
  const uint64_t *operand = record->operand;
  struct request request = s->collective;
  if (record->op == GRAPHLOG_MPI_COMPLETE || (record->op == GRAPHLOG_MPI_RECEIVED && operand[0]))
    request = request_of(m, s->of.process, operand[0]);
  else if (record->op == GRAPHLOG_MPI_RECEIVED)
    request = (struct request){.operation = s->receive};
  else if (record->op != GRAPHLOG_MPI_RETURN || !s->in_call)
    return false;
  else if (s->send)
    request = (struct request){.operation = s->send};
  if (request.collective)
    return lacks_ranks(m, stream, &request);
  if (!request.operation)
    return false;
  const struct operation *operation = operation_at(m, request.operation);
  if (operation->sends)
    return record->op != GRAPHLOG_MPI_RECEIVED && lacks_receive(m, operation);
  return record->op == GRAPHLOG_MPI_RECEIVED &&
         lacks_message(m, operation, source_of(m, s->of.process, operation->number, operand[1]), operand[2]);
}

struct message_matching *message_matching_new(uint32_t streams, bool causes, struct wait_states *states,
                                              const struct message_observer *observer)
{
  struct message_matching *m = xcalloc(1, sizeof *m);
  m->streams = xcalloc(streams, sizeof *m->streams);
  m->count = streams;
  m->causes = causes;
  m->states = states;
  if (observer)
    m->observer = *observer;
  object_pool_init(&m->operations, sizeof(struct operation), OBJECTS_MAX);
  object_pool_init(&m->channels, sizeof(struct channel), OBJECTS_MAX);
  object_pool_init(&m->inboxes, sizeof(struct inbox), OBJECTS_MAX);
  object_pool_init(&m->collectives, sizeof(struct collective), OBJECTS_MAX);
  object_pool_init(&m->requests, sizeof(struct request), OBJECTS_MAX);
  return m;
}

/* What is left in the queues has no partner. */
static void count_unmatched(struct message_matching *m)
{
  for (uint32_t i = 1; i < m->channels.used; i++) {
    const struct channel *channel = channel_at(m, i);
    for (uint32_t k = channel->used ? channel->receives.first : 0; k; k = operation_at(m, k)->next)
      ++*(operation_at(m, k)->complete ? &m->states->unsent : &m->states->unfinished);
  }
  for (uint32_t i = 1; i < m->inboxes.used; i++) {
    for (uint32_t k = inbox_at(m, i)->undecided.first; k; k = operation_at(m, k)->next)
      ++*(operation_at(m, k)->complete ? &m->states->unsent : &m->states->unfinished);
    for (uint32_t k = inbox_at(m, i)->unreceived.first; k; k = operation_at(m, k)->inbox_next)
      m->states->unreceived++;
  }
}

void message_matching_end(struct message_matching *m)
{
  count_unmatched(m);
  m->states->incomplete = m->collective_numbers.count - m->failed;
  for (uint32_t i = 1; i < m->collectives.used; i++)
    free(collective_at(m, i)->ranks);
  for (uint32_t i = 0; i < m->count; i++)
    history_release(&m->streams[i].history);
  object_pool_release(&m->operations);
  object_pool_release(&m->channels);
  object_pool_release(&m->inboxes);
  object_pool_release(&m->collectives);
  object_pool_release(&m->requests);
  hash_map_release(&m->channel_numbers);
  hash_map_release(&m->inbox_numbers);
  hash_map_release(&m->collective_numbers);
  hash_map_release(&m->request_numbers);
  hash_map_release(&m->joins);
  free(m->ended);
  free(m->ended_rows);
  job_communicators_release(&m->communicators);
  free(m->streams);
  free(m);
}
