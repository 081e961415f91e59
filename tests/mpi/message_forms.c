/* Sends messages in every form of MPI-3.1, of sizes that tell the forms apart.  Rank 0 prints what it has sent and
 * received, in bytes, as the program itself counts it; so does rank 1.  2 ranks or more; those beyond take part in what
 * is collective. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;
static uint64_t sent, received;
static int buffer[1 << 16], other[1 << 16];

static void send_count(int count)
{
  sent += (uint64_t)count * sizeof(int);
}

static void receive_count(int count)
{
  received += (uint64_t)count * sizeof(int);
}

/* Between ranks 0 and 1; the one that receives posts for more than arrives. */
static void blocking(void)
{
  if (rank == 0) {
    MPI_Send(buffer, 3, MPI_INT, 1, 7, MPI_COMM_WORLD);
    MPI_Ssend(buffer, 5, MPI_INT, 1, 8, MPI_COMM_WORLD);
    MPI_Sendrecv(buffer, 7, MPI_INT, 1, 9, other, 100, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(buffer, 11, MPI_INT, 1, 10, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send_count(3 + 5 + 7 + 11);
    receive_count(13 + 11);
  } else if (rank == 1) {
    MPI_Status status;
    MPI_Recv(buffer, 100, MPI_INT, 0, 7, MPI_COMM_WORLD, &status);
    MPI_Recv(buffer, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(buffer, 13, MPI_INT, 0, 9, other, 100, MPI_INT, 0, 9, MPI_COMM_WORLD, &status);
    MPI_Sendrecv_replace(buffer, 11, MPI_INT, 0, 10, 0, 10, MPI_COMM_WORLD, &status);
    send_count(13 + 11);
    receive_count(3 + 5 + 7 + 11);
  }
  MPI_Send(buffer, 17, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(buffer, 17, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 receives from rank 1, the last one first. */
static void requests(void)
{
  MPI_Request all[4];
  int index, indices[4], done, flag = 0;
  if (rank == 0) {
    MPI_Irecv(buffer, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &all[0]);
    MPI_Irecv(buffer + 100, 100, MPI_INT, 1, 20, MPI_COMM_WORLD, &all[1]);
    MPI_Irecv(buffer + 200, 100, MPI_INT, 1, 21, MPI_COMM_WORLD, &all[2]);
    all[3] = MPI_REQUEST_NULL;
    MPI_Wait(&all[2], MPI_STATUS_IGNORE);
    MPI_Waitany(4, all, &index, MPI_STATUS_IGNORE);
    MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
    MPI_Irecv(buffer, 100, MPI_INT, 1, 22, MPI_COMM_WORLD, &all[0]);
    while (!flag)
      MPI_Test(&all[0], &flag, MPI_STATUS_IGNORE);
    MPI_Irecv(buffer, 100, MPI_INT, 1, 23, MPI_COMM_WORLD, &all[0]);
    MPI_Irecv(buffer, 100, MPI_INT, 1, 24, MPI_COMM_WORLD, &all[1]);
    for (int left = 2; left; left -= done)
      MPI_Waitsome(2, all, &done, indices, MPI_STATUSES_IGNORE);
    receive_count(20 + 21 + 22 + 23 + 24 + 25);
  } else if (rank == 1) {
    for (int i = 0; i < 2; i++) /* both have tag 20 */
      MPI_Isend(buffer, 20 + i, MPI_INT, 0, 20, MPI_COMM_WORLD, &all[i]);
    MPI_Isend(buffer, 22, MPI_INT, 0, 21, MPI_COMM_WORLD, &all[2]);
    MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++)
      MPI_Issend(buffer, 23 + i, MPI_INT, 0, 22 + i, MPI_COMM_WORLD, &all[i]);
    MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
    send_count(20 + 21 + 22 + 23 + 24 + 25);
  }
}

static void persistent(void)
{
  MPI_Request request;
  if (rank > 1)
    return;
  if (rank == 0)
    MPI_Send_init(buffer, 30, MPI_INT, 1, 30, MPI_COMM_WORLD, &request);
  else
    MPI_Recv_init(buffer, 100, MPI_INT, 0, 30, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 3; i++) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
  if (rank == 0)
    send_count(90);
  else
    receive_count(90);
}

static void probed(void)
{
  if (rank == 0) {
    MPI_Send(buffer, 41, MPI_INT, 1, 40, MPI_COMM_WORLD);
    MPI_Send(buffer, 42, MPI_INT, 1, 41, MPI_COMM_WORLD);
    send_count(41 + 42);
  } else if (rank == 1) {
    MPI_Message message;
    MPI_Request request;
    MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(buffer, 100, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Mprobe(0, 41, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(buffer, 100, MPI_INT, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    receive_count(41 + 42);
  }
}

/* A receive that is cancelled, and messages of a rank to itself. */
static void odd_ones(void)
{
  MPI_Request request;
  MPI_Irecv(buffer, 100, MPI_INT, MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Irecv(buffer, 100, MPI_INT, rank, 51, MPI_COMM_WORLD, &request);
  MPI_Send(other, 51, MPI_INT, rank, 51, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank < 2) {
    send_count(51);
    receive_count(51);
  }
}

/* By the arguments: what a rank puts in, and what it gets. */
static void collectives(void)
{
  int *counts = calloc(2 * (size_t)size, sizeof *counts), *places = counts + size;
  MPI_Request request;
  for (int i = 0; i < size; i++)
    counts[i] = i + 1;
  for (int i = 1; i < size; i++)
    places[i] = places[i - 1] + counts[i - 1];
  int all = size * (size + 1) / 2;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(buffer, 60, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Reduce(buffer, other, 61, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  MPI_Allreduce(buffer, other, 62, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, other, 63, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Gather(buffer, 64, MPI_INT, other, 64, rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
  MPI_Alltoall(buffer, 65, MPI_INT, other, 65, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgatherv(buffer, rank + 1, MPI_INT, other, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Iallreduce(buffer, other, 66, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Scan(buffer, other, 67, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    send_count(60 + 61 + 62 + 63 + 64 + 65 * size + 1 + 66 + 67);
    receive_count(62 + 63 + 64 * size + 65 * size + all + 66 + 67);
  } else if (rank == 1) {
    send_count(61 + 62 + 63 + 64 + 65 * size + 2 + 66 + 67);
    receive_count(60 + 61 + 62 + 63 + 65 * size + all + 66 + 67);
  }
  free(counts);
}

/* Messages on communicators that the ranks create. */
static void communicators(void)
{
  MPI_Comm halves, copy, reversed, inter, merged;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &halves);
  MPI_Comm_set_name(halves, rank % 2 ? "odd ranks, and a long name" : "even ranks");
  MPI_Comm_dup(halves, &copy);
  MPI_Allreduce(buffer, other, 70, MPI_INT, MPI_SUM, copy);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  if (rank == 0)
    MPI_Send(buffer, 71, MPI_INT, size - 2, 70, reversed);
  else if (rank == 1)
    MPI_Recv(buffer, 71, MPI_INT, size - 1, 70, reversed, MPI_STATUS_IGNORE);
  MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, 1 - rank % 2, 72, &inter);
  if (rank == 1)
    MPI_Send(buffer, 73, MPI_INT, 0, 71, inter);
  else if (rank == 0)
    MPI_Recv(buffer, 73, MPI_INT, 0, 71, inter, MPI_STATUS_IGNORE);
  MPI_Intercomm_merge(inter, rank % 2, &merged);
  MPI_Barrier(merged);
  if (rank < 2) {
    send_count(70 + (rank == 0 ? 71 : 73));
    receive_count(70 + (rank == 0 ? 73 : 71));
  }
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&halves);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  blocking();
  requests();
  persistent();
  probed();
  odd_ones();
  collectives();
  communicators();
  if (rank < 2)
    printf("rank %d sent %llu received %llu\n", rank, (unsigned long long)sent, (unsigned long long)received);
  MPI_Finalize();
  return 0;
}
