/* Calls MPI at the end of a stack of the program's own, above which nothing may be read. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { BYTES = 1 << 20, PAGE = 4096 };
static ucontext_t here, there;

static void communicate(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  char *stack = mmap(NULL, BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED || mprotect(stack + BYTES, PAGE, PROT_NONE) != 0 || getcontext(&there) != 0)
    return 1;
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = BYTES;
  there.uc_link = &here;
  makecontext(&there, communicate, 0);
  swapcontext(&here, &there);
  int one = 1, sum = 0;
  MPI_Sendrecv(&one, 1, MPI_INT, 0, 7, &sum, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  printf("received %d\ncalls Init 1\ncalls Barrier 1\ncalls Sendrecv 1\ncalls Finalize 1\n", sum);
  MPI_Finalize();
  return 0;
}
