#include "tests/golden/golden_messages.h"

#include "common/mpi_functions.h"
#include "tests/golden/golden_records.h"
#include "tests/support/compose_log.h"

static struct compose_log messages_log;

/* The nodes of each rank, in the order in which begin_rank() adds them. */
enum { NODE_MAIN = 1, NODE_COMPUTE, NODE_SEND, NODE_RECV, NODE_BARRIER };

enum { RANKS = 3, FIRST_PID = 4300, WORLD = 1, TAG = 5 };

/* What each rank does in rank_of_job(). */
static const uint64_t work_ms[RANKS] = {98 + 9 + 49, 18 + 18 + 59, 198 + 9};

static void begin_rank(const char *name, uint32_t pid, int32_t rank)
{
  blame_begin(pid, name, "s");
  compose.process.wall_ns = ms(800);
  compose.process.tick_scale = UINT64_C(1) << 31;
  compose.process.rank = compose.process.mpi_rank = rank;
  compose.process.mpi_library = compose_string(&compose, "MPICH 4.0.2");
  compose.process.mpi_size = RANKS;
  compose.process.mpi_state = FORMAT_MPI_INITIALIZED | FORMAT_MPI_FINALIZED;
  compose.process.mpi_decoded = 1;
  uint32_t main_frame = frame_below(0, 0x1000);
  charge(FORMAT_KIND_FRAME, main_frame, 0x2000, WORK, 20, 1, 1);
  compose_node(&compose, FORMAT_KIND_MPI, 0, MPI_FUNCTION_Ssend, main_frame, NULL);
  compose_node(&compose, FORMAT_KIND_MPI, 0, MPI_FUNCTION_Recv, main_frame, NULL);
  compose_node(&compose, FORMAT_KIND_MPI, 0, MPI_FUNCTION_Barrier, main_frame, NULL);
  compose.thread.work = ms(work_ms[rank]);
  blame_thread(1, 800, 0, 0, 500);
  compose_end(&compose);
}

static void put(uint64_t at_ms, enum graphlog_op op, int a, int b, int c, int d, int e)
{
  log_at(&messages_log, 1, ticks_of_ms(at_ms));
  log_put(&messages_log, 1, op, a, b, c, d, e);
}

/* The rank computes from there until it calls. */
static void compute_and_call(uint64_t from_ms, uint64_t at_ms, int function, int node)
{
  log_at(&messages_log, 1, ticks_of_ms(from_ms));
  log_put(&messages_log, 1, GRAPHLOG_SAMPLE, NODE_COMPUTE, 1);
  log_run(&messages_log, 1, ticks_of_ms(at_ms - from_ms));
  put(at_ms, GRAPHLOG_MPI_CALL, function, node, 0, 0, 0);
}

static void send(uint64_t from_ms, uint64_t at_ms, uint64_t until_ms, int to, int bytes)
{
  compute_and_call(from_ms, at_ms, MPI_FUNCTION_Ssend, NODE_SEND);
  put(at_ms, GRAPHLOG_MPI_SEND, WORLD, to, TAG, bytes, 0);
  put(until_ms, GRAPHLOG_MPI_RETURN, 0, 0, 0, 0, 0);
}

static void receive(uint64_t from_ms, uint64_t at_ms, uint64_t until_ms, int source, int bytes)
{
  compute_and_call(from_ms, at_ms, MPI_FUNCTION_Recv, NODE_RECV);
  put(at_ms, GRAPHLOG_MPI_RECEIVE, WORLD, 0, 0, 0, 0);
  put(until_ms, GRAPHLOG_MPI_RECEIVED, 0, source + 1, TAG + 1, bytes, 0);
  put(until_ms, GRAPHLOG_MPI_RETURN, 0, 0, 0, 0, 0);
}

static void barrier(uint64_t from_ms, uint64_t at_ms, uint64_t until_ms)
{
  compute_and_call(from_ms, at_ms, MPI_FUNCTION_Barrier, NODE_BARRIER);
  put(at_ms, GRAPHLOG_MPI_COLLECTIVE, WORLD, GRAPHLOG_MPI_BARRIER, 0, 0, 0);
  put(until_ms, GRAPHLOG_MPI_RETURN, 0, 0, 0, 0, 0);
}

static void begin_log(int rank)
{
  log_begin(&messages_log);
  put(1, GRAPHLOG_IMPLICIT, 0, 0, 1, 0, 0);
  put(1, GRAPHLOG_MPI_COMMUNICATOR, WORLD, GRAPHLOG_MPI_WORLD, 0, 0, rank);
  put(1, GRAPHLOG_MPI_RANKS, WORLD, 0, RANKS, 1 << 1, 0);
}

static void save_messages(const char *name, uint32_t pid, enum compose_form form)
{
  log_compose(&messages_log, form, &compose);
  save_as(name, pid, "graph");
}

/* Rank 1 waits 80 ms for a message of rank 0; at a barrier, rank 0 waits 90 ms and rank 1 80 ms for rank 2; that waits
 * 40 ms until rank 0 receives.  A message of rank 1 is never received. */
static void rank_of_job(int rank)
{
  begin_rank("messages", FIRST_PID + (uint32_t)rank, rank);
  save("messages", FIRST_PID + (uint32_t)rank);
  begin_log(rank);
  if (rank == 0) {
    send(2, 100, 101, 1, 4000);
    barrier(101, 110, 201);
    receive(201, 250, 252, 2, 16);
  } else if (rank == 1) {
    receive(2, 20, 102, 0, 4000);
    barrier(102, 120, 201);
    send(201, 260, 261, 2, 8);
  } else {
    barrier(2, 200, 201);
    send(201, 210, 251, 0, 16);
  }
  save_messages("messages", FIRST_PID + (uint32_t)rank, rank ? COMPOSE_PACKED : COMPOSE_LIVE);
}

/* Communicators that contradict themselves, ranks and requests that do not exist, calls that do not end. */
static void hostile(void)
{
  const int wild = -1; /* all bits set */
  begin_rank("messages-hostile", FIRST_PID + 10, 0);
  save("messages-hostile", FIRST_PID + 10);
  begin_log(0);
  put(2, GRAPHLOG_MPI_RETURN, 0, 0, 0, 0, 0);
  put(2, GRAPHLOG_MPI_COMMUNICATOR, 2, wild, wild, wild, wild);
  put(2, GRAPHLOG_MPI_COMMUNICATOR, 3, GRAPHLOG_MPI_CREATED, 3, 1, 5);
  put(2, GRAPHLOG_MPI_RANKS, 3, wild, wild, wild, 0);
  put(2, GRAPHLOG_MPI_COMMUNICATOR, 4, GRAPHLOG_MPI_OF_GROUP, WORLD, 1, 1 << 30);
  put(2, GRAPHLOG_MPI_RANKS, 4, 2 << 1, 3, 2 << 1 | 1, 0); /* descends below 0 */
  put(2, GRAPHLOG_MPI_RANKS, wild, wild, wild, wild, 0);
  put(2, GRAPHLOG_MPI_NAME, wild, wild, wild, 0, 0);
  for (int number = 0; number < 6; number++) {
    put(3, GRAPHLOG_MPI_CALL, wild, wild, 0, 0, 0);
    put(3, GRAPHLOG_MPI_SEND, number, wild, wild, wild, 1);
    put(3, GRAPHLOG_MPI_SEND, number, 0, 1, 1, 1);
    put(3, GRAPHLOG_MPI_RECEIVE, number, wild, wild, 1, 0);
    put(3, GRAPHLOG_MPI_RECEIVE, number, 0, 0, 2 + number, 0);
    put(3, GRAPHLOG_MPI_RECEIVED, 2 + number, wild, wild, wild, 0);
    put(3, GRAPHLOG_MPI_RECEIVED, 0, 1, 2, wild, 0);
    put(3, GRAPHLOG_MPI_COLLECTIVE, number, number, wild, wild, 1);
    put(3, GRAPHLOG_MPI_COLLECTIVE, number, wild, 0, 0, 0);
    put(3, GRAPHLOG_MPI_COLLECTIVE, number, GRAPHLOG_MPI_PREFIX, 0, 0, 9);
    put(3, GRAPHLOG_MPI_COMPLETE, 1, 0, 0, 0, 0);
    put(3, GRAPHLOG_MPI_COMPLETE, 1, 0, 0, 0, 0);
    put(3, GRAPHLOG_MPI_DROPPED, number, 0, 0, 0, 0);
    put(3, GRAPHLOG_MPI_FREED, 9, 0, 0, 0, 0);
  }
  save_messages("messages-hostile", FIRST_PID + 10, COMPOSE_PACKED);
}

void golden_messages(void)
{
  for (int rank = 0; rank < RANKS; rank++)
    rank_of_job(rank);
  hostile();
}
