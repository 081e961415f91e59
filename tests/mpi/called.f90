! Calls MPI by the module mpi or, with -DF08, mpi_f08, and prints how often it has called each function.
program called
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, size, error, i, in(16), out(16)
#ifdef F08
  type(MPI_Request) :: requests(2)
#else
  integer :: requests(2)
#endif
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  out = rank
  in = -1
  do i = 1, 20
    call MPI_Irecv(in, 16, MPI_INTEGER, mod(rank + size - 1, size), i, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(out, 16, MPI_INTEGER, mod(rank + 1, size), i, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  end do
  call MPI_Sendrecv(out, 16, MPI_INTEGER, mod(rank + 1, size), 0, in, 16, MPI_INTEGER, mod(rank + size - 1, size), 0, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Allreduce(out, in, 16, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  print '(a, i0)', 'sum ', sum(in)
  print '(a)', 'calls Init 1', 'calls Irecv 20', 'calls Isend 20', 'calls Waitall 20', 'calls Sendrecv 1', &
    'calls Allreduce 1', 'calls Barrier 1', 'calls Finalize 1'
  call MPI_Finalize(error)
end program called
