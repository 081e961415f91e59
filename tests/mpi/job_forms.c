/* Programs of several ranks whose work and span, as the program counts them, follow from their source: job_forms.py.
 * Usage: job_forms THREADS FORM ...: the forms run one after another, with a barrier behind each.  Where a form has
 * regions, each thread does the work of its rank. */
#include <hpcrun-lite.h>
#include <mpi.h>
#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#endif
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

/* Creating communicators joins the ranks of the one that they are created from. */
static void creation(void)
{
  MPI_Comm copy, half, later;
  MPI_Request request;
  work(rank + 1);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  work(ranks - rank);
  MPI_Comm_split(copy, rank % 2, rank, &half);
  work(rank + 1);
  MPI_Comm_idup(copy, &later, &request);
  work(2);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(ranks - rank);
  MPI_Barrier(later);
  MPI_Comm_free(&later);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
}

/* In each half, one rank takes messages from any source and answers all; the slow rank moves. */
static void halves_with_masters(void)
{
  MPI_Comm half;
  int own, size;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_rank(half, &own);
  MPI_Comm_size(half, &size);
  for (int step = 0; step < STEPS; step++) {
    if (own) {
      work_in_region(step % size == own ? 10 : 1);
      MPI_Send(buffer, 1, MPI_INT, 0, step, half);
    }
    for (int i = 1; i < size && !own; i++)
      MPI_Recv(other, 1, MPI_INT, MPI_ANY_SOURCE, step, half, MPI_STATUS_IGNORE);
    if (!own)
      work(2);
    MPI_Bcast(buffer, 1, MPI_INT, 0, half);
  }
  MPI_Comm_free(&half);
}

/* A communicator that its ranks alone create joins them, but no others; the same ranks create two with one tag. */
static void group(void)
{
  MPI_Group all, even;
  MPI_Comm first, second;
  if (rank % 2)
    return;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_range_incl(all, 1, (int[1][3]){{0, ranks - 1, 2}}, &even);
  work(rank + 1);
  MPI_Comm_create_group(MPI_COMM_WORLD, even, TAG, &first);
  work(ranks - rank);
  MPI_Comm_create_group(MPI_COMM_WORLD, even, TAG, &second);
  work(rank);
  MPI_Barrier(first);
  work(1);
  MPI_Barrier(second);
  MPI_Comm_free(&second);
  MPI_Comm_free(&first);
  MPI_Group_free(&even);
  MPI_Group_free(&all);
}

/* The first rank is a group of its own. */
static MPI_Comm groups_of_first_and_others(MPI_Comm *half)
{
  MPI_Comm both;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, half);
  work(rank + 1);
  MPI_Intercomm_create(*half, 0, MPI_COMM_WORLD, !rank, TAG, &both);
  return both;
}

/* Both groups wait for each other. */
static void two_groups(void)
{
  MPI_Comm half, merged, both = groups_of_first_and_others(&half);
  work(rank ? 1 : 7);
  MPI_Barrier(both);
  work(rank ? 5 : 1);
  MPI_Intercomm_merge(both, rank > 0, &merged);
  work(2);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

/* One group waits for the root of the other one, or that for the group; the root's own group takes no part. */
static void roots_of_groups(void)
{
  MPI_Comm half, both = groups_of_first_and_others(&half);
  int beside_first = rank ? 0 : MPI_ROOT, beside_second = rank == 1 ? MPI_ROOT : rank ? MPI_PROC_NULL : 0;
  work(rank ? 1 : 6);
  MPI_Bcast(buffer, 1, MPI_INT, beside_first, both);
  work(rank ? rank : 1);
  MPI_Reduce(buffer, other, 1, MPI_INT, MPI_SUM, beside_first, both);
  work(rank == 1 ? 20 : 3);
  MPI_Bcast(buffer, 1, MPI_INT, beside_second, both);
  work(rank > 1 ? 20 : 1);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

/* A synchronous send ends after its receive has begun: also one for any source, and one that another call completes. */
static void synchronous(void)
{
  MPI_Request request;
  if (rank > 1)
    return;
  if (rank) {
    work(7);
    receive_from(0);
    work(20);
    MPI_Recv(other, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(30);
    receive_from(0);
    return;
  }
  work(1);
  MPI_Ssend(buffer, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
  work(9);
  MPI_Ssend(buffer, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
  work(4);
  MPI_Issend(buffer, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
  work(5);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  work(6);
}

/* Sends and receives with one request, where the library has that. */
static void both_ways(void)
{
  int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  work(rank ? 1 : 20);
#if MPI_VERSION >= 4
  MPI_Request request[2];
  MPI_Isendrecv(buffer, 1, MPI_INT, right, TAG, other, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &request[0]);
  MPI_Isendrecv_replace(buffer, 1, MPI_INT, right, TAG + 1, left, TAG + 1, MPI_COMM_WORLD, &request[1]);
#else
  MPI_Request request[4];
  MPI_Irecv(other, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &request[0]);
  MPI_Isend(buffer, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &request[1]);
  MPI_Irecv(other + 1, 1, MPI_INT, left, TAG + 1, MPI_COMM_WORLD, &request[2]);
  MPI_Isend(buffer, 1, MPI_INT, right, TAG + 1, MPI_COMM_WORLD, &request[3]);
#endif
  work(2);
  MPI_Waitall(sizeof request / sizeof *request, request, MPI_STATUSES_IGNORE);
  work(rank == 1 ? 20 : 1);
}

/* Persistent ones, where the library has them. */
static void repeated_collectives(void)
{
  MPI_Request request;
#if MPI_VERSION >= 4
  MPI_Allreduce_init(buffer, other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
#endif
  for (int step = 0; step < STEPS; step++) {
    work(step % ranks == rank ? 10 : 1);
#if MPI_VERSION >= 4
    MPI_Start(&request);
#else
    MPI_Iallreduce(buffer, other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
#endif
    work(2);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
#if MPI_VERSION >= 4
  MPI_Request_free(&request);
#endif
}

/* Neighbours in a line, and in a graph in which each rank receives of the next one only. */
static void neighbours(void)
{
  MPI_Comm line, ring;
  MPI_Request request;
  int none = 0, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &none, 0, &line);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &next, MPI_UNWEIGHTED, 1, &before, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &ring);
  for (int step = 0; step < STEPS; step++) {
    work(step % ranks == rank ? 10 : 1);
    MPI_Neighbor_alltoall(buffer, 1, MPI_INT, other, 1, MPI_INT, line);
  }
  for (int step = 0; step < STEPS; step++) {
    work(step % ranks == rank ? 10 : 1);
    MPI_Ineighbor_allgather(buffer, 1, MPI_INT, other, 1, MPI_INT, ring, &request);
    work(2);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&ring);
  MPI_Comm_free(&line);
}

/* Creating and freeing a window joins all ranks, and so does a fence. */
static void window(void)
{
  MPI_Win win;
  work(rank + 1);
  MPI_Win_create(other, sizeof other, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  work(ranks - rank);
  MPI_Win_fence(0, win);
  work(rank + 1);
  MPI_Put(buffer, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  work(ranks - rank);
  MPI_Win_free(&win);
  work(rank);
}

/* Opening a file joins all ranks. */
static void file(void)
{
  MPI_File opened;
  work(rank + 1);
  MPI_File_open(MPI_COMM_WORLD, "job_forms.file", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &opened);
  work(ranks - rank);
  MPI_File_close(&opened);
}

/* So does what they do together with it, where the library joins them. */
static void use_of_file(void)
{
  MPI_File opened;
  work(rank + 1);
  MPI_File_open(MPI_COMM_WORLD, "job_forms.file", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &opened);
  work(ranks - rank);
  MPI_File_write_at_all(opened, 4 * rank, buffer, 1, MPI_INT, MPI_STATUS_IGNORE);
  work(rank + 1);
  MPI_File_read_at_all(opened, 4 * rank, other, 1, MPI_INT, MPI_STATUS_IGNORE);
  work(ranks - rank);
  MPI_File_close(&opened);
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
               {"by_threads", by_threads},
               {"creation", creation},
               {"halves_with_masters", halves_with_masters},
               {"group", group},
               {"two_groups", two_groups},
               {"roots_of_groups", roots_of_groups},
               {"synchronous", synchronous},
               {"both_ways", both_ways},
               {"repeated_collectives", repeated_collectives},
               {"neighbours", neighbours},
               {"window", window},
               {"file", file},
               {"use_of_file", use_of_file}};
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
