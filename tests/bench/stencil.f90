! Fortran: a stencil on a grid, a region for each step, with a reduction.
module stencil
contains
  subroutine step(new, old, change)
    real(8), intent(out) :: new(:, :)
    real(8), intent(in) :: old(:, :)
    real(8), intent(out) :: change
    integer :: i, j
    change = 0
    new = old
    !$omp parallel do num_threads(2) reduction(+:change)
    do j = 2, size(old, 2) - 1
      do i = 2, size(old, 1) - 1
        new(i, j) = 0.25d0 * (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1))
        change = change + sqrt(abs(new(i, j) - old(i, j)))
      end do
    end do
    !$omp end parallel do
  end subroutine step
end module stencil

program main
  use stencil
  real(8), allocatable :: a(:, :), b(:, :)
  real(8) :: change
  integer :: k
  allocate (a(600, 600), b(600, 600))
  a = 0
  a(1, :) = 1
  do k = 1, 300
    call step(b, a, change)
    call step(a, b, change)
  end do
  print *, change > 0
end program main
