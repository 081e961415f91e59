/* Programs of several ranks whose work and span, as the program counts them, follow from their source: job_forms.py.
 * Usage: job_forms THREADS FORM ...: the forms run one after another, with a barrier behind each.  Where a form has
 * regions, each thread does the work of its rank. */
#include <hpcrun-lite.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 7, STEPS = 4, LARGE = 100000 };

static int rank, ranks, threads;
static int buffer[LARGE], other[LARGE];

static void work(int units)
{
  hpcrun_lite_add_work((uint64_t)units);
}

static void work_in_region(int units)
{
#pragma omp parallel num_threads(threads)
  work(units);
}

static void send_to(int peer)
{
  MPI_Send(buffer, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD);
}

static void receive_from(int peer)
{
  MPI_Recv(other, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A message goes round. */
static void ring(void)
{
  if (rank)
    receive_from(rank - 1);
  work_in_region(10 + rank);
  send_to((rank + 1) % ranks);
  if (rank)
    return;
  receive_from(ranks - 1);
  work(5);
}

/* The master takes results in any order. */
static void master(void)
{
  if (rank) {
    receive_from(0);
    work_in_region(10 * rank);
    send_to(0);
    return;
  }
  work(2);
  for (int worker = 1; worker < ranks; worker++)
    send_to(worker);
  for (int worker = 1; worker < ranks; worker++)
    MPI_Recv(other, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(3);
}

/* Neighbours exchange; the slow rank moves. */
static void halo(void)
{
  int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  for (int step = 0; step < STEPS; step++) {
    work_in_region(step % ranks == rank ? 10 : 1);
    MPI_Sendrecv(buffer, 1, MPI_INT, left, TAG, other, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(buffer, 1, MPI_INT, right, TAG, other, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* The same without blocking, and large enough that the sender has to wait for the receiver. */
static void overlap(void)
{
  int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  for (int step = 0; step < STEPS; step++) {
    MPI_Request requests[4];
    work(step % ranks == rank ? 10 : 1);
    MPI_Irecv(other, LARGE / 2, MPI_INT, left, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(other + LARGE / 2, LARGE / 2, MPI_INT, right, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(buffer, LARGE / 2, MPI_INT, left, TAG, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(buffer, LARGE / 2, MPI_INT, right, TAG, MPI_COMM_WORLD, &requests[3]);
    work_in_region(2);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
}

static void collectives(void)
{
  work_in_region(rank + 1);
  MPI_Reduce(buffer, other, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (!rank)
    work(5);
  MPI_Bcast(buffer, 1, MPI_INT, 0, MPI_COMM_WORLD);
  work(2);
}

static void scan(void)
{
  work(ranks - rank);
  MPI_Scan(buffer, other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  work(1);
}

static void wavefront(void)
{
  for (int step = 0; step < STEPS; step++) {
    if (rank)
      receive_from(rank - 1);
    work_in_region(3);
    if (rank + 1 < ranks)
      send_to(rank + 1);
  }
}

static void split(void)
{
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  work(rank + 1);
  MPI_Barrier(half);
  work(1);
  MPI_Barrier(MPI_COMM_WORLD);
  work(1);
  MPI_Comm_free(&half);
}

static void to_self(void)
{
  MPI_Request request;
  MPI_Irecv(other, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, &request);
  work(4);
  send_to(rank);
  work(3);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(2);
}

static void waitany(void)
{
  MPI_Request requests[ranks];
  if (rank) {
    work(5 * rank);
    send_to(0);
    return;
  }
  for (int i = 1; i < ranks; i++)
    MPI_Irecv(other + i, 1, MPI_INT, i, TAG, MPI_COMM_WORLD, &requests[i - 1]);
  for (int i = 1; i < ranks; i++) {
    int which;
    MPI_Waitany(ranks - 1, requests, &which, MPI_STATUS_IGNORE);
  }
  work(1);
}

/* The receive that is posted first gets the first message, though it is completed last. */
static void order(void)
{
  MPI_Request requests[2];
  if (rank > 1)
    return;
  if (!rank) {
    work(3);
    send_to(1);
    work(20);
    send_to(1);
    return;
  }
  MPI_Irecv(other, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(other + 1, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  work(30);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void persistent(void)
{
  MPI_Request request;
  if (rank % 2 == 0 && rank + 1 == ranks)
    return;
  if (rank % 2)
    MPI_Recv_init(other, 1, MPI_INT, rank - 1, TAG, MPI_COMM_WORLD, &request);
  else
    MPI_Send_init(buffer, 1, MPI_INT, rank + 1, TAG, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 3; i++) {
    if (rank % 2 == 0)
      work(2);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank % 2)
      work(3);
  }
  MPI_Request_free(&request);
}

static void cancelled(void)
{
  MPI_Request request;
  MPI_Irecv(other, 1, MPI_INT, (rank + 1) % ranks, TAG + 1, MPI_COMM_WORLD, &request);
  work(4);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(1);
}

static void later(void)
{
  MPI_Request request;
  work(rank);
  MPI_Iallreduce(buffer, other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  work(6);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(1);
}

static void probe(void)
{
  int there = 0;
  if (rank > 1)
    return;
  if (!rank) {
    work(6);
    send_to(1);
    return;
  }
  work(2);
  while (!there)
    MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  receive_from(0);
  work(1);
}

/* Each thread has a communicator of its own. */
static void by_threads(void)
{
  MPI_Comm own[threads];
  for (int i = 0; i < threads; i++)
    MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
#pragma omp parallel num_threads(threads)
  {
    int thread = omp_get_thread_num();
    work((rank + 1) * (thread + 1));
    MPI_Barrier(own[thread]);
    work(1);
  }
  for (int i = 0; i < threads; i++)
    MPI_Comm_free(&own[i]);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*run)(void);
  } forms[] = {{"ring", ring},
               {"master", master},
               {"halo", halo},
               {"overlap", overlap},
               {"collectives", collectives},
               {"scan", scan},
               {"wavefront", wavefront},
               {"split", split},
               {"to_self", to_self},
               {"waitany", waitany},
               {"order", order},
               {"persistent", persistent},
               {"cancelled", cancelled},
               {"later", later},
               {"probe", probe},
               {"by_threads", by_threads}};
  int provided;
  if (argc < 3)
    return 2;
  threads = atoi(argv[1]);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE)
    return 77;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int word = 2; word < argc; word++) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
      if (!strcmp(forms[i].name, argv[word]))
        forms[i].run();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
