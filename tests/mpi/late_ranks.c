/* Patterns of messages in which it is known which rank is late: it works for SECONDS in late_work() before it
 * communicates.  Arguments: the pattern, steps, and perhaps how names of files begin: there each rank writes when it
 * began and ended to be late, a line for each step; ranks that are not have twice the time before their call. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 3, MAX_STEPS = 100 };
#define SECONDS 0.1

static int rank, size, steps;
static struct {
  double began, ended;
} late[MAX_STEPS];
static double data[1000], other[1000];

static double now(clockid_t clock)
{
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Elapsed time, with the processor busy. */
__attribute__((noinline)) void late_work(void)
{
  for (double end = now(CLOCK_MONOTONIC) + SECONDS; now(CLOCK_MONOTONIC) < end;)
    for (volatile int i = 0; i < 10000; i++)
      ;
}

/* The rank's part of the step, before it communicates. */
static void step(int i, int is_late)
{
  late[i].began = now(CLOCK_MONOTONIC);
  if (is_late)
    late_work();
  late[i].ended = is_late ? now(CLOCK_MONOTONIC) : late[i].began;
}

/* Message i goes around once. */
static void ring(void)
{
  for (int i = 0; i < steps; i++) {
    if (rank == 0)
      MPI_Send(data, 10 + i, MPI_DOUBLE, 1 % size, TAG, MPI_COMM_WORLD);
    MPI_Recv(data, 1000, MPI_DOUBLE, (rank + size - 1) % size, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
      MPI_Send(data, 10 + i, MPI_DOUBLE, (rank + 1) % size, TAG, MPI_COMM_WORLD);
  }
}

/* Rank 0 gives `steps` pieces to whoever asks, then tells each that there are no more. */
static void master(void)
{
  MPI_Status status;
  int piece = 0;
  if (rank == 0) {
    for (int ended = 0; ended < size - 1; piece++) {
      int next = piece < steps ? piece : -1;
      MPI_Recv(data, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, TAG, MPI_COMM_WORLD);
      ended += next < 0;
    }
  } else {
    while (piece >= 0) {
      MPI_Send(data, 1, MPI_DOUBLE, 0, rank, MPI_COMM_WORLD);
      MPI_Recv(&piece, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

/* Neighbours exchange; in each step another rank is late. */
static void halo(void)
{
  for (int i = 0; i < steps; i++) {
    MPI_Request requests[4];
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    step(i, i % size == rank);
    MPI_Irecv(other, 100, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(other + 100, 100, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(data, 100, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(data + 100, 100, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
}

/* The last rank is late for each. */
static void barrier(void)
{
  for (int i = 0; i < steps; i++) {
    step(i, rank == size - 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* The root is late. */
static void broadcast(void)
{
  for (int i = 0; i < steps; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    step(i, rank == 0);
    MPI_Bcast(data, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
}

/* The root waits for the last rank. */
static void reduce(void)
{
  for (int i = 0; i < steps; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    step(i, rank == size - 1);
    MPI_Reduce(data, other, 10, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  }
}

/* The last rank is late for the creation of a communicator. */
static void creation(void)
{
  for (int i = 0; i < steps; i++) {
    MPI_Comm copy;
    step(i, rank == size - 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_free(&copy);
  }
}

/* The last rank is late for a fence. */
static void fence(void)
{
  MPI_Win window;
  MPI_Win_create(other, sizeof other, sizeof *other, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < steps; i++) {
    MPI_Put(data, 1, MPI_DOUBLE, (rank + 1) % size, 0, 1, MPI_DOUBLE, window);
    step(i, rank == size - 1);
    MPI_Win_fence(0, window);
  }
  MPI_Win_free(&window);
}

/* The last rank is late for its neighbour. */
static void neighbours(void)
{
  int none = 0;
  MPI_Comm line;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &none, 0, &line);
  for (int i = 0; i < steps; i++) {
    step(i, rank == size - 1);
    MPI_Neighbor_allgather(data, 10, MPI_DOUBLE, other, 10, MPI_DOUBLE, line);
  }
  MPI_Comm_free(&line);
}

/* Rank 1 receives late what rank 0 sends without a buffer. */
static void receiver(void)
{
  for (int i = 0; i < steps && rank < 2; i++) {
    step(i, rank == 1);
    if (rank == 0)
      MPI_Ssend(data, 10, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
    else
      MPI_Recv(data, 10, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Rank 0 is late; each rank passes the message on: all wait for the same. */
static void chain(void)
{
  for (int i = 0; i < steps; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    step(i, rank == 0);
    if (rank > 0)
      MPI_Recv(data, 10, MPI_DOUBLE, rank - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < size - 1)
      MPI_Send(data, 10, MPI_DOUBLE, rank + 1, TAG, MPI_COMM_WORLD);
  }
}

/* Rank 1 is killed when it has received half of what rank 0 has sent, and what that has sent last. */
static void killed(void)
{
  for (int i = 0; i < steps && rank == 0; i++)
    MPI_Send(data, 4, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
  if (rank == 0)
    MPI_Send(data, 4, MPI_DOUBLE, 1, TAG + 1, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(data, 4, MPI_DOUBLE, 0, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < steps / 2; i++)
      MPI_Recv(data, 4, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A root that is none: the operation fails in all ranks. */
static void failed(void)
{
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < steps; i++)
    MPI_Bcast(data, 1, MPI_DOUBLE, size, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*run)(void);
  } patterns[] = {{"ring", ring},           {"master", master},     {"halo", halo},         {"barrier", barrier},
                  {"broadcast", broadcast}, {"reduce", reduce},     {"receiver", receiver}, {"chain", chain},
                  {"killed", killed},       {"creation", creation}, {"fence", fence},       {"neighbours", neighbours},
                  {"failed", failed}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  steps = atoi(argv[2]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    if (!strcmp(argv[1], patterns[i].name))
      patterns[i].run();
  if (argc > 3) {
    char name[4096];
    snprintf(name, sizeof name, "%s%d", argv[3], rank);
    FILE *file = fopen(name, "w");
    for (int i = 0; file && i < steps; i++)
      fprintf(file, "%.9f %.9f\n", late[i].began, late[i].ended);
    if (!file || fclose(file))
      return 1;
  }
  MPI_Finalize();
  return 0;
}
