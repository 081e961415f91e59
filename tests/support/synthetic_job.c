#include "tests/support/synthetic_job.h"

#include "common/graphlog.h"
#include "common/mpi_functions.h"
#include "common/order.h"
#include "tests/support/compose_measurement.h"

#include <stdlib.h>
#include <string.h>

enum { EXTENT_FIRST = 16 << 10, EXTENT_MAX = 256 << 10, WORLD = 1, TAG = 7, ROW = 1, BEGIN = 1000, REQUESTS = 4 };

/* The nodes of the first thread, in the order in which they are added. */
enum { NODE_MAIN = 1, NODE_COMPUTE, NODE_IRECV, NODE_ISEND, NODE_WAITALL, NODE_ALLREDUCE };

/* ---- figures ---- */

/* The rank that is late in a cycle. */
static uint32_t late_rank(const struct synthetic_job *job, uint32_t cycle)
{
  return cycle % job->ranks;
}

static uint64_t late_cycles(const struct synthetic_job *job, uint32_t rank)
{
  return job->cycles / job->ranks + (rank < job->cycles % job->ranks);
}

/* How much later than usual a rank has done that many steps of a cycle. */
static uint64_t delay_after(const struct synthetic_job *job, uint32_t cycle, uint32_t rank, uint32_t steps)
{
  uint32_t right = (rank + job->ranks - late_rank(job, cycle)) % job->ranks, left = (job->ranks - right) % job->ranks;
  uint64_t by_right = right <= steps ? SYNTHETIC_LATE - right * SYNTHETIC_CALL : 0;
  uint64_t by_left = left <= steps ? SYNTHETIC_LATE - 2 * left * SYNTHETIC_CALL : 0;
  return steps ? MAX(by_right, by_left) : 0;
}

/* Time without delays, until a cycle's region has ended; of a step; and of a cycle, with the delay. */
enum { REGION_TICKS = SYNTHETIC_REGION + 2, STEP_TICKS = SYNTHETIC_STEP + 5 * SYNTHETIC_CALL };

static uint64_t cycle_ticks(const struct synthetic_job *job)
{
  return REGION_TICKS + job->steps * STEP_TICKS + SYNTHETIC_LATE + SYNTHETIC_CALL;
}

/* ---- the log ---- */

struct stream {
  uint8_t bytes[EXTENT_MAX];
  uint32_t size, room, extent, thread;
  uint64_t now; /* of the next record */
  synthetic_put *put;
  void *context;
};

static void flush(struct stream *stream)
{
  if (stream->size)
    stream->put(stream->context, FORMAT_GRAPH_LOG, stream->thread, stream->extent++, stream->size, 1, stream->bytes);
  stream->size = 0;
  stream->room = MIN(stream->room * 2, EXTENT_MAX);
}

static void append(struct stream *stream, enum graphlog_op op, const uint64_t *operands)
{
  uint8_t *at = stream->bytes + stream->size;
  *at++ = (uint8_t)op;
  for (unsigned i = 0; i < graphlog_operands(op); i++)
    at = leb128_put(at, operands[i]);
  stream->size = (uint32_t)(at - stream->bytes);
}

static void put_record(struct stream *stream, enum graphlog_op op, const uint64_t *operands)
{
  if (stream->size + 2 * GRAPHLOG_RECORD_MAX > stream->room)
    flush(stream);
  if (!stream->size)
    append(stream, GRAPHLOG_TIME, &stream->now);
  append(stream, op, operands);
}

#define PUT(stream, op, ...) put_record(stream, GRAPHLOG_##op, (const uint64_t[GRAPHLOG_OPERANDS_MAX]){__VA_ARGS__})

static void pass(struct stream *stream, uint64_t ticks)
{
  PUT(stream, MOVE, ticks);
  stream->now += ticks;
}

static void work(struct stream *stream, uint64_t ticks)
{
  PUT(stream, RUN, 0, ticks);
  stream->now += ticks;
}

static void begin_stream(struct stream *stream, uint32_t thread, uint64_t at)
{
  stream->size = stream->extent = 0;
  stream->room = EXTENT_FIRST;
  stream->thread = thread;
  stream->now = at;
}

/* What a thread does in a region.  task: its number among the thread's. */
static void in_region(const struct synthetic_job *job, struct stream *stream, uint64_t region, uint64_t task)
{
  PUT(stream, IMPLICIT, 1, region, job->threads, stream->thread);
  work(stream, SYNTHETIC_REGION);
  PUT(stream, WAIT, stream->thread, task, GRAPHLOG_BARRIER, 0);
  pass(stream, 1);
  PUT(stream, WAIT_END, stream->thread, task, GRAPHLOG_BARRIER);
  PUT(stream, IMPLICIT_END, stream->thread, task);
}

static void call(struct stream *stream, enum mpi_function function, uint32_t node)
{
  PUT(stream, MPI_CALL, function, node);
}

static void end_call(struct stream *stream, uint64_t at)
{
  pass(stream, at - stream->now);
  PUT(stream, MPI_RETURN, 0);
}

/* request: the first one of the step. */
static void exchange(struct stream *stream, const uint32_t *peers, uint64_t request, uint64_t until)
{
  for (unsigned i = 0; i < 2; i++) {
    call(stream, MPI_FUNCTION_Irecv, NODE_IRECV);
    PUT(stream, MPI_RECEIVE, WORLD, peers[i] + 1, TAG + 1, request + i);
    end_call(stream, stream->now + SYNTHETIC_CALL);
  }
  for (unsigned i = 0; i < 2; i++) {
    call(stream, MPI_FUNCTION_Isend, NODE_ISEND);
    PUT(stream, MPI_SEND, WORLD, peers[i], TAG, SYNTHETIC_BYTES, request + 2 + i);
    end_call(stream, stream->now + SYNTHETIC_CALL);
  }
  call(stream, MPI_FUNCTION_Waitall, NODE_WAITALL);
  pass(stream, until - stream->now);
  for (unsigned i = 0; i < 2; i++)
    PUT(stream, MPI_RECEIVED, request + i, peers[i] + 1, TAG + 1, SYNTHETIC_BYTES);
  for (unsigned i = 0; i < 2; i++)
    PUT(stream, MPI_COMPLETE, request + 2 + i);
  PUT(stream, MPI_RETURN, 0);
}

static void cycle_of_rank(const struct synthetic_job *job, struct stream *stream, uint32_t rank, uint32_t cycle)
{
  const uint32_t peers[2] = {(rank + job->ranks - 1) % job->ranks, (rank + 1) % job->ranks};
  uint64_t begin = stream->now, request = 1 + (uint64_t)cycle * job->steps * REQUESTS;
  PUT(stream, REGION, ROW);
  in_region(job, stream, cycle + 1, cycle + 2);
  pass(stream, 1);
  PUT(stream, REGION_END, ROW);
  for (uint32_t step = 0; step < job->steps; step++) {
    uint64_t end = begin + REGION_TICKS + (step + 1) * (uint64_t)STEP_TICKS + delay_after(job, cycle, rank, step + 1);
    PUT(stream, SAMPLE, NODE_COMPUTE, 1);
    work(stream, SYNTHETIC_STEP + (!step && rank == late_rank(job, cycle) ? SYNTHETIC_LATE : 0));
    exchange(stream, peers, request + step * REQUESTS, end);
  }
  call(stream, MPI_FUNCTION_Allreduce, NODE_ALLREDUCE);
  PUT(stream, MPI_COLLECTIVE, WORLD, GRAPHLOG_MPI_ALL_TO_ALL, 0, sizeof(double), 0);
  end_call(stream, begin + cycle_ticks(job));
}

void synthetic_job_log(const struct synthetic_job *job, uint32_t rank, synthetic_put *put, void *context)
{
  static struct stream stream;
  stream.put = put;
  stream.context = context;
  begin_stream(&stream, 1, BEGIN);
  PUT(&stream, IMPLICIT, 0, 0, 1, 0);
  PUT(&stream, MPI_COMMUNICATOR, WORLD, GRAPHLOG_MPI_WORLD, 0, 0, rank);
  PUT(&stream, MPI_RANKS, WORLD, 0, job->ranks, 1 << 1);
  for (uint32_t cycle = 0; cycle < job->cycles; cycle++)
    cycle_of_rank(job, &stream, rank, cycle);
  PUT(&stream, IMPLICIT_END, 1, 1);
  flush(&stream);
  for (uint32_t thread = 2; thread <= job->threads; thread++) {
    begin_stream(&stream, thread, BEGIN);
    for (uint32_t cycle = 0; cycle < job->cycles; cycle++) {
      in_region(job, &stream, cycle + 1, cycle + 1);
      pass(&stream, cycle_ticks(job) - SYNTHETIC_REGION - 1);
    }
    flush(&stream);
  }
}

/* ---- the measurement ---- */

static void put_metrics(struct compose *compose)
{
  compose_metric(compose, "samples", "", FORMAT_ROLE_SAMPLES, 1);
  compose_metric(compose, "work", "ns", FORMAT_ROLE_WORK, SYNTHETIC_STEP);
}

/* A frame with all of that work. */
static uint32_t put_work(struct compose *compose, uint32_t parent, uint32_t offset, uint64_t ns)
{
  return compose_frame(compose, parent, offset, ns / SYNTHETIC_STEP + 1, ns);
}

/* Calls of MPI by function, which take `ticks` together. */
static void put_calls(const struct synthetic_job *job, struct compose *compose, uint32_t rank, uint64_t ticks)
{
  uint64_t steps = (uint64_t)job->cycles * job->steps, posted = 2 * steps * SYNTHETIC_CALL, met = 0;
  for (uint32_t cycle = 0; cycle < job->cycles; cycle++)
    met += SYNTHETIC_LATE + SYNTHETIC_CALL - delay_after(job, cycle, rank, job->steps);
  const struct format_mpi calls[] = {
      {0},
      {.function = MPI_FUNCTION_Irecv, .node = NODE_IRECV, .calls = 2 * steps, .ticks = posted},
      {.function = MPI_FUNCTION_Isend, .node = NODE_ISEND, .calls = 2 * steps, .ticks = posted},
      {.function = MPI_FUNCTION_Waitall, .node = NODE_WAITALL, .calls = steps, .ticks = ticks - 2 * posted - met},
      {.function = MPI_FUNCTION_Allreduce, .node = NODE_ALLREDUCE, .calls = job->cycles, .ticks = met}};
  compose_extent(compose, FORMAT_MPI, 1, 0, sizeof calls / sizeof *calls, sizeof *calls, calls);
}

static void put_first_thread(const struct synthetic_job *job, struct compose *compose, uint32_t rank,
                             uint64_t serial_ns, uint64_t region_ns)
{
  static const enum mpi_function functions[] = {MPI_FUNCTION_Irecv, MPI_FUNCTION_Isend, MPI_FUNCTION_Waitall,
                                                MPI_FUNCTION_Allreduce};
  uint64_t messages = (uint64_t)job->cycles * job->steps * 2, wall_ns = compose->process.wall_ns;
  uint32_t main_frame = compose_node(compose, FORMAT_KIND_FRAME, 1, 0x1000, 0, NULL);
  put_work(compose, main_frame, 0x2000, serial_ns);
  for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
    compose_node(compose, FORMAT_KIND_MPI, 0, functions[i], main_frame, NULL);
  uint32_t region = compose_node(compose, FORMAT_KIND_PARALLEL, 0, 0, main_frame, NULL);
  uint32_t body = put_work(compose, region, 0x3000, region_ns);
  compose_contribution(compose, 0, 1, NODE_COMPUTE, serial_ns);
  compose_contribution(compose, ROW, 1, body, region_ns);
  compose->thread = (struct format_thread){.flags = FORMAT_THREAD_OPENMP,
                                           .cpu_ns = wall_ns,
                                           .wall_ns = wall_ns,
                                           .end_ns = wall_ns,
                                           .work = serial_ns + region_ns,
                                           .region_ns = (uint64_t)job->cycles * REGION_TICKS,
                                           .mpi_ns = wall_ns - BEGIN - serial_ns - job->cycles * (uint64_t)REGION_TICKS,
                                           .mpi_calls = messages * 5 / 2 + job->cycles,
                                           .mpi_sent = messages * SYNTHETIC_BYTES,
                                           .mpi_received = messages * SYNTHETIC_BYTES};
  put_calls(job, compose, rank, compose->thread.mpi_ns);
  compose_thread(compose, 1);
}

static void put_worker(struct compose *compose, uint32_t thread, uint64_t region_ns)
{
  uint64_t wall_ns = compose->process.wall_ns;
  put_work(compose, 0, 0x3000, region_ns);
  compose->thread = (struct format_thread){.flags = FORMAT_THREAD_OPENMP,
                                           .cpu_ns = region_ns,
                                           .wall_ns = wall_ns,
                                           .end_ns = wall_ns,
                                           .work = region_ns,
                                           .idle_ns = wall_ns - region_ns};
  compose_thread(compose, thread);
}

void synthetic_job_rank(const struct synthetic_job *job, uint32_t rank, const char *path)
{
  static struct compose compose;
  uint64_t region_ns = (uint64_t)job->cycles * SYNTHETIC_REGION;
  uint64_t serial_ns = (uint64_t)job->cycles * job->steps * SYNTHETIC_STEP + late_cycles(job, rank) * SYNTHETIC_LATE;
  compose_begin(&compose, COMPOSE_PACKED, 1000 + rank, "./synthetic");
  put_metrics(&compose);
  compose_module(&compose, "/synthetic/app", FORMAT_MODULE_MAIN);
  compose_directive(&compose, FORMAT_DIRECTIVE_PARALLEL, 1, 0x1100, job->cycles, job->threads * region_ns, region_ns);
  struct format_process *process = &compose.process;
  process->work_unit = compose_string(&compose, "s");
  process->wall_ns = BEGIN + job->cycles * cycle_ticks(job);
  process->cpu_ns = process->wall_ns + (job->threads - 1) * region_ns;
  process->cpus = process->threads_max = job->threads;
  process->tick_scale = UINT64_C(1) << 32;
  process->regions = job->cycles;
  process->span = process->span_burdened = serial_ns + region_ns;
  process->rank = process->mpi_rank = (int32_t)rank;
  process->mpi_library = compose_string(&compose, "MPICH 4.0.2");
  process->mpi_size = job->ranks;
  process->mpi_state = FORMAT_MPI_INITIALIZED | FORMAT_MPI_FINALIZED;
  process->mpi_decoded = 1;
  put_first_thread(job, &compose, rank, serial_ns, region_ns);
  for (uint32_t thread = 2; thread <= job->threads; thread++)
    put_worker(&compose, thread, region_ns);
  compose_end(&compose);
  if (compose_write(&compose, path))
    return;
  perror(path);
  exit(1);
}
