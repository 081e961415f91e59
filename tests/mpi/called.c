/* Calls MPI in the way that the argument names, and prints what each call has returned, and how often it has called
 * each function, as lines "calls NAME COUNT".  Built with the mpicc of each MPI library. */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

enum { NAMES = 128 };
static struct {
  const char *name;
  int count;
} calls[NAMES];
static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;
static int rank, size;

static void count(const char *name)
{
  int i = 0;
  pthread_mutex_lock(&calls_lock);
  while (calls[i].name && strcmp(calls[i].name, name))
    i++;
  calls[i].name = name;
  calls[i].count++;
  pthread_mutex_unlock(&calls_lock);
}

/* Calls a function, which must succeed. */
#define CALL(name, ...)                                                                                                \
  do {                                                                                                                 \
    count(#name);                                                                                                      \
    int result = MPI_##name(__VA_ARGS__);                                                                              \
    if (result)                                                                                                        \
      printf("%s returns %d\n", #name, result);                                                                        \
  } while (0)

static void print_calls(void)
{
  for (int i = 0; i < NAMES && calls[i].name; i++)
    printf("calls %s %d\n", calls[i].name, calls[i].count);
  fflush(stdout);
}

static void print_sum(const char *what, const int *numbers, int count_of_numbers)
{
  long sum = 0;
  for (int i = 0; i < count_of_numbers; i++)
    sum = sum * 31 + numbers[i];
  printf("%s %d: %ld\n", what, rank, sum);
}

/* ---- kinds of functions ---- */

static void point_to_point(MPI_Comm comm)
{
  int out[64], in[64] = {0}, next = (rank + 1) % size, previous = (rank + size - 1) % size, index, flag = 0, outcount;
  int indices[2];
  MPI_Request requests[2];
  MPI_Status status, statuses[2];
  MPI_Message message;
  for (int i = 0; i < 64; i++)
    out[i] = rank * 1000 + i;
  for (int i = 0; i < 3; i++)
    CALL(Sendrecv, out, 64, MPI_INT, next, i, in, 64, MPI_INT, previous, i, comm, MPI_STATUS_IGNORE);
  CALL(Sendrecv_replace, in, 64, MPI_INT, next, 7, previous, 7, comm, &status);
  CALL(Irecv, in, 64, MPI_INT, previous, 1, comm, &requests[0]);
  CALL(Isend, out, 64, MPI_INT, next, 1, comm, &requests[1]);
  CALL(Waitall, 2, requests, statuses);
  CALL(Irecv, in, 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
  CALL(Issend, out, 64, MPI_INT, next, 2, comm, &requests[1]);
  CALL(Waitany, 2, requests, &index, &status);
  CALL(Waitsome, 2, requests, &outcount, indices, statuses);
  MPI_Status *ignored = MPI_STATUSES_IGNORE;
  CALL(Waitall, 2, requests, ignored);
  CALL(Isend, out, 8, MPI_INT, next, 3, comm, &requests[0]);
  CALL(Probe, previous, 3, comm, &status);
  CALL(Recv, in, 8, MPI_INT, previous, 3, comm, MPI_STATUS_IGNORE);
  while (!flag)
    CALL(Test, &requests[0], &flag, &status);
  CALL(Isend, out, 8, MPI_INT, next, 4, comm, &requests[0]);
  CALL(Mprobe, previous, 4, comm, &message, &status);
  CALL(Mrecv, in, 8, MPI_INT, &message, &status);
  CALL(Wait, &requests[0], MPI_STATUS_IGNORE);
  CALL(Isend, out, 8, MPI_INT, next, 5, comm, &requests[0]);
  for (flag = 0; !flag;)
    CALL(Iprobe, previous, 5, comm, &flag, &status);
  CALL(Recv, in, 8, MPI_INT, previous, 5, comm, &status);
  CALL(Wait, &requests[0], &status);
  CALL(Recv_init, in, 64, MPI_INT, previous, 6, comm, &requests[0]);
  CALL(Send_init, out, 64, MPI_INT, next, 6, comm, &requests[1]);
  for (int i = 0; i < 4; i++) {
    CALL(Startall, 2, requests);
    CALL(Waitall, 2, requests, statuses);
  }
  CALL(Request_free, &requests[0]);
  CALL(Request_free, &requests[1]);
  CALL(Send, out, 4, MPI_INT, MPI_PROC_NULL, 0, comm);
  print_sum("point to point", in, 64);
}

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
  (void)type;
  for (int i = 0; i < *length; i++)
    ((int *)inout)[i] += ((int *)in)[i];
}

static void collective(MPI_Comm comm)
{
  int out[64], in[64] = {0}, counts[64], places[64];
  MPI_Op op;
  MPI_Request request;
  for (int i = 0; i < 64; i++) {
    out[i] = rank * 100 + i;
    counts[i] = 1;
    places[i] = i;
  }
  CALL(Barrier, comm);
  CALL(Bcast, out, 4, MPI_INT, 0, comm);
  CALL(Gather, out, 1, MPI_INT, in, 1, MPI_INT, 0, comm);
  CALL(Gatherv, out, 1, MPI_INT, in, counts, places, MPI_INT, 0, comm);
  CALL(Scatter, in, 1, MPI_INT, out, 1, MPI_INT, 0, comm);
  CALL(Allgather, out, 1, MPI_INT, in, 1, MPI_INT, comm);
  CALL(Alltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
  CALL(Reduce, out, in, 4, MPI_INT, MPI_SUM, 0, comm);
  MPI_Op_create(add, 1, &op);
  CALL(Allreduce, out, in, 4, MPI_INT, op, comm);
  MPI_Op_free(&op);
  CALL(Scan, in, out, 4, MPI_INT, MPI_SUM, comm);
  CALL(Reduce_scatter_block, out, in, 1, MPI_INT, MPI_MAX, comm);
  CALL(Iallreduce, out, in, 8, MPI_INT, MPI_SUM, comm, &request);
  CALL(Wait, &request, MPI_STATUS_IGNORE);
  CALL(Ibarrier, comm, &request);
  CALL(Wait, &request, MPI_STATUS_IGNORE);
  print_sum("collective", in, 8);
}

static void communicators(void)
{
  MPI_Comm other, ring;
  int periodic = 1, in[8] = {0};
  CALL(Comm_dup, MPI_COMM_WORLD, &other);
  CALL(Comm_free, &other);
  CALL(Comm_split, MPI_COMM_WORLD, rank % 2, rank, &other);
  CALL(Allreduce, &rank, in, 1, MPI_INT, MPI_SUM, other);
  CALL(Comm_free, &other);
  CALL(Cart_create, MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  CALL(Neighbor_allgather, &rank, 1, MPI_INT, in, 1, MPI_INT, ring);
  CALL(Comm_free, &ring);
  print_sum("communicators", in, 2);
}

static void windows_and_files(const char *path)
{
  int memory[4] = {rank, 0, 0, 0}, other = -1, in = -1;
  MPI_Win window;
  MPI_File file;
  CALL(Win_create, memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  CALL(Win_fence, 0, window);
  CALL(Put, &rank, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, window);
  CALL(Get, &other, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  CALL(Win_fence, 0, window);
  CALL(Win_free, &window);
  CALL(File_open, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  CALL(File_write_at_all, file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  CALL(File_sync, file);
  CALL(Barrier, MPI_COMM_WORLD);
  CALL(File_read_at, file, 4 * ((rank + 1) % size), &in, 1, MPI_INT, MPI_STATUS_IGNORE);
  CALL(File_close, &file);
  print_sum("windows and files", (const int[]){memory[1], other, in}, 3);
}

/* ---- threads ---- */

enum { THREADS = 2, ROUNDS = 200 };

static void *communicate(void *communicator)
{
  MPI_Comm comm = *(MPI_Comm *)communicator;
  int out = rank, in = 0;
  for (int i = 0; i < ROUNDS; i++)
    CALL(Sendrecv, &out, 1, MPI_INT, (rank + 1) % size, i, &in, 1, MPI_INT, (rank + size - 1) % size, i, comm,
         MPI_STATUS_IGNORE);
  return NULL;
}

static void with_threads(void)
{
  pthread_t threads[THREADS];
  MPI_Comm comms[THREADS];
  for (int i = 0; i < THREADS; i++)
    CALL(Comm_dup, MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, communicate, &comms[i]);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++)
    CALL(Comm_free, &comms[i]);
}

/* ---- ends ---- */

static jmp_buf place;

static void jump(MPI_Comm *comm, int *error, ...)
{
  (void)comm, (void)error;
  longjmp(place, 1);
}

/* Leaves calls by a jump out of an error handler. */
static void left(void)
{
  MPI_Errhandler handler;
  volatile int jumps = 0;
  MPI_Comm_create_errhandler(jump, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  for (volatile int i = 0; i < 5; i++) {
    count("Send");
    if (!setjmp(place))
      MPI_Send(&rank, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
    else
      jumps++;
    burn(0.02);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  printf("%d jumps\n", jumps);
}

/* Rank 0 comes so much later to a call in which the others wait. */
static void late(double seconds)
{
  if (rank == 0)
    burn(seconds);
  CALL(Barrier, MPI_COMM_WORLD);
}

/* Rank 1 kills itself in a handler, while it waits in a call. */
static void kill_self(int number)
{
  (void)number;
  kill(getpid(), SIGKILL);
}

static void killed(void)
{
  for (int i = 0; i < 10; i++)
    CALL(Barrier, MPI_COMM_WORLD);
  print_calls();
  if (rank == 1) {
    signal(SIGALRM, kill_self);
    alarm(1);
  } else {
    sleep(60);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- OpenMP ---- */

/* The master communicates while the other thread has nothing to do. */
static void hybrid(void)
{
  for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(2)
    {
      burn(0.02);
#pragma omp barrier
#pragma omp master
      late(0.04);
#pragma omp barrier
      burn(0.02);
    }
  }
}

/* Both threads communicate in many regions. */
enum { REGIONS = 2000 };
static void regions(void)
{
  MPI_Comm comms[2];
  for (int i = 0; i < 2; i++)
    CALL(Comm_dup, MPI_COMM_SELF, &comms[i]);
  for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel for num_threads(2) schedule(static)
    for (int k = 0; k < 2; k++)
      CALL(Barrier, comms[k]);
  }
  for (int i = 0; i < 2; i++)
    CALL(Comm_free, &comms[i]);
}

/* Uses sessions where the library has them; returns whether it has. */
static int with_session(void)
{
#if MPI_VERSION >= 4
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  CALL(Session_init, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  CALL(Comm_create_from_group, group, "recorded", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  CALL(Barrier, comm);
  CALL(Comm_free, &comm);
  CALL(Session_finalize, &session);
  print_calls();
  return 1;
#else
  return 0;
#endif
}

int main(int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "";
  int provided;
  if (!strcmp(how, "session"))
    return !with_session();
  if (!strcmp(how, "threads") || !strcmp(how, "regions"))
    CALL(Init_thread, &argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else if (!strcmp(how, "hybrid"))
    CALL(Init_thread, &argc, &argv, MPI_THREAD_FUNNELED, &provided);
  else
    CALL(Init, &argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!strcmp(how, "all")) {
    point_to_point(MPI_COMM_WORLD);
    collective(MPI_COMM_WORLD);
    communicators();
    windows_and_files(argv[2]);
  } else if (!strcmp(how, "threads")) {
    with_threads();
  } else if (!strcmp(how, "left")) {
    left();
  } else if (!strcmp(how, "late")) {
    late(0.3);
  } else if (!strcmp(how, "hybrid")) {
    hybrid();
  } else if (!strcmp(how, "regions")) {
    regions();
  } else if (!strcmp(how, "killed")) {
    killed();
  } else if (!strcmp(how, "abort")) {
    print_calls();
    MPI_Abort(MPI_COMM_WORLD, 7);
  } else if (!strcmp(how, "exit")) {
    print_calls();
    exit(0);
  }
  count("Finalize");
  print_calls();
  return MPI_Finalize();
}
