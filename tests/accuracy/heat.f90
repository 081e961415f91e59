! Fortran with OpenMP: a module procedure with a region, called from the main program.
module grid
contains
  subroutine relax(values, steps)
    real(8), intent(inout) :: values(:)
    integer, intent(in) :: steps
    integer :: i, k
    do k = 1, steps
      !$omp parallel do num_threads(2)
      do i = 2, size(values) - 1
        values(i) = smooth(values(i), i)
      end do
      !$omp end parallel do
    end do
  end subroutine relax

  real(8) function smooth(value, i)
    real(8), intent(in) :: value
    integer, intent(in) :: i
    integer :: j
    smooth = value
    do j = 1, 40
      smooth = sqrt(abs(sin(smooth + i) + 1.0d0))
    end do
  end function smooth
end module grid

program heat
  use grid
  real(8) :: values(200000)
  values = 1.0d0
  call relax(values, 8)
  print *, sum(values) > 0
end program heat
