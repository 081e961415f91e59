#include "tests/golden/golden_mpi.h"

#include "common/mpi_functions.h"
#include "tests/golden/golden_records.h"

static void begin(uint32_t pid, const char *command, int32_t rank)
{
  blame_begin(pid, command, NULL);
  compose.process.wall_ns = ms(800);
  compose.process.tick_scale = UINT64_C(1) << 31;
  compose.process.rank = compose.process.mpi_rank = rank;
}

static void put_calls(uint32_t thread, const struct format_mpi *calls, uint32_t count)
{
  compose_extent(&compose, FORMAT_MPI, thread, 0, count, sizeof *calls, calls);
}

static uint32_t call_below(uint32_t parent, enum mpi_function function)
{
  return compose_node(&compose, FORMAT_KIND_MPI, 0, function, parent, NULL);
}

/* A rank of two.  Its initial thread communicates in three places, in one of them while a worker is idle, which is
 * charged to the call. */
static void rank(uint32_t pid, int32_t number)
{
  uint64_t waits_ms = number ? 10 : 250; /* in the barrier, for the other rank */
  begin(pid, "./ranks", number);
  compose.process.mpi_library = compose_string(&compose, "Open MPI 4.1.4");
  compose.process.mpi_size = 2;
  compose.process.mpi_threads = 2;
  compose.process.mpi_state = FORMAT_MPI_INITIALIZED | FORMAT_MPI_FINALIZED;
  compose.process.mpi_decoded = 1;
  compose.process.mpi_init_ns = ms(40);
  compose.process.mpi_finalize_ns = ms(780);
  uint32_t main_frame = frame_below(0, 0x1000), halo = frame_below(main_frame, 0x1100);
  uint32_t send = call_below(halo, MPI_FUNCTION_Send), barrier = call_below(main_frame, MPI_FUNCTION_Barrier);
  charge(FORMAT_KIND_FRAME, halo, 0x2000, WORK, number ? 44 : 20, 1, 2);
  charge(FORMAT_KIND_MPI, main_frame, MPI_FUNCTION_Allreduce, WORK, 0, 1, 2);
  put_calls(1,
            (const struct format_mpi[]){{0},
                                        {.function = MPI_FUNCTION_Init_thread,
                                         .node = call_below(main_frame, MPI_FUNCTION_Init_thread),
                                         .calls = 1,
                                         .ticks = ticks_of_ms(30),
                                         .longest = ticks_of_ms(30)},
                                        {.function = MPI_FUNCTION_Send,
                                         .node = send,
                                         .calls = 100,
                                         .ticks = ticks_of_ms(20),
                                         .longest = ticks_of_ms(1),
                                         .decoded = 100,
                                         .sent = 800000},
                                        {.function = MPI_FUNCTION_Recv,
                                         .node = call_below(halo, MPI_FUNCTION_Recv),
                                         .calls = 100,
                                         .ticks = ticks_of_ms(30),
                                         .longest = ticks_of_ms(2),
                                         .decoded = 100,
                                         .received = 800000},
                                        {.function = MPI_FUNCTION_Barrier,
                                         .node = barrier,
                                         .calls = 10,
                                         .ticks = ticks_of_ms(waits_ms),
                                         .longest = ticks_of_ms(waits_ms / 10),
                                         .preempted = ticks_of_ms(5),
                                         .decoded = 10}},
            5);
  compose.thread.mpi_ns = ms(80 + waits_ms);
  compose.thread.mpi_calls = 211;
  compose.thread.samples_mpi = (80 + waits_ms) / 10;
  compose.thread.mpi_sampled_ns = ms(80 + waits_ms);
  compose.thread.mpi_preempted = ticks_of_ms(5);
  compose.thread.mpi_sent = compose.thread.mpi_received = 800000;
  blame_thread(1, 800, 0, 0, 500);
  charge(FORMAT_KIND_FRAME, region_body(link_to(halo), 0x1200), 0x2100, WORK, 30, 1, 2);
  blame_thread(2, 600, 300, 0, 0);
  compose_end(&compose);
  save("ranks", pid);
}

/* Functions and contexts that do not exist; numbers that are too large; an open call in a file of a complete process.
 */
static void hostile(void)
{
  begin(4210, "./ranks-hostile", -5);
  compose.process.mpi_library = UINT32_MAX;
  compose.process.mpi_size = 3;
  compose.process.mpi_threads = compose.process.mpi_state = compose.process.mpi_decoded = UINT32_MAX;
  compose.process.mpi_init_ns = UINT64_MAX;
  compose.process.mpi_finalize_ns = 1;
  uint32_t main_frame = frame_below(0, 0x1000), unknown = call_below(main_frame, UINT32_MAX);
  charge(FORMAT_KIND_FRAME, unknown, 0x2000, WORK, 20, 1, 1);
  put_calls(1,
            (const struct format_mpi[]){
                {.function = UINT32_MAX,
                 .node = unknown,
                 .calls = UINT64_MAX,
                 .ticks = UINT64_MAX,
                 .longest = UINT64_MAX,
                 .since = 1},
                {.function = MPI_FUNCTION_Send,
                 .node = 9999,
                 .calls = 1,
                 .ticks = UINT64_MAX,
                 .longest = UINT64_MAX,
                 .preempted = UINT64_MAX,
                 .decoded = 7,
                 .sent = UINT64_MAX,
                 .received = UINT64_MAX},
                {.function = MPI_FUNCTION_Send, .node = main_frame, .calls = 2, .ticks = 1, .since = UINT64_MAX}},
            3);
  compose.thread.mpi_ns = compose.thread.mpi_calls = compose.thread.samples_mpi = UINT64_MAX;
  compose.thread.mpi_preempted = compose.thread.mpi_sent = UINT64_MAX;
  blame_thread(1, 800, 0, 0, 500);
  compose_end(&compose);
  save("ranks-hostile", 4210);
}

void golden_mpi(void)
{
  rank(4200, 0);
  rank(4201, 1);
  hostile();
}
