/* Calls of MPI, one kind at a time: mpi_costs FORM COUNT.  Rank 0 prints on standard error how long one took, in ns.
 *
 * probe: a call that finds nothing, in one rank; cold: a rank sends 8 bytes to itself, after it has replaced what is in
 * the data cache of its core, as a message does: the thread's CPU time.  small, large: two ranks send 8 bytes, 16 KiB
 * to each other in turn; one is there and back.  halo: each rank works for 1 ms, and exchanges 8 KiB with the next
 * ones; one is a step.  These three: elapsed time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES_MOST = 16384, HALO_BYTES = 8192, STEP_NS = 1000000 };
static char in[BYTES_MOST], out[BYTES_MOST];
static int rank, size;

static long long now_ns(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void probe(long count)
{
  int flag;
  for (long i = 0; i < count; i++)
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void cold(long count)
{
  static char other[BYTES_MOST];
  for (long i = 0; i < count; i++) {
    memcpy(in, other, sizeof in);
    memcpy(other, out, sizeof other);
    out[i % BYTES_MOST]++;
    MPI_Sendrecv(out, 8, MPI_CHAR, 0, 0, in, 8, MPI_CHAR, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  }
}

static void ping_pong(long count, int bytes)
{
  for (long i = 0; i < count; i++) {
    if (rank == 0)
      MPI_Send(out, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (rank < 2)
      MPI_Recv(in, bytes, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
      MPI_Send(out, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  }
}

static void small(long count)
{
  ping_pong(count, 8);
}

static void large(long count)
{
  ping_pong(count, BYTES_MOST);
}

static void halo(long count)
{
  volatile double sum = 0;
  for (long i = 0; i < count; i++) {
    for (long long end = now_ns(CLOCK_THREAD_CPUTIME_ID) + STEP_NS; now_ns(CLOCK_THREAD_CPUTIME_ID) < end;)
      for (int k = 1; k < 3000; k++)
        sum = sum + 1.0 / k;
    for (int to = -1; to <= 1; to += 2)
      MPI_Sendrecv(out, HALO_BYTES, MPI_CHAR, (rank + size + to) % size, 0, in, HALO_BYTES, MPI_CHAR,
                   (rank + size - to) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*run)(long count);
    clockid_t clock;
  } forms[] = {{"probe", probe, CLOCK_THREAD_CPUTIME_ID},
               {"cold", cold, CLOCK_THREAD_CPUTIME_ID},
               {"small", small, CLOCK_MONOTONIC},
               {"large", large, CLOCK_MONOTONIC},
               {"halo", halo, CLOCK_MONOTONIC}};
  unsigned form = 0;
  long count = argc > 2 ? atol(argv[2]) : 0;
  while (form < sizeof forms / sizeof *forms && argc > 1 && strcmp(forms[form].name, argv[1]))
    form++;
  if (count <= 0 || form == sizeof forms / sizeof *forms)
    return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  forms[form].run(count / 10 + 1); /* connects */
  MPI_Barrier(MPI_COMM_WORLD);
  long long began = now_ns(forms[form].clock);
  forms[form].run(count);
  long long took = now_ns(forms[form].clock) - began;
  if (rank == 0)
    fprintf(stderr, "%.3f\n", (double)took / (double)count);
  return MPI_Finalize();
}
