! hpcrun_lite.f90: what hpcrun-lite.h declares for C, for Fortran 2008.  Compile it with the program:
!
!     gfortran -c /usr/include/hpcrun_lite.f90
!     gfortran -fopenmp solve.f90 hpcrun_lite.o
!
! As a file of its own and without -flto: were a procedure inlined, its caller's caller would count as the context.  No
! library to link with (glibc before 2.34: -ldl).  Each procedure is looked up once by dlsym().  A program that runs
! without hpcrun-lite, or under a version that lacks the procedure, runs unchanged.  All procedures may be called from
! any thread.  Trailing blanks are not part of names, of which 255 bytes are kept.
module hpcrun_lite
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: hpcrun_lite_start, hpcrun_lite_stop, hpcrun_lite_region_begin, hpcrun_lite_region_end, &
            hpcrun_lite_add_work, hpcrun_lite_mark, hpcrun_lite_phase, hpcrun_lite_counter

  abstract interface
    subroutine tool_function(name, number) bind(c)
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: name
      integer(c_int64_t), value :: number
    end subroutine
  end interface

  interface
    function find_symbol(handle, symbol) bind(c, name='dlsym')
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: symbol(*)
      type(c_funptr) :: find_symbol
    end function
  end interface

  ! The counter's value may be an integer of either length.
  interface hpcrun_lite_counter
    module procedure counter_of_int32, counter_of_int64
  end interface

  ! What dlsym() has found, by the procedure.  Threads that look up at the same time store the same.
  type :: found_function
    logical :: asked = .false.
    type(c_funptr) :: address
  end type
  integer, parameter :: start = 1, stop_ = 2, region_begin = 3, region_end = 4, add_work = 5, mark = 6, phase = 7, &
                        counter = 8
  type(found_function), save :: found(8)
  integer, parameter :: name_max = 255

contains

  ! Of the procedures below, those with a context are recursive, so that their variables lie in their frame, whatever
  ! options they are compiled with: the tool finds the caller from the address of one of them.

  ! Calls the tool's function of that name, if there is one.
  subroutine call_tool(which, symbol, name, number)
    integer, intent(in) :: which
    character(*), intent(in) :: symbol
    type(c_ptr), intent(in) :: name
    integer(c_int64_t), intent(in) :: number
    procedure(tool_function), pointer :: tool
    type(c_funptr) :: address
    if (found(which)%asked) then
      address = found(which)%address
    else
      address = find_symbol(c_null_ptr, 'hpcrun_lite_tool_' // symbol // c_null_char)
      found(which)%address = address
      found(which)%asked = .true.
    end if
    if (c_associated(address)) then
      call c_f_procpointer(address, tool)
      call tool(name, number)
    end if
  end subroutine

  ! The name as C has it, without trailing blanks.
  subroutine terminated(name, text)
    character(*), intent(in) :: name
    character(kind=c_char), intent(out) :: text(name_max + 1)
    integer :: i, length
    length = min(len_trim(name), name_max)
    do i = 1, length
      text(i) = name(i:i)
    end do
    text(length + 1) = c_null_char
  end subroutine

  ! Start or resume measuring the process.
  subroutine hpcrun_lite_start()
    call call_tool(start, 'start', c_null_ptr, 0_c_int64_t)
  end subroutine

  ! Pause measuring the process.
  subroutine hpcrun_lite_stop()
    call call_tool(stop_, 'stop', c_null_ptr, 0_c_int64_t)
  end subroutine

  ! Enter a named user region of the current task; regions nest.
  recursive subroutine hpcrun_lite_region_begin(name)
    character(*), intent(in) :: name
    character(kind=c_char), target :: text(name_max + 1)
    call terminated(name, text)
    call call_tool(region_begin, 'fortran_region_begin', c_loc(text), 0_c_int64_t)
  end subroutine

  ! Leave the user region that was entered last.
  subroutine hpcrun_lite_region_end()
    call call_tool(region_end, 'region_end', c_null_ptr, 0_c_int64_t)
  end subroutine

  ! Add to the work of the current task, in a unit of the program's choice.
  recursive subroutine hpcrun_lite_add_work(units)
    integer(c_int64_t), intent(in) :: units
    integer(c_int64_t), target :: here
    here = units
    call call_tool(add_work, 'add_work', c_loc(here), units)
  end subroutine

  ! Mark this moment: a line with that name on the timeline.
  recursive subroutine hpcrun_lite_mark(name)
    character(*), intent(in) :: name
    character(kind=c_char), target :: text(name_max + 1)
    call terminated(name, text)
    call call_tool(mark, 'mark', c_loc(text), 0_c_int64_t)
  end subroutine

  ! Begin a phase of the process, which ends the one before; without a name only end that.
  recursive subroutine hpcrun_lite_phase(name)
    character(*), intent(in), optional :: name
    character(kind=c_char), target :: text(name_max + 1)
    if (.not. present(name)) then
      call call_tool(phase, 'phase', c_null_ptr, 0_c_int64_t)
      return
    end if
    call terminated(name, text)
    call call_tool(phase, 'phase', c_loc(text), 0_c_int64_t)
  end subroutine

  ! Count an amount, 0 or more: number, sum, least and most of the values for each calling context and thread.
  recursive subroutine counter_of_int64(name, value)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: value
    character(kind=c_char), target :: text(name_max + 1)
    call terminated(name, text)
    call call_tool(counter, 'fortran_counter', c_loc(text), value)
  end subroutine

  recursive subroutine counter_of_int32(name, value)
    character(*), intent(in) :: name
    integer(c_int32_t), intent(in) :: value
    character(kind=c_char), target :: text(name_max + 1)
    call terminated(name, text)
    call call_tool(counter, 'fortran_counter', c_loc(text), int(value, c_int64_t))
  end subroutine
end module
