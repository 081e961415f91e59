/* The transport by MPI.  Context: BATCH (transport.h). */
#include "hpcprof-lite/ranks/transport.h"

#include <assert.h>
#include <mpi.h>
#include <time.h>

/* A message is sent as its size and, once the receiver has that, pieces, because MPI counts in int. */
enum { TAG_SIZE = 1, TAG_PIECE, PIECE_BYTES = 1 << 28 };
enum { PAUSE_MIN_NS = 20 * 1000, PAUSE_MAX_NS = 1000 * 1000 };

/* Waits without keeping a core busy, which another rank may need if there are more ranks than cores. */
static void wait_for(MPI_Request *request)
{
  struct timespec pause = {.tv_nsec = PAUSE_MIN_NS};
  int done = 0;
  MPI_Test(request, &done, MPI_STATUS_IGNORE);
  while (!done) {
    nanosleep(&pause, NULL);
    if (pause.tv_nsec < PAUSE_MAX_NS)
      pause.tv_nsec *= 2;
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
  }
}

static void start(uint32_t *rank, uint32_t *size)
{
  int mine = 0, all = 1, provided;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  *rank = (uint32_t)mine;
  *size = (uint32_t)all;
}

static int piece_bytes(uint64_t left)
{
  return left < PIECE_BYTES ? (int)left : PIECE_BYTES;
}

static void send(uint32_t to, const void *bytes, uint64_t size)
{
  assert(bytes || !size);
  MPI_Request request;
  const char *next = bytes;
  MPI_Issend(&size, 1, MPI_UINT64_T, (int)to, TAG_SIZE, MPI_COMM_WORLD, &request);
  wait_for(&request);
  for (uint64_t left = size; left; left -= (uint64_t)piece_bytes(left), next += PIECE_BYTES)
    MPI_Send(next, piece_bytes(left), MPI_BYTE, (int)to, TAG_PIECE, MPI_COMM_WORLD);
}

static uint64_t expect(uint32_t from)
{
  MPI_Request request;
  uint64_t size = 0;
  MPI_Irecv(&size, 1, MPI_UINT64_T, (int)from, TAG_SIZE, MPI_COMM_WORLD, &request);
  wait_for(&request);
  return size;
}

static void take(uint32_t from, void *bytes, uint64_t size)
{
  assert(bytes || !size);
  char *next = bytes;
  for (uint64_t left = size; left; left -= (uint64_t)piece_bytes(left), next += PIECE_BYTES)
    MPI_Recv(next, piece_bytes(left), MPI_BYTE, (int)from, TAG_PIECE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void stop(void)
{
  MPI_Finalize();
}

extern const struct transport transport;
const struct transport transport = {.start = start, .send = send, .expect = expect, .take = take, .stop = stop};
