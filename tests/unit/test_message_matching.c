/* Matching of messages and collective operations, and wait states, of jobs whose records are written here.  Node n of
 * process p is a place of its own; times are those of the job. */
#include "hpcprof-lite/messages/message_matching.h"
#include "common/mpi_functions.h"
#include "hpcprof-lite/messages/ideal_time.h"
#include "hpcprof-lite/messages/job_communicators.h"
#include "tests/support/unit.h"

enum { WORLD = 1, SELF = 2, COMPUTING = 100 };

static struct message_matching *matching;
static struct wait_states states;
static struct ideal_time ideal; /* of jobs of test_ideal_time() */

/* A record of a process, whose streams are numbered by processes; thread 1 is the stream behind those of all others. */
enum { STREAMS = 16 };

static void put_at(uint32_t stream, uint64_t begin_ns, uint64_t end_ns, enum graphlog_op op, const uint64_t *operand)
{
  struct graphlog_record record = {.op = op};
  memcpy(record.operand, operand, sizeof record.operand);
  struct message_stream of = {stream % STREAMS, stream / STREAMS + 1};
  if (ideal.ranks)
    ideal_time_take(&ideal, stream, &of, op, begin_ns);
  message_matching_take(matching, stream, &of, &record, begin_ns, end_ns);
}

#define PUT(rank, at, op, ...) put_at(rank, at, at, GRAPHLOG_##op, (const uint64_t[GRAPHLOG_OPERANDS_MAX]){__VA_ARGS__})

/* A rank computes in the place of node COMPUTING + node. */
static void run(uint32_t rank, uint64_t begin_ns, uint64_t end_ns, uint32_t node)
{
  PUT(rank, begin_ns, SAMPLE, COMPUTING + node, 1);
  put_at(rank, begin_ns, end_ns, GRAPHLOG_RUN, (const uint64_t[GRAPHLOG_OPERANDS_MAX]){0});
}

static bool causes = true;             /* of waits are wanted */
static struct message_observer noting; /* of jobs without `ideal` */

static void begin_job(uint32_t ranks)
{
  states = (struct wait_states){0};
  const struct message_observer observer = ideal.ranks ? ideal_time_observer(&ideal) : noting;
  matching = message_matching_new(2 * STREAMS, causes, &states, &observer);
  for (uint32_t i = 0; i < ranks; i++) {
    PUT(i, 0, MPI_COMMUNICATOR, WORLD, GRAPHLOG_MPI_WORLD, 0, 0, i);
    PUT(i, 0, MPI_RANKS, WORLD, 0, ranks, 1 << 1);
    PUT(i, 0, MPI_COMMUNICATOR, SELF, GRAPHLOG_MPI_SELF, 0, 0, 0);
    PUT(i, 0, MPI_RANKS, SELF, i << 1, 1, 1 << 1);
  }
}

static void call(uint32_t rank, uint64_t at, uint32_t node)
{
  PUT(rank, at, MPI_CALL, 1, node);
}

static void ret(uint32_t rank, uint64_t at)
{
  PUT(rank, at, MPI_RETURN, 0);
}

static void send(uint32_t rank, uint64_t at, uint32_t to, uint64_t tag, uint64_t request)
{
  PUT(rank, at, MPI_SEND, WORLD, to, tag, 8, request);
}

enum { ANY_SOURCE = 0, ANY_TAG = 0 };

/* source and tag: + 1 */
static void post(uint32_t rank, uint64_t at, uint32_t source, uint64_t tag, uint64_t request)
{
  PUT(rank, at, MPI_RECEIVE, WORLD, source, tag, request);
}

static void got(uint32_t rank, uint64_t at, uint64_t request, uint32_t source, uint64_t tag)
{
  PUT(rank, at, MPI_RECEIVED, request, source, tag, 8);
}

/* How long a state of that kind lasted, in calls at node `waiting` of a rank, because of a node of another rank; 0: any
 * node. */
static double waited(enum wait_state state, uint32_t rank, uint32_t waiting, uint32_t late, uint32_t delaying)
{
  double sum = 0;
  for (uint32_t i = 0; i < states.rows_count; i++) {
    const struct wait_row *row = &states.rows[i];
    const struct wait_place *at = &states.places[row->waiting], *by = &states.places[row->delaying];
    if (row->state == state && at->process == rank && at->node == waiting && by->process == late &&
        (!delaying || by->node == delaying))
      sum += row->ns;
  }
  return sum;
}

static double all_waits(void)
{
  double sum = 0;
  for (uint32_t i = 0; i < states.rows_count; i++)
    sum += states.rows[i].ns;
  return sum;
}

#define EQUAL(x, y) assert_int_equal((int64_t)(x), (int64_t)(y))

static void end_job(void)
{
  message_matching_end(matching);
}

static void release(void)
{
  wait_states_release(&states);
}

static void test_late_sender(void **state)
{
  (void)state;
  begin_job(2);
  call(1, 10, 5);
  post(1, 10, 0 + 1, 7 + 1, 0);
  run(0, 0, 40, 1);
  call(0, 40, 6);
  send(0, 40, 1, 7, 0);
  ret(0, 41);
  got(1, 45, 0, 0 + 1, 7 + 1);
  ret(1, 45);
  end_job();
  EQUAL(waited(WAIT_STATE_LATE_SENDER, 1, 5, 0, COMPUTING + 1), 30);
  EQUAL(all_waits(), 30);
  assert_int_equal(states.pairs_count, 1);
  assert_int_equal(states.pairs[0].messages, 1);
  assert_int_equal(states.pairs[0].bytes, 8);
  EQUAL(states.pairs[0].late_sender_ns, 30);
  release();
}

/* Neighbours exchange messages: what a rank sends is in a buffer, but complete only in the call that waits for what it
 * receives.  It does not wait for the late rank's receive, which is posted after its send. */
static void test_exchange(void **state)
{
  (void)state;
  for (int sent_first = 0; sent_first < 2; sent_first++) {
    begin_job(2);
    call(1, 10, 5);
    send(1, 10, 0, 7, 2);
    post(1, 10, 0 + 1, 7 + 1, 1);
    ret(1, 11);
    call(1, 12, 6);
    run(0, 0, 40, 1);
    call(0, 40, 7);
    send(0, 40, 1, 7, 3);
    ret(0, 41);
    call(0, 42, 8);
    post(0, 42, 1 + 1, 7 + 1, 4);
    if (sent_first)
      PUT(1, 45, MPI_COMPLETE, 2);
    got(1, 45, 1, 0 + 1, 7 + 1);
    if (!sent_first)
      PUT(1, 45, MPI_COMPLETE, 2);
    ret(1, 45);
    end_job();
    EQUAL(waited(WAIT_STATE_LATE_SENDER, 1, 6, 0, 0), 28);
    EQUAL(all_waits(), 28);
    release();
  }
}

/* A call whose operations are not logged: nothing is claimed. */
static void test_unseen(void **state)
{
  (void)state;
  begin_job(2);
  PUT(0, 10, MPI_CALL, MPI_FUNCTION_Win_fence, 1);
  ret(0, 11);
  call(0, 12, 1);
  ret(0, 13);
  end_job();
  EQUAL(states.unseen, 1);
  release();
}

/* What a thread did is not known without samples: only that it was before its call. */
static void test_no_samples(void **state)
{
  (void)state;
  begin_job(2);
  call(1, 10, 5);
  post(1, 10, 0 + 1, 7 + 1, 0);
  put_at(0, 0, 40, GRAPHLOG_RUN, (const uint64_t[GRAPHLOG_OPERANDS_MAX]){0});
  call(0, 40, 6);
  send(0, 40, 1, 7, 0);
  ret(0, 41);
  got(1, 45, 0, 0 + 1, 7 + 1);
  ret(1, 45);
  end_job();
  EQUAL(waited(WAIT_STATE_LATE_SENDER, 1, 5, 0, 6), 30);
  assert_int_equal(states.rows_count, 1);
  assert_true(states.places[states.rows[0].delaying].before);
  release();
}

/* Rank 0 computes for 30 and sends, then for 10; rank 1 computes for 5, receives, computes for 40; both meet at a
 * barrier, and compute for 1 and 2.  Transport and the calls themselves take no time: 30 + 40 + 2.  The longest one
 * computes for 47. */
static void test_ideal_time(void **state)
{
  (void)state;
  for (int other_thread = 0; other_thread < 2; other_thread++) {
    ideal_time_init(&ideal, 2, 2 * STREAMS);
    ideal.ranks[0].thread = ideal.ranks[1].thread = 1;
    begin_job(2);
    call(1, 5, 5);
    post(1, 5, 0 + 1, 7 + 1, 0);
    call(0, 30, 6);
    send(0, 30, 1, 7, 0);
    ret(0, 35);
    call(0, 45, 7);
    PUT(0, 45, MPI_COLLECTIVE, WORLD, GRAPHLOG_MPI_BARRIER, 0, 0, 0);
    got(1, 50, 0, 0 + 1, 7 + 1);
    ret(1, 50);
    if (other_thread) {
      call(STREAMS, 51, 1);
      ret(STREAMS, 52);
    }
    call(1, 90, 7);
    PUT(1, 90, MPI_COLLECTIVE, WORLD, GRAPHLOG_MPI_BARRIER, 0, 0, 0);
    ret(0, 95);
    ret(1, 96);
    ideal_time_end(&ideal, 0, 96);
    ideal_time_end(&ideal, 1, 98);
    end_job();
    EQUAL(ideal.longest_ns, 72);
    EQUAL(ideal.most_ns, 47);
    assert_int_equal(ideal.incomplete, other_thread);
    for (uint32_t i = 0; i < ideal.joins_count; i++)
      EQUAL(ideal.joins[i], 0);
    ideal_time_release(&ideal);
    release();
  }
}

/* Only a send that waits for its receive can wait. */
static void test_late_receiver(void **state)
{
  (void)state;
  for (int eager = 0; eager < 2; eager++) {
    begin_job(2);
    call(0, 10, 5);
    send(0, 10, 1, 7, 0);
    if (eager)
      ret(0, 12);
    run(1, 0, 40, 1);
    call(1, 40, 6);
    post(1, 40, 0 + 1, 7 + 1, 0);
    if (!eager)
      ret(0, 43);
    got(1, 44, 0, 0 + 1, 7 + 1);
    ret(1, 44);
    end_job();
    EQUAL(all_waits(), eager ? 0 : 30);
    EQUAL(waited(WAIT_STATE_LATE_RECEIVER, 0, 5, 1, COMPUTING + 1), eager ? 0 : 30);
    release();
  }
}

/* Rank 2 waits for 1, which waits for 0: rank 0 has delayed both. */
static void test_delays_are_followed_back(void **state)
{
  (void)state;
  begin_job(3);
  for (uint32_t i = 1; i < 3; i++) {
    call(i, 10, 5);
    post(i, 10, i, 1, 0);
  }
  run(0, 0, 50, 1);
  call(0, 50, 6);
  send(0, 50, 1, 0, 0);
  ret(0, 51);
  got(1, 52, 0, 0 + 1, 1);
  ret(1, 52);
  run(1, 52, 60, 2);
  call(1, 60, 6);
  send(1, 60, 2, 0, 0);
  ret(1, 61);
  got(2, 62, 0, 1 + 1, 1);
  ret(2, 62);
  end_job();
  EQUAL(waited(WAIT_STATE_LATE_SENDER, 1, 5, 0, COMPUTING + 1), 40);
  EQUAL(waited(WAIT_STATE_LATE_SENDER, 2, 5, 0, COMPUTING + 1), 40);
  EQUAL(waited(WAIT_STATE_LATE_SENDER, 2, 5, 1, COMPUTING + 2), 8);
  EQUAL(waited(WAIT_STATE_LATE_SENDER, 2, 5, 1, 5), 2); /* what its receive took after the send had begun */
  EQUAL(all_waits(), 90);
  release();
}

static void collective(uint32_t rank, uint64_t at, enum graphlog_mpi_collective kind, uint64_t root)
{
  run(rank, at - 5, at, rank);
  call(rank, at, 5);
  PUT(rank, at, MPI_COLLECTIVE, WORLD, kind, root, 0, 0);
}

/* Ranks 0, 1, 2 arrive at 10, 20, 40; the root is rank 1. */
static void collective_waits(enum graphlog_mpi_collective kind, uint64_t root, enum wait_state state, double of_0,
                             double of_1, double of_2)
{
  begin_job(3);
  collective(0, 10, kind, root);
  collective(1, 20, kind, root);
  collective(2, 40, kind, root);
  for (uint32_t i = 0; i < 3; i++)
    ret(i, 41 + i);
  end_job();
  double sums[3] = {0};
  for (uint32_t i = 0; i < states.rows_count; i++) {
    assert_int_equal(states.rows[i].state, state);
    sums[states.places[states.rows[i].waiting].process] += states.rows[i].ns;
  }
  EQUAL(sums[0], of_0);
  EQUAL(sums[1], of_1);
  EQUAL(sums[2], of_2);
  assert_int_equal(states.collectives, 1);
  assert_int_equal(states.incomplete, 0);
  release();
}

static void test_collective_operations(void **state)
{
  (void)state;
  collective_waits(GRAPHLOG_MPI_BARRIER, 0, WAIT_STATE_BARRIER, 30, 20, 0);
  collective_waits(GRAPHLOG_MPI_ALL_TO_ALL, 0, WAIT_STATE_ALL_TO_ALL, 30, 20, 0);
  collective_waits(GRAPHLOG_MPI_FROM_ROOT, 1 + 1, WAIT_STATE_LATE_BROADCAST, 10, 0, 0);
  collective_waits(GRAPHLOG_MPI_TO_ROOT, 1 + 1, WAIT_STATE_EARLY_REDUCE, 0, 20, 0);
  collective_waits(GRAPHLOG_MPI_PREFIX, 0, WAIT_STATE_EARLY_SCAN, 0, 0, 0);
}

/* The rank that is late for a barrier is charged with what all others have waited. */
static void test_late_rank(void **state)
{
  (void)state;
  begin_job(4);
  for (uint32_t i = 0; i < 3; i++) {
    call(i, 10, 5);
    PUT(i, 10, MPI_COLLECTIVE, WORLD, GRAPHLOG_MPI_BARRIER, 0, 0, 0);
  }
  run(3, 0, 50, 9);
  call(3, 50, 5);
  PUT(3, 50, MPI_COLLECTIVE, WORLD, GRAPHLOG_MPI_BARRIER, 0, 0, 0);
  for (uint32_t i = 0; i < 4; i++)
    ret(i, 51);
  end_job();
  for (uint32_t i = 0; i < 3; i++)
    EQUAL(waited(WAIT_STATE_BARRIER, i, 5, 3, COMPUTING + 9), 40);
  EQUAL(all_waits(), 120);
  release();
}

/* A receive from any source was posted first; the one behind it is complete first, but has got the second message. */
static void test_receives_from_any_source(void **state)
{
  (void)state;
  begin_job(2);
  call(0, 1, 5);
  post(0, 1, ANY_SOURCE, ANY_TAG, 1);
  ret(0, 2);
  call(0, 3, 5);
  post(0, 3, 1 + 1, 4 + 1, 2);
  ret(0, 4);
  call(0, 10, 6);
  call(1, 20, 7);
  send(1, 20, 0, 4, 0);
  ret(1, 21);
  call(1, 50, 8);
  send(1, 50, 0, 4, 0);
  ret(1, 51);
  got(0, 52, 2, 1 + 1, 4 + 1);
  ret(0, 52);
  call(0, 60, 9);
  got(0, 61, 1, 1 + 1, 4 + 1);
  ret(0, 61);
  end_job();
  EQUAL(all_waits(), 40);
  EQUAL(waited(WAIT_STATE_LATE_SENDER, 0, 6, 1, 0), 40);
  assert_int_equal(states.unreceived + states.unsent + states.unfinished + states.ambiguous, 0);
  release();
}

static void test_cancelled_receive(void **state)
{
  (void)state;
  begin_job(2);
  call(0, 1, 5);
  post(0, 1, 1 + 1, 1, 1);
  ret(0, 2);
  call(1, 3, 5);
  send(1, 3, 0, 0, 0); /* it seems to be for the receive that is cancelled, */
  ret(1, 4);
  call(0, 5, 5);
  PUT(0, 6, MPI_DROPPED, 1);
  ret(0, 6);
  call(0, 7, 5);
  post(0, 7, 1 + 1, 1, 0); /* but is for this one */
  got(0, 8, 0, 1 + 1, 1);
  ret(0, 8);
  end_job();
  assert_int_equal(states.cancelled, 1);
  assert_int_equal(states.unreceived + states.unsent + states.unfinished + states.ambiguous, 0);
  release();
}

/* Rank 0 waits for rank 1, although rank 2 has sent before. */
static void test_wrong_order(void **state)
{
  (void)state;
  for (int posted = 0; posted < 2; posted++) {
    begin_job(3);
    if (posted) { /* it can do nothing better */
      call(0, 1, 5);
      post(0, 1, 2 + 1, 1, 1);
      ret(0, 1);
    }
    call(2, 5, 5);
    send(2, 5, 0, 0, 0);
    ret(2, 6);
    call(0, 10, 5);
    post(0, 10, 1 + 1, 1, 0);
    call(1, 30, 5);
    send(1, 30, 0, 0, 0);
    ret(1, 31);
    got(0, 32, 0, 1 + 1, 1);
    ret(0, 32);
    call(0, 40, 5);
    if (!posted)
      post(0, 40, 2 + 1, 1, 1);
    got(0, 41, 1, 2 + 1, 1);
    ret(0, 41);
    end_job();
    EQUAL(waited(posted ? WAIT_STATE_LATE_SENDER : WAIT_STATE_WRONG_ORDER, 0, 5, 1, 0), 20);
    EQUAL(all_waits(), 20);
    release();
  }
}

/* Ranks number their communicators differently; colours have the same parent and ordinal. */
static void test_communicators(void **state)
{
  (void)state;
  begin_job(4);
  for (uint32_t i = 0; i < 4; i++) {
    uint64_t number = 3 + i;
    PUT(i, 1, MPI_COMMUNICATOR, number, GRAPHLOG_MPI_CREATED, WORLD, 1, i / 2);
    PUT(i, 1, MPI_RANKS, number, (i % 2) << 1, 2, 2 << 1);
  }
  for (uint32_t i = 0; i < 4; i++) {
    call(i, 10 * (i + 1), 5);
    PUT(i, 10 * (i + 1), MPI_COLLECTIVE, 3 + i, GRAPHLOG_MPI_BARRIER, 0, 0, 0);
  }
  for (uint32_t i = 0; i < 4; i++)
    ret(i, 50);
  call(2, 60, 6); /* rank 1 of the even ones sends to rank 0 of these */
  PUT(2, 60, MPI_SEND, 3 + 2, 0, 0, 16, 0);
  ret(2, 61);
  call(0, 62, 6);
  PUT(0, 62, MPI_RECEIVE, 3, 1 + 1, 1, 0);
  PUT(0, 63, MPI_RECEIVED, 0, 1 + 1, 1, 16);
  ret(0, 63);
  end_job();
  EQUAL(waited(WAIT_STATE_BARRIER, 0, 5, 2, 0), 20);
  EQUAL(waited(WAIT_STATE_BARRIER, 1, 5, 3, 0), 20);
  EQUAL(all_waits(), 40);
  assert_int_equal(states.collectives, 2);
  assert_int_equal(states.pairs_count, 1);
  assert_int_equal(states.pairs[0].from, 2);
  assert_int_equal(states.pairs[0].to, 0);
  assert_int_equal(states.unreceived + states.unsent + states.unknown, 0);
  release();
}

/* Both groups of a joined communicator name its ranks from their side. */
static void test_two_groups(void **state)
{
  (void)state;
  begin_job(2);
  for (uint32_t i = 0; i < 2; i++) {
    PUT(i, 1, MPI_COMMUNICATOR, 3, GRAPHLOG_MPI_JOINED, 0, 9, 0);
    PUT(i, 1, MPI_RANKS, 3, i << 1, 1, 2);
    PUT(i, 1, MPI_RANKS, 3, (1 - i) << 1 | 1, 1, 2);
  }
  call(1, 10, 5);
  PUT(1, 10, MPI_SEND, 3, 0, 0, 16, 0);
  ret(1, 11);
  call(0, 12, 5);
  PUT(0, 12, MPI_RECEIVE, 3, 0 + 1, 1, 0);
  PUT(0, 13, MPI_RECEIVED, 0, 0 + 1, 1, 16);
  ret(0, 13);
  call(0, 14, 5); /* waits for the other group */
  PUT(0, 14, MPI_COLLECTIVE, 3, GRAPHLOG_MPI_BARRIER, 0, 0, 0);
  call(1, 20, 6);
  PUT(1, 20, MPI_COLLECTIVE, 3, GRAPHLOG_MPI_BARRIER, 0, 0, 0);
  ret(1, 21);
  ret(0, 22);
  call(0, 24, 5); /* in a log of an earlier version: which rank is the root is not known */
  PUT(0, 24, MPI_COLLECTIVE, 3, GRAPHLOG_MPI_FROM_ROOT, 0, 0, 0);
  ret(0, 25);
  end_job();
  EQUAL(waited(WAIT_STATE_BARRIER, 0, 5, 1, 0), 6);
  EQUAL(all_waits(), 6);
  assert_int_equal(states.incomplete, 0);
  assert_int_equal(states.pairs[0].from, 1);
  assert_int_equal(states.pairs[0].to, 0);
  assert_int_equal(states.unreceived + states.unsent, 0);
  assert_int_equal(states.unknown, 1);
  release();
}

/* Groups of ranks 0 and 1, and of rank 2. */
static void begin_groups(void)
{
  begin_job(3);
  for (uint32_t i = 0; i < 3; i++) {
    PUT(i, 1, MPI_COMMUNICATOR, 3, GRAPHLOG_MPI_JOINED, 0, 9, i < 2 ? i : 0);
    PUT(i, 1, MPI_RANKS, 3, 0 << 1 | (i == 2), 2, 1 << 1);
    PUT(i, 1, MPI_RANKS, 3, 2 << 1 | (i < 2), 1, 1 << 1);
  }
}

/* Between groups, only the group without the root sends to it, or receives from it.  Rank i arrives at at[i], and has
 * waited for so long; the root is that rank. */
static void waits_between_groups(enum graphlog_mpi_collective kind, uint32_t root, const uint64_t at[3],
                                 const double waits[3])
{
  enum wait_state state = kind == GRAPHLOG_MPI_FROM_ROOT ? WAIT_STATE_LATE_BROADCAST : WAIT_STATE_EARLY_REDUCE;
  begin_groups();
  for (uint64_t now = 10; now < 50; now += 10)
    for (uint32_t i = 0; i < 3; i++) {
      uint64_t own = (i < 2) == (root < 2) ? GRAPHLOG_MPI_ROOT_THIS_GROUP : (root < 2 ? root : 0) + 1;
      if (at[i] != now)
        continue;
      run(i, now - 5, now, i);
      call(i, now, 5);
      PUT(i, now, MPI_COLLECTIVE, 3, kind, i == root ? GRAPHLOG_MPI_ROOT_SELF : own, 0, 0);
    }
  for (uint32_t i = 0; i < 3; i++)
    ret(i, 50 + i);
  end_job();
  double sum = 0;
  for (uint32_t i = 0; i < 3; i++) {
    double waited_there = 0;
    for (uint32_t late = 0; late < 3; late++)
      waited_there += waited(state, i, 5, late, 0);
    EQUAL(waited_there, waits[i]);
    sum += waits[i];
  }
  EQUAL(all_waits(), sum);
  assert_int_equal(states.unknown + states.incomplete + states.unseen, 0);
  release();
}

static void test_roots_between_groups(void **state)
{
  (void)state;
  waits_between_groups(GRAPHLOG_MPI_FROM_ROOT, 0, (const uint64_t[]){40, 10, 20}, (const double[]){0, 0, 20});
  waits_between_groups(GRAPHLOG_MPI_FROM_ROOT, 1, (const uint64_t[]){40, 30, 20}, (const double[]){0, 0, 10});
  waits_between_groups(GRAPHLOG_MPI_FROM_ROOT, 2, (const uint64_t[]){10, 20, 40}, (const double[]){30, 20, 0});
  waits_between_groups(GRAPHLOG_MPI_TO_ROOT, 2, (const uint64_t[]){20, 40, 10}, (const double[]){0, 0, 30});
  waits_between_groups(GRAPHLOG_MPI_TO_ROOT, 0, (const uint64_t[]){10, 40, 20}, (const double[]){10, 0, 0});
}

/* Groups of ranks 0 and 1, and of ranks 2 and 3, are joined by ranks 1 and 2: all wait for the last one. */
static void join_groups(uint32_t last, bool measured)
{
  begin_job(4);
  for (uint32_t i = 0; i < 4; i++) {
    PUT(i, 1, MPI_COMMUNICATOR, 3, GRAPHLOG_MPI_CREATED, WORLD, 1, i % 2);
    PUT(i, 1, MPI_RANKS, 3, (i / 2 * 2) << 1, 2, 1 << 1);
  }
  for (uint32_t turn = 1; turn <= 4; turn++) {
    uint32_t i = (last + turn) % 4;
    if (!measured && i > 1)
      continue;
    run(i, 10 * turn - 5, 10 * turn, i);
    call(i, 10 * turn, 5);
    PUT(i, 10 * turn, MPI_COLLECTIVE, 3, GRAPHLOG_MPI_JOIN, i < 2 ? 1 + 1 : 0 + 1, 0, 0);
    if (i == 1 || i == 2)
      PUT(i, 10 * turn, MPI_LEADER, WORLD, 3 - i, 7);
  }
  for (uint32_t i = 0; i < (measured ? 4 : 2); i++)
    ret(i, 50 + i);
  end_job();
}

static void test_joined_groups(void **state)
{
  (void)state;
  for (uint32_t last = 0; last < 4; last++) {
    join_groups(last, true);
    for (uint32_t turn = 1; turn < 4; turn++)
      EQUAL(waited(WAIT_STATE_ALL_TO_ALL, (last + turn) % 4, 5, last, 0), 40 - 10 * turn);
    EQUAL(all_waits(), 30 + 20 + 10);
    assert_int_equal(states.collectives, 1);
    assert_int_equal(states.unknown + states.incomplete + states.unseen + states.ambiguous, 0);
    release();
  }
  join_groups(0, false);
  EQUAL(all_waits(), 0);
  assert_int_equal(states.incomplete, 1);
  release();
}

/* A leader names two others, as only a damaged log has it: the first one counts, and no operation ends twice. */
static void test_leader_of_two(void **state)
{
  (void)state;
  begin_job(3);
  for (uint32_t i = 0; i < 3; i++) {
    call(i, 10, 5);
    PUT(i, 10, MPI_COLLECTIVE, SELF, GRAPHLOG_MPI_JOIN, 0 + 1, 0, 0);
  }
  PUT(0, 10, MPI_LEADER, WORLD, 1, 7);
  PUT(0, 10, MPI_LEADER, WORLD, 2, 7);
  PUT(1, 10, MPI_LEADER, WORLD, 0, 7);
  PUT(2, 10, MPI_LEADER, WORLD, 0, 7);
  for (uint32_t i = 0; i < 3; i++)
    ret(i, 20);
  end_job();
  assert_int_equal(states.collectives, 2);
  assert_int_equal(states.incomplete, 1);
  release();
}

static uint64_t highest;

static void note_number(void *context, uint32_t stream, uint64_t number)
{
  (void)context;
  (void)stream;
  highest = highest > number ? highest : number;
}

/* Numbers for each rank are used again, too. */
static void test_numbers_of_ranks(void **state)
{
  (void)state;
  enum { RANKS = 4, TURNS = 100 };
  noting.offers = note_number;
  highest = 0;
  begin_job(RANKS);
  for (uint32_t turn = 1; turn <= TURNS; turn++) {
    for (uint32_t i = 0; i < RANKS; i++)
      collective(i, 10 * turn, GRAPHLOG_MPI_PREFIX, 0);
    for (uint32_t i = 0; i < RANKS; i++)
      ret(i, 10 * turn + 2);
  }
  end_job();
  noting = (struct message_observer){0};
  assert_in_range(highest, RANKS, 2 * RANKS);
  assert_int_equal(states.incomplete, 0);
  release();
}

/* Rank 0 leaves an operation on a file before or after the last rank, 2, begins it: then none has waited, or all have.
 */
static void test_operations_on_files(void **state)
{
  (void)state;
  for (int early = 0; early < 2; early++) {
    begin_job(3);
    for (uint32_t i = 0; i < 2; i++)
      collective(i, 10 + 10 * i, GRAPHLOG_MPI_FILE, 0);
    if (early)
      ret(0, 30);
    collective(2, 40, GRAPHLOG_MPI_FILE, 0);
    for (uint32_t i = (uint32_t)early; i < 3; i++)
      ret(i, 50);
    end_job();
    EQUAL(waited(WAIT_STATE_ALL_TO_ALL, 0, 5, 2, 0), early ? 0 : 30);
    EQUAL(all_waits(), early ? 0 : 30 + 20);
    assert_int_equal(states.incomplete + states.unknown, 0);
    release();
  }
}

/* A collective operation that has failed is counted once: in all ranks, or in one. */
static void test_failed_collective(void **state)
{
  (void)state;
  for (uint32_t fails = 1; fails <= 3; fails += 2) {
    begin_job(3);
    for (uint32_t i = 0; i < 3; i++) {
      call(i, 10, 5);
      PUT(i, 10, MPI_COLLECTIVE, WORLD, GRAPHLOG_MPI_BARRIER, 0, 0, 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
      if (i < fails)
        PUT(i, 20, MPI_DROPPED, 0);
      ret(i, 20);
    }
    end_job();
    assert_int_equal(states.cancelled, 1);
    assert_int_equal(states.incomplete + states.ambiguous, 0);
    release();
  }
}

/* One that is over cannot fail, though a damaged log says so. */
static void test_failed_after_the_end(void **state)
{
  (void)state;
  begin_job(1);
  collective(0, 10, GRAPHLOG_MPI_BARRIER, 0);
  ret(0, 20);
  PUT(0, 20, MPI_DROPPED, 0);
  for (uint32_t i = 0; i < 2; i++) {
    PUT(0, 30, MPI_CALL, 1, 5);
    PUT(0, 30, MPI_COLLECTIVE, i ? SELF : WORLD, GRAPHLOG_MPI_BARRIER, 0, 0, 1 + i);
    ret(0, 30);
  }
  end_job();
  assert_int_equal(states.cancelled, 0);
  assert_int_equal(states.incomplete, 2);
  release();
}

/* Each rank waits for the next one only: 0 for 1, 1 for 2; 2 for none. */
static void test_neighbours(void **state)
{
  (void)state;
  begin_job(3);
  for (uint32_t i = 0; i < 3; i++) {
    PUT(i, 1, MPI_COMMUNICATOR, 3, GRAPHLOG_MPI_CREATED, WORLD, 1, i);
    PUT(i, 1, MPI_RANKS, 3, 0, 3, 1 << 1);
    if (i < 2)
      PUT(i, 1, MPI_SOURCES, 3, (i + 1) << 1, 1, 1 << 1);
  }
  for (uint32_t i = 0; i < 3; i++) {
    call(i, 10 + 10 * i, 5);
    PUT(i, 10 + 10 * i, MPI_COLLECTIVE, 3, GRAPHLOG_MPI_NEIGHBOURS, 0, 0, 0);
    if (i)
      ret(i - 1, 12 + 10 * i);
  }
  ret(2, 31);
  end_job();
  EQUAL(waited(WAIT_STATE_NEIGHBOURS, 0, 5, 1, 0), 10);
  EQUAL(waited(WAIT_STATE_NEIGHBOURS, 1, 5, 2, 0), 10);
  EQUAL(all_waits(), 20);
  assert_int_equal(states.collectives, 1);
  assert_int_equal(states.incomplete + states.unknown, 0);
  release();
}

/* A synchronous send whose receive is not known when it ends: of any source, the only one, or one of two. */
static void test_synchronous(void **state)
{
  (void)state;
  for (uint32_t receives = 1; receives <= 2; receives++) {
    begin_job(2);
    call(1, 5, 5);
    for (uint32_t i = 0; i < receives; i++)
      post(1, 5, ANY_SOURCE, ANY_TAG, i + 1);
    ret(1, 6);
    call(0, 10, 6);
    PUT(0, 10, MPI_SYNCHRONOUS_SEND, WORLD, 1, 0, 8, 0);
    ret(0, 12);
    call(1, 20, 7);
    got(1, 21, 1, 0 + 1, 1);
    ret(1, 21);
    end_job();
    assert_int_equal(states.ambiguous, receives - 1);
    assert_int_equal(states.unreceived + states.unsent, 0);
    assert_int_equal(states.unfinished, receives - 1);
    release();
  }
}

/* Messages from a rank to one that has so many undecided receives of another tag, which have been posted before. */
static void beside_undecided(uint32_t undecided, uint32_t messages)
{
  begin_job(2);
  for (uint32_t i = 0; i < undecided; i++) {
    call(1, 5, 5);
    post(1, 5, ANY_SOURCE, 9 + 1, i + 1);
    ret(1, 5);
  }
  for (uint32_t i = 0; i < messages; i++) {
    call(0, 10, 6);
    send(0, 10, 1, 7, 0);
    ret(0, 10);
    call(1, 10, 7);
    post(1, 10, 0 + 1, 7 + 1, 0);
    got(1, 10, 0, 0 + 1, 7 + 1);
    ret(1, 10);
  }
  end_job();
}

/* What a thread has done before its first call lasts until that, whatever fragments were left out. */
static void test_before_the_first_call(void **state)
{
  (void)state;
  begin_job(2);
  run(0, 0, 10, 1);
  call(1, 5, 5);
  post(1, 5, 0 + 1, 7 + 1, 0);
  call(0, 40, 6);
  send(0, 40, 1, 7, 0);
  ret(0, 41);
  got(1, 45, 0, 0 + 1, 7 + 1);
  ret(1, 45);
  end_job();
  EQUAL(waited(WAIT_STATE_LATE_SENDER, 1, 5, 0, COMPUTING + 1), 35);
  EQUAL(all_waits(), 35);
  release();
}

/* What a thread did between two calls in one place is not known: it is no part of the calls. */
static void test_calls_of_one_place(void **state)
{
  (void)state;
  begin_job(2);
  call(1, 5, 5);
  post(1, 5, 0 + 1, 7 + 1, 0);
  call(0, 10, 9);
  ret(0, 12);
  call(0, 12, 9);
  ret(0, 15);
  call(0, 30, 9);
  ret(0, 32);
  call(0, 40, 6);
  send(0, 40, 1, 7, 0);
  ret(0, 41);
  got(1, 45, 0, 0 + 1, 7 + 1);
  ret(1, 45);
  end_job();
  EQUAL(waited(WAIT_STATE_LATE_SENDER, 1, 5, 0, 9), 7);
  EQUAL(waited(WAIT_STATE_LATE_SENDER, 1, 5, 0, 6), 28);
  release();
}

/* How long ranks wait for each other is known without what delayed them. */
static void test_waits_without_causes(void **state)
{
  (void)state;
  causes = false;
  begin_job(2);
  call(1, 10, 5);
  post(1, 10, 0 + 1, 7 + 1, 0);
  call(0, 40, 6);
  send(0, 40, 1, 7, 0);
  ret(0, 41);
  got(1, 45, 0, 0 + 1, 7 + 1);
  ret(1, 45);
  end_job();
  causes = true;
  assert_int_equal(states.pairs_count, 1);
  EQUAL(states.pairs[0].late_sender_ns, 30);
  EQUAL(states.pairs[0].late_senders, 1);
  assert_int_equal(states.rows_count + states.places_count, 0);
  release();
}

/* A message with that tag, sent and received from a time on. */
static void exchange(uint64_t at, uint64_t tag)
{
  call(0, at, 6);
  send(0, at, 1, tag, 0);
  ret(0, at + 1);
  call(1, at + 2, 5);
  post(1, at + 2, 0 + 1, tag + 1, 0);
  got(1, at + 3, 0, 0 + 1, tag + 1);
  ret(1, at + 3);
}

/* Of many tags, those of messages under way are kept, also if they were used before.  Numbers of messages are used
 * again.
 */
static void test_many_tags(void **state)
{
  (void)state;
  enum { TAGS = 140000, UNDER_WAY = TAGS };
  ideal_time_init(&ideal, 2, 2 * STREAMS);
  begin_job(2);
  exchange(5, UNDER_WAY);
  call(0, 10, 6);
  send(0, 10, 1, UNDER_WAY, 0);
  ret(0, 11);
  for (uint64_t i = 0; i < TAGS; i++)
    exchange(20 + 4 * i, i);
  call(1, 20 + 4 * TAGS, 5);
  post(1, 20 + 4 * TAGS, 0 + 1, UNDER_WAY + 1, 0);
  got(1, 21 + 4 * TAGS, 0, 0 + 1, UNDER_WAY + 1);
  ret(1, 21 + 4 * TAGS);
  exchange(30 + 4 * TAGS, 0);
  end_job();
  EQUAL(states.pairs[0].messages, TAGS + 3);
  assert_in_range(ideal.joins_count, 2, 8);
  ideal_time_release(&ideal);
  assert_int_equal(states.unreceived + states.unsent + states.unfinished + states.ambiguous, 0);
  release();
}

/* The time that undecided receives take is bounded for each call, however many messages there are. */
static void test_undecided(void **state)
{
  (void)state;
  beside_undecided(1000, 275000);
  assert_int_equal(states.unfinished, 1000);
  assert_int_equal(states.unreceived + states.unsent + states.ambiguous, 0);
  release();
  beside_undecided(60000, 2);
  assert_int_equal(states.unfinished, 60000);
  assert_int_equal(states.unreceived, 2); /* not searched for any more */
  release();
}

static void test_requests(void **state)
{
  (void)state;
  begin_job(2);
  call(0, 1, 5);
  post(0, 1, 1 + 1, 1, 1);
  ret(0, 2);
  call(0, 3, 5);
  post(0, 3, 1 + 1, 2, 2);
  ret(0, 4);
  call(0, 10, 6); /* waits for both, for the second one longer */
  call(1, 20, 7);
  send(1, 20, 0, 0, 1);
  ret(1, 21);
  call(1, 35, 8);
  send(1, 35, 0, 1, 2);
  ret(1, 36);
  got(0, 40, 1, 1 + 1, 1);
  got(0, 40, 2, 1 + 1, 2);
  ret(0, 40);
  call(1, 41, 9);
  PUT(1, 42, MPI_COMPLETE, 1);
  PUT(1, 42, MPI_COMPLETE, 2);
  ret(1, 42);
  end_job();
  EQUAL(waited(WAIT_STATE_LATE_SENDER, 0, 6, 1, 0), 25);
  EQUAL(all_waits(), 25);
  assert_int_equal(states.unreceived + states.unsent + states.unfinished, 0);
  release();
}

/* What has no partner is counted, and waits for nothing. */
static void test_what_is_not_matched(void **state)
{
  (void)state;
  begin_job(3);
  call(0, 1, 5);
  send(0, 1, 1, 0, 0); /* never received */
  ret(0, 2);
  call(1, 1, 5);
  post(1, 1, 2 + 1, 1, 0); /* its sender was not measured */
  got(1, 9, 0, 2 + 1, 1);
  ret(1, 9);
  call(1, 10, 5);
  post(1, 10, 2 + 1, 1, 0); /* its process was killed */
  call(0, 10, 5);
  PUT(0, 10, MPI_COLLECTIVE, WORLD, GRAPHLOG_MPI_BARRIER, 0, 0, 0);
  ret(0, 20);
  call(0, 21, 5);
  PUT(0, 21, MPI_SEND, 99, 1, 0, 8, 0); /* a communicator that was not logged */
  ret(0, 22);
  end_job();
  assert_int_equal(states.unreceived, 1);
  assert_int_equal(states.unsent, 1);
  assert_int_equal(states.unfinished, 1);
  assert_int_equal(states.incomplete, 1);
  assert_int_equal(states.unknown, 1);
  EQUAL(all_waits(), 0);
  release();
}

/* Two threads send with the same tag at the same time. */
static void test_threads_at_once(void **state)
{
  (void)state;
  begin_job(2);
  call(0, 10, 5);
  send(0, 10, 1, 0, 0);
  call(0 + STREAMS, 11, 5);
  send(0 + STREAMS, 11, 1, 0, 0);
  for (uint64_t i = 0; i < 2; i++) {
    call(1, 20 + i, 6);
    post(1, 20 + i, 0 + 1, 1, 0);
    got(1, 20 + i, 0, 0 + 1, 1);
    ret(1, 20 + i);
  }
  ret(0, 30);
  ret(0 + STREAMS, 30);
  uint64_t at_once = states.ambiguous;
  exchange(40, 0);
  end_job();
  assert_true(at_once && states.ambiguous == at_once);
  EQUAL(all_waits(), 0);
  release();
}

static bool awaits(uint32_t rank, enum graphlog_op op, uint64_t request, uint64_t source, uint64_t tag)
{
  struct graphlog_record record = {.op = op, .operand = {request, source, tag, 8}};
  return message_matching_awaits(matching, rank, &record);
}

/* Records of a rank whose clock is early: what it completes needs what others have not done. */
static void test_messages_that_are_awaited(void **state)
{
  (void)state;
  begin_job(3);
  call(1, 10, 5);
  post(1, 10, 0 + 1, 7 + 1, 0);
  assert_true(awaits(1, GRAPHLOG_MPI_RECEIVED, 0, 0 + 1, 7 + 1));
  assert_false(awaits(1, GRAPHLOG_MPI_RETURN, 0, 0, 0));
  call(0, 20, 6);
  send(0, 20, 1, 7, 0);
  ret(0, 21);
  assert_false(awaits(1, GRAPHLOG_MPI_RECEIVED, 0, 0 + 1, 7 + 1));
  got(1, 22, 0, 0 + 1, 7 + 1);
  ret(1, 22);
  call(1, 30, 5); /* which of them gets a message is known when it has got it */
  post(1, 30, ANY_SOURCE, ANY_TAG, 1);
  post(1, 30, ANY_SOURCE, ANY_TAG, 2);
  assert_true(awaits(1, GRAPHLOG_MPI_RECEIVED, 1, 0 + 1, 7 + 1));
  call(0, 40, 6);
  send(0, 40, 1, 7, 0);
  ret(0, 41);
  assert_false(awaits(1, GRAPHLOG_MPI_RECEIVED, 1, 0 + 1, 7 + 1));
  assert_false(awaits(1, GRAPHLOG_MPI_RECEIVED, 2, 0 + 1, 7 + 1));
  assert_true(awaits(1, GRAPHLOG_MPI_RECEIVED, 1, 2 + 1, 7 + 1)); /* from another rank */
  call(0, 50, 6);
  send(0, 50, 1, 7, 0);
  ret(0, 51);
  assert_false(awaits(1, GRAPHLOG_MPI_RECEIVED, 2, 0 + 1, 7 + 1));
  assert_false(awaits(1, GRAPHLOG_MPI_RECEIVED, 3, 0 + 1, 7 + 1)); /* a request that does not exist */
  assert_false(awaits(2, GRAPHLOG_MPI_RETURN, 0, 0, 0));
  got(1, 60, 2, 0 + 1, 7 + 1);
  got(1, 60, 1, 0 + 1, 7 + 1);
  ret(1, 60);
  end_job();
  release();
}

/* Bit r of waiting[n]: rank r waits when so many ranks have begun; they begin in the order 0, 1, 2. */
static void expect_awaited(enum graphlog_mpi_collective kind, uint64_t root, const unsigned waiting[4])
{
  begin_job(3);
  for (uint32_t begun = 1; begun <= 3; begun++) {
    call(begun - 1, 10 * begun, 5);
    PUT(begun - 1, 10 * begun, MPI_COLLECTIVE, WORLD, kind, root, 0, begun == 1 ? 9 : 0);
    for (uint32_t rank = 0; rank < begun; rank++) {
      bool by_request = !rank && awaits(0, GRAPHLOG_MPI_COMPLETE, 9, 0, 0);
      assert_int_equal(rank ? awaits(rank, GRAPHLOG_MPI_RETURN, 0, 0, 0) : by_request, waiting[begun] >> rank & 1);
    }
  }
  for (uint32_t rank = 0; rank < 3; rank++)
    ret(rank, 50);
  end_job();
  release();
}

static void test_ranks_that_are_awaited(void **state)
{
  (void)state;
  expect_awaited(GRAPHLOG_MPI_BARRIER, 0, (const unsigned[]){0, 1, 3, 0});
  expect_awaited(GRAPHLOG_MPI_ALL_TO_ALL, 0, (const unsigned[]){0, 1, 3, 0});
  expect_awaited(GRAPHLOG_MPI_FROM_ROOT, 2 + 1, (const unsigned[]){0, 1, 3, 0});
  expect_awaited(GRAPHLOG_MPI_FROM_ROOT, 0 + 1, (const unsigned[]){0, 0, 0, 0});
  expect_awaited(GRAPHLOG_MPI_TO_ROOT, 1 + 1, (const unsigned[]){0, 0, 2, 0});
  expect_awaited(GRAPHLOG_MPI_PREFIX, 0, (const unsigned[]){0, 0, 0, 0});
}

static void test_neighbours_that_are_awaited(void **state)
{
  (void)state;
  begin_job(3);
  for (uint32_t i = 0; i < 3; i++) { /* 0 waits for 2, 1 for 0 and itself, 2 for none */
    PUT(i, 1, MPI_COMMUNICATOR, 3, GRAPHLOG_MPI_CREATED, WORLD, 1, i);
    PUT(i, 1, MPI_RANKS, 3, 0, 3, 1 << 1);
  }
  PUT(0, 1, MPI_SOURCES, 3, 2 << 1, 1, 1 << 1);
  PUT(1, 1, MPI_SOURCES, 3, 0 << 1, 2, 1 << 1);
  static const bool waits[3][3] = {{true}, {true, false}, {false, false, false}};
  for (uint32_t begun = 0; begun < 3; begun++) {
    call(begun, 10 + begun, 5);
    PUT(begun, 10 + begun, MPI_COLLECTIVE, 3, GRAPHLOG_MPI_NEIGHBOURS, 0, 0, 0);
    for (uint32_t rank = 0; rank <= begun; rank++)
      assert_int_equal(awaits(rank, GRAPHLOG_MPI_RETURN, 0, 0, 0), waits[begun][rank]);
  }
  for (uint32_t rank = 0; rank < 3; rank++)
    ret(rank, 50);
  end_job();
  release();
}

/* Between two groups, each waits for the other one. */
static void test_groups_that_are_awaited(void **state)
{
  (void)state;
  begin_groups();
  static const bool waits[3][3] = {{true}, {true, true}, {false, false, false}};
  for (uint32_t begun = 0; begun < 3; begun++) {
    call(begun, 10 + begun, 5);
    PUT(begun, 10 + begun, MPI_COLLECTIVE, 3, GRAPHLOG_MPI_BARRIER, 0, 0, 0);
    for (uint32_t rank = 0; rank <= begun; rank++)
      assert_int_equal(awaits(rank, GRAPHLOG_MPI_RETURN, 0, 0, 0), waits[begun][rank]);
  }
  for (uint32_t rank = 0; rank < 3; rank++)
    ret(rank, 50);
  end_job();
  assert_int_equal(states.unknown + states.incomplete, 0);
  release();
}

/* Of an operation with a root between two groups, and of joined groups, likewise; for those on files, none has to wait.
 */
static void test_others_that_are_awaited(void **state)
{
  (void)state;
  static const uint64_t roots[] = {GRAPHLOG_MPI_ROOT_SELF, GRAPHLOG_MPI_ROOT_THIS_GROUP, 0 + 1};
  begin_groups();
  for (uint32_t begun = 2; begun != UINT32_MAX; begun--) { /* the root is the last one */
    call(begun, 30 - begun, 5);
    PUT(begun, 30 - begun, MPI_COLLECTIVE, 3, GRAPHLOG_MPI_FROM_ROOT, roots[begun], 0, 0);
    assert_int_equal(awaits(2, GRAPHLOG_MPI_RETURN, 0, 0, 0), begun > 0);
    assert_false(awaits(begun < 2 ? begun : 1, GRAPHLOG_MPI_RETURN, 0, 0, 0));
  }
  for (uint32_t rank = 0; rank < 3; rank++)
    ret(rank, 50);
  for (uint32_t i = 0; i < 2; i++) {
    call(i, 60 + i, 5);
    PUT(i, 60 + i, MPI_COLLECTIVE, SELF, GRAPHLOG_MPI_JOIN, 0 + 1, 0, 0);
    PUT(i, 60 + i, MPI_LEADER, WORLD, 1 - i, 7);
    assert_int_equal(awaits(0, GRAPHLOG_MPI_RETURN, 0, 0, 0), !i);
  }
  for (uint32_t rank = 0; rank < 2; rank++)
    ret(rank, 70);
  call(0, 80, 5);
  PUT(0, 80, MPI_COLLECTIVE, WORLD, GRAPHLOG_MPI_FILE, 0, 0, 0);
  assert_false(awaits(0, GRAPHLOG_MPI_RETURN, 0, 0, 0));
  end_job();
  release();
}

/* A synchronous send is complete once its receive has begun, in its call, or with its request. */
static void test_receives_that_are_awaited(void **state)
{
  (void)state;
  for (uint64_t request = 0; request <= 9; request += 9)
    for (int any = 0; any <= 1; any++) {
      enum graphlog_op completes = request ? GRAPHLOG_MPI_COMPLETE : GRAPHLOG_MPI_RETURN;
      begin_job(2);
      call(0, 10, 6);
      PUT(0, 10, MPI_SYNCHRONOUS_SEND, WORLD, 1, 7, 8, request);
      assert_true(awaits(0, completes, request, 0, 0));
      call(1, 20, 5);
      post(1, 20, 0 + 1, 6 + 1, 3); /* not for it */
      assert_true(awaits(0, completes, request, 0, 0));
      post(1, 20, any ? ANY_SOURCE : 1, any ? ANY_TAG : 8, 4);
      assert_false(awaits(0, completes, request, 0, 0));
      PUT(1, 30, MPI_DROPPED, 3);
      PUT(1, 30, MPI_DROPPED, 4);
      ret(1, 30);
      ret(0, 30);
      end_job();
      release();
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_late_sender),
      cmocka_unit_test(test_no_samples),
      cmocka_unit_test(test_before_the_first_call),
      cmocka_unit_test(test_calls_of_one_place),
      cmocka_unit_test(test_waits_without_causes),
      cmocka_unit_test(test_many_tags),
      cmocka_unit_test(test_exchange),
      cmocka_unit_test(test_unseen),
      cmocka_unit_test(test_ideal_time),
      cmocka_unit_test(test_late_receiver),
      cmocka_unit_test(test_delays_are_followed_back),
      cmocka_unit_test(test_collective_operations),
      cmocka_unit_test(test_late_rank),
      cmocka_unit_test(test_receives_from_any_source),
      cmocka_unit_test(test_cancelled_receive),
      cmocka_unit_test(test_wrong_order),
      cmocka_unit_test(test_communicators),
      cmocka_unit_test(test_two_groups),
      cmocka_unit_test(test_roots_between_groups),
      cmocka_unit_test(test_joined_groups),
      cmocka_unit_test(test_leader_of_two),
      cmocka_unit_test(test_numbers_of_ranks),
      cmocka_unit_test(test_failed_collective),
      cmocka_unit_test(test_failed_after_the_end),
      cmocka_unit_test(test_operations_on_files),
      cmocka_unit_test(test_neighbours),
      cmocka_unit_test(test_synchronous),
      cmocka_unit_test(test_undecided),
      cmocka_unit_test(test_requests),
      cmocka_unit_test(test_what_is_not_matched),
      cmocka_unit_test(test_threads_at_once),
      cmocka_unit_test(test_messages_that_are_awaited),
      cmocka_unit_test(test_ranks_that_are_awaited),
      cmocka_unit_test(test_neighbours_that_are_awaited),
      cmocka_unit_test(test_groups_that_are_awaited),
      cmocka_unit_test(test_others_that_are_awaited),
      cmocka_unit_test(test_receives_that_are_awaited),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
