! What instrumented.c does, in Fortran: known sums in two subroutines, marks, phases and a region.
subroutine leaf(i)
  use hpcrun_lite
  integer, intent(in) :: i
  call hpcrun_lite_counter('items  ', i)
end subroutine

subroutine busy(x)
  real(8), intent(inout) :: x
  integer :: k
  do k = 1, 40000000
    x = x + 1d0 / k
  end do
end subroutine

program annotated
  use hpcrun_lite
  use, intrinsic :: iso_c_binding
  integer :: i
  real(8) :: x
  x = 0
  call hpcrun_lite_phase('setup')
  call hpcrun_lite_mark('begin   ')
  call hpcrun_lite_region_begin('kernel')
  call busy(x)
  call hpcrun_lite_region_end()
  !$omp parallel do num_threads(3)
  do i = 1, 100
    call leaf(i)
    call hpcrun_lite_counter('bytes', 8_c_int64_t)
  end do
  call hpcrun_lite_phase('output')
  call hpcrun_lite_mark(repeat('x', 300))
  call hpcrun_lite_phase()
  print '(f0.6)', x
end program
