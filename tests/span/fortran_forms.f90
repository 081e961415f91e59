! Programs whose work and span follow from their text, see closed_forms.py: fortran_forms NAME THREADS runs one.
module reporting
  use iso_c_binding
  interface
    subroutine u(n) bind(c, name="u")
      import; integer(c_int), value :: n
    end subroutine
  end interface
contains
  recursive subroutine tree(n)
    integer, value :: n
    call u(1)
    if (n == 0) return
    !$omp task
    call tree(n - 1)
    !$omp end task
    !$omp task
    call tree(n - 1)
    !$omp end task
    !$omp taskwait
  end subroutine
end module

program forms
  use reporting
  use omp_lib
  integer :: i, j, x, threads
  real :: a(1000), b(1000), s
  character(32) :: name, number
  call get_command_argument(1, name)
  call get_command_argument(2, number)
  read (number, *) threads
  call omp_set_num_threads(threads)
  select case (name)
  case ("do")
    !$omp parallel do schedule(dynamic,1)
    do i = 1, 10
      call u(i)
    end do
    call u(1)
  case ("tree")
    !$omp parallel
    !$omp single
    call tree(6)
    !$omp end single
    !$omp end parallel
  case ("workshare")
    b = 1
    !$omp parallel
    !$omp workshare
    a = b * 2
    s = sum(a)
    !$omp end workshare
    call u(3)
    !$omp end parallel
    if (s /= 2000) stop 1
  case ("ordered")
    !$omp parallel do ordered schedule(dynamic,1)
    do i = 1, 10
      call u(5)
      !$omp ordered
      call u(2)
      !$omp end ordered
    end do
  case ("depend")
    !$omp parallel
    !$omp single
    do i = 1, 5
      !$omp task depend(inout: x)
      call u(4)
      !$omp end task
      !$omp task depend(in: x)
      call u(1)
      !$omp end task
    end do
    !$omp taskgroup
    !$omp taskloop grainsize(1)
    do j = 1, 6
      call u(30)
    end do
    !$omp end taskloop
    !$omp end taskgroup
    !$omp end single
    !$omp end parallel
  case ("sections")
    !$omp parallel sections
    !$omp section
    call u(3)
    !$omp section
    call u(4)
    !$omp section
    call u(5)
    !$omp section
    call u(6)
    !$omp end parallel sections
  case ("critical")
    !$omp parallel do schedule(dynamic,1) collapse(2)
    do i = 1, 3
      do j = 1, 4
        !$omp critical
        call u(2)
        !$omp end critical
        call u(j)
      end do
    end do
  end select
  print "(a)", "done"
end program
