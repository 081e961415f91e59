! Constructs as gfortran compiles them: each part prints one line that follows from the source and the threads alone.
module shared_data
  implicit none
  integer :: kept = 3
  !$omp threadprivate(kept)
contains
  recursive integer function fib(n) result(value)
    integer, intent(in) :: n
    integer :: a, b
    if (n < 2) then
      value = n
      return
    end if
    !$omp task shared(a) if(n > 4)
    a = fib(n - 1)
    !$omp end task
    !$omp task shared(b) final(n < 6)
    b = fib(n - 2)
    !$omp end task
    !$omp taskwait
    value = a + b
  end function
end module

program gomp_fortran
  use omp_lib
  use shared_data
  implicit none
  integer :: i, k, sequence, total, grid(0:10, 0:10), values(100), part(4), last
  integer(8) :: sum, other
  integer(omp_lock_kind) :: lock
  integer(omp_nest_lock_kind) :: nest
  integer(omp_event_handle_kind) :: event
  integer, allocatable :: held(:)
  real(16) :: wide

  sum = 0
  sequence = 1
  !$omp parallel do schedule(dynamic, 3) reduction(+:sum) ordered lastprivate(last)
  do i = 1, 200
    sum = sum + i * i
    !$omp ordered
    sequence = mod(sequence * 31 + i, 100003)
    !$omp end ordered
    last = i
  end do
  !$omp parallel do schedule(guided) reduction(+:sum) collapse(2)
  do i = 10, 1, -2
    do k = 1, 7
      sum = sum + i * k
    end do
  end do
  !$omp parallel do schedule(runtime) reduction(+:sum)
  do i = 1, 100
    sum = sum + i
  end do
  print '(a, 3i10)', 'loops', sum, sequence, last

  grid = 1
  !$omp parallel do ordered(2) schedule(dynamic, 1)
  do i = 1, 10
    do k = 1, 10
      !$omp ordered depend(sink: i - 1, k) depend(sink: i, k - 1)
      grid(i, k) = grid(i - 1, k) + grid(i, k - 1)
      !$omp ordered depend(source)
    end do
  end do
  print '(a, i10)', 'doacross', grid(10, 10)

  part = 0
  !$omp parallel sections
  part(1) = 1
  !$omp section
  part(2) = 2
  !$omp section
  part(3) = 3
  !$omp end parallel sections
  !$omp parallel reduction(+:part)
  !$omp sections
  part(4) = part(4) + 4
  !$omp section
  part(1) = part(1) + 10
  !$omp end sections nowait
  !$omp workshare
  values = 7
  !$omp end workshare
  !$omp end parallel
  print '(a, 5i6)', 'sections', part, values(100)

  total = 0
  kept = 20
  !$omp parallel private(k) copyin(kept) reduction(+:total) num_threads(3)
  !$omp single
  k = 5
  !$omp end single copyprivate(k)
  !$omp master
  total = total + 1000
  !$omp end master
  total = total + k + kept + omp_get_thread_num()
  !$omp barrier
  !$omp end parallel
  print '(a, i6)', 'single', total

  total = 0
  other = 0
  wide = 0
  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
  !$omp parallel do schedule(dynamic, 10)
  do i = 1, 500
    !$omp critical
    total = total + i
    !$omp end critical
    !$omp critical (named)
    other = other + i
    !$omp end critical (named)
    !$omp atomic
    wide = wide + i
    call omp_set_lock(lock)
    sequence = sequence + 1
    call omp_unset_lock(lock)
    do while (.not. omp_test_lock(lock))
    end do
    sequence = sequence + 1
    call omp_unset_lock(lock)
    call omp_set_nest_lock(nest)
    grid(1, 1) = omp_test_nest_lock(nest)
    call omp_unset_nest_lock(nest)
    call omp_unset_nest_lock(nest)
  end do
  call omp_destroy_lock(lock)
  call omp_destroy_nest_lock(nest)
  print '(a, 5i8)', 'exclusion', total, other, int(wide), sequence, grid(1, 1)

  allocate (held(1000))
  held = 2
  total = 0
  !$omp parallel
  !$omp single
  k = fib(12)
  do i = 1, 10
    held(1) = i
    !$omp task firstprivate(held, i) untied priority(i)
    !$omp atomic
    total = total + held(1) * held(1000) * i
    !$omp end task
  end do
  !$omp taskgroup
  do i = 1, 20
    !$omp task depend(inout: sequence) shared(sequence)
    sequence = mod(sequence * 7 + i, 10007)
    !$omp end task
  end do
  !$omp end taskgroup
  !$omp task detach(event)
  !$omp atomic
  total = total + 1
  !$omp end task
  call omp_fulfill_event(event)
  !$omp taskwait
  !$omp taskloop grainsize(5) firstprivate(k) shared(total)
  do i = 100, 1, -3
    !$omp atomic
    total = total + mod(k, 10) * i
  end do
  !$omp taskloop num_tasks(3) reduction(+:sum)
  do i = 1, 100
    sum = sum + i
  end do
  !$omp end single
  !$omp end parallel
  print '(a, 3i8, i10)', 'tasks', k, total, sequence, sum

  sum = 0
  call omp_set_max_active_levels(2)
  !$omp parallel num_threads(2) reduction(+:sum)
  !$omp parallel do num_threads(2) reduction(+:sum) schedule(dynamic)
  do i = 1, 10
    sum = sum + i * omp_get_level() + omp_get_ancestor_thread_num(0)
  end do
  !$omp end parallel
  print '(a, i8)', 'nested', sum
  deallocate (held)
end program
