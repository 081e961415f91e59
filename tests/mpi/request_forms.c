/* Requests whose handles other requests have, or that the tool does not follow.  The first argument says which. */
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int rank, size;
static char out[64], in[64];
static pthread_barrier_t posted;

static void *waits(void *unused)
{
  MPI_Request requests[2];
  MPI_Isend(out, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in, 8, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &requests[1]);
  pthread_barrier_wait(&posted);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return unused;
}

/* While a thread waits, the master begins a send: it may get the handle of the thread's own.  Prints how many bytes of
 * the blocks that it allocates meanwhile are written by others. */
static void shared(void)
{
  enum { BLOCKS = 4000, BYTES = 64 };
  static unsigned char *blocks[BLOCKS];
  pthread_t thread;
  MPI_Request request;
  int bad = 0;
  if (rank == 1) {
    for (int tag = 1; tag <= 4; tag++)
      if (tag != 2)
        MPI_Recv(in, 8, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, 8, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    return;
  }
  pthread_barrier_init(&posted, NULL, 2);
  pthread_create(&thread, NULL, waits, NULL);
  pthread_barrier_wait(&posted);
  usleep(300000);
  MPI_Isend(out, 8, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < BLOCKS; i++)
    blocks[i] = memset(malloc(BYTES), 1, BYTES);
  MPI_Send(out, 8, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
  pthread_join(thread, NULL);
  for (int i = 0; i < BLOCKS; i++)
    for (int k = 0; k < BYTES; k++)
      bad += blocks[i][k] != 1;
  printf("%d bytes are overwritten\n", bad);
}

/* Many small sends, some of which one call completes, and messages to no process. */
static void many(void)
{
  enum { COUNT = 40 };
  MPI_Request requests[COUNT + 3];
  int index, done, indices[COUNT + 3];
  for (int i = 0; i < COUNT; i++)
    if (rank == 0)
      MPI_Isend(out, 1 + i % 2, MPI_CHAR, 1, i, MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Irecv(in, 9, MPI_CHAR, 0, i, MPI_COMM_WORLD, &requests[i]);
  MPI_Isend(out, 8, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[COUNT]);
  MPI_Irecv(in, 8, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[COUNT + 1]);
  requests[COUNT + 2] = MPI_REQUEST_NULL;
  MPI_Waitany(COUNT + 3, requests, &index, MPI_STATUS_IGNORE);
  MPI_Waitsome(COUNT + 3, requests, &done, indices, MPI_STATUSES_IGNORE);
  MPI_Waitall(COUNT + 3, requests, MPI_STATUSES_IGNORE);
}

/* Between the first rank and the others.  An array with an element for each rank of the own group ends at memory that
 * may not be read. */
static void groups(void)
{
  enum { PAGE = 4096, TOTAL = 4 };
  int put[TOTAL] = {1, 1, 1, 1}, got[TOTAL], second = rank > 0, own = second ? size - 1 : 1;
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, second, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !second, 7, &both);
  char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(page + PAGE, PAGE, PROT_NONE);
  int *counts = (int *)(page + PAGE) - own;
  for (int i = 0; i < own; i++)
    counts[i] = TOTAL / own;
  MPI_Reduce_scatter(put, got, counts, MPI_INT, MPI_SUM, both);
  MPI_Reduce_scatter_block(put, got, TOTAL / own, MPI_INT, MPI_SUM, both);
  printf("rank %d has %d\n", rank, got[0]);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

static void *waits_for_nothing(void *unused)
{
  MPI_Request requests[40];
  for (int i = 0; i < 40; i++)
    requests[i] = MPI_REQUEST_NULL;
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Waitall(40, requests, MPI_STATUSES_IGNORE);
  return unused;
}

/* Prints whether threads that have called MPI and ended leave memory. */
static void threads(void)
{
  size_t before = 0;
  for (int i = 0; i < 2000; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, waits_for_nothing, NULL);
    pthread_join(thread, NULL);
    if (i == 999)
      before = mallinfo2().uordblks;
  }
  size_t more = mallinfo2().uordblks - before;
  printf("threads leave %s\n", (ssize_t)more > 500000 ? "memory" : "nothing");
}

/* A request of a file is not followed; one that is null completes nothing. */
static void of_file(const char *path)
{
  MPI_File file;
  MPI_Request request;
  MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  MPI_File_iwrite(file, out, 8, MPI_CHAR, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  MPI_File_close(&file);
}

int main(int argc, char **argv)
{
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!strcmp(argv[1], "shared"))
    shared();
  else if (!strcmp(argv[1], "many"))
    many();
  else if (!strcmp(argv[1], "groups"))
    groups();
  else if (!strcmp(argv[1], "threads"))
    threads();
  else
    of_file(argv[2]);
  MPI_Finalize();
  return 0;
}
