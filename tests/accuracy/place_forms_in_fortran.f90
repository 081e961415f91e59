! Constructs in Fortran, see place_forms.py: every line that ends in "@ KIND" has a construct of that kind.
module solver
  implicit none
  integer :: sink = 0
contains
  subroutine spend(amount)
    integer, intent(in) :: amount
    real(8) :: before, now, total
    integer :: i
    call cpu_clock(before)
    total = 0
    do
      do i = 1, 3000
        total = total + 1d0 / i
      end do
      call cpu_clock(now)
      if (now > before + 0.002d0) exit
    end do
    !$omp atomic
    sink = sink + amount + merge(1, 0, total < 0)
  end subroutine

  subroutine cpu_clock(seconds)
    use iso_c_binding
    real(8), intent(out) :: seconds
    integer(c_long) :: now(2)
    integer(c_int) :: status
    interface
      integer(c_int) function clock_gettime(clock, time) bind(c, name="clock_gettime")
        import
        integer(c_int), value :: clock
        integer(c_long) :: time(2)
      end function
    end interface
    status = clock_gettime(3_c_int, now)
    seconds = real(now(1), 8) + real(now(2), 8) * 1d-9
  end subroutine

  subroutine relax(count)
    integer, intent(in) :: count
    integer :: i
    !$omp parallel ! @ parallel
    !$omp do schedule(dynamic) ! @ for
    do i = 1, count
      call spend(i)
    end do
    !$omp end do
    !$omp single ! @ single
    call spend(1)
    !$omp end single
    !$omp critical ! @ critical
    call spend(2)
    !$omp end critical
    !$omp barrier ! @ barrier
    call spend(3)
    !$omp end parallel
    sink = sink + 1
    !$omp parallel do schedule(dynamic) ! @ parallel for
    do i = 1, count
      call spend(i)
    end do
    !$omp end parallel do
    sink = sink + 1
    !$omp parallel workshare ! @ parallel
    sink = sink + 1
    !$omp end parallel workshare
  end subroutine

  recursive subroutine tree(depth)
    integer, value :: depth
    if (depth == 0) then
      call spend(4)
      return
    end if
    !$omp task firstprivate(depth) ! @ task
    call tree(depth - 1)
    !$omp end task
    !$omp task firstprivate(depth) ! @ task
    call tree(depth - 1)
    !$omp end task
    !$omp taskwait ! @ taskwait
  end subroutine

  subroutine last()
    !$omp parallel ! @ parallel
    call spend(5)
    !$omp end parallel
  end subroutine
end module

program forms
  use solver
  implicit none
  integer :: i
  call relax(6)
  !$omp parallel ! @ parallel
  !$omp single ! @ single
  call tree(2)
  !$omp taskgroup ! @ taskgroup
  !$omp task ! @ task
  call spend(6)
  !$omp end task
  !$omp end taskgroup
  !$omp taskloop grainsize(1) ! @ taskloop
  do i = 1, 4
    call spend(i)
  end do
  !$omp end taskloop
  !$omp end single
  !$omp end parallel
  call last()
  call relax(2)
end program
