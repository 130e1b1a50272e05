!> Swapmeet's public interface for `use mpi_f08`. swapmeet.h describes what each procedure does; here is how it is called.
!>
!> Compile this file with the compiler and the MPI of the program, and link with libswapmeet: docs/api.md.
!> As in mpi_f08, `ierror` may be left out. Procedures that raise no errors on a communicator (all but the three
!> exchanges) then end the program, as an `allocate` without `stat=` does.
!> Buffers are whole arrays or contiguous sections (MPI_ERR_BUFFER otherwise), MPI_IN_PLACE or MPI_BOTTOM. Those of a plan
!> need the attribute `asynchronous`, where the exchange is under way in the scope.
!> Programs with `use mpi` or mpif.h convert their handles: `type(MPI_Comm)` has one component, `MPI_VAL`, the integer.
module swapmeet
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_f_pointer, c_int, c_int64_t, c_intptr_t, c_long_long, &
    c_associated, c_null_char, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  implicit none
  private

  public :: swapmeet_version, swapmeet_built_for, swapmeet_error_message, swapmeet_set_algorithm
  public :: swapmeet_memory_allocate, swapmeet_memory_free
  public :: swapmeet_phases_begin, swapmeet_phases_end, swapmeet_phase_name, swapmeet_trace
  public :: swapmeet_alltoall, swapmeet_alltoallv, swapmeet_alltoallw
  public :: swapmeet_plan_alltoall, swapmeet_plan_alltoallv, swapmeet_plan_alltoallw
  public :: swapmeet_sparse_alltoallv, swapmeet_sparse_free
  public :: swapmeet_plan_start, swapmeet_plan_test, swapmeet_plan_wait, swapmeet_plan_free, swapmeet_plan_describe

  enum, bind(c)
    enumerator :: SWAPMEET_PHASE_PACK, SWAPMEET_PHASE_TRANSFER, SWAPMEET_PHASE_WAIT, SWAPMEET_PHASE_UNPACK
    enumerator :: SWAPMEET_PHASE_COPY, SWAPMEET_PHASE_METADATA, SWAPMEET_PHASE_NATIVE, SWAPMEET_PHASE_OTHER
    enumerator :: SWAPMEET_PHASES
  end enum
  public :: SWAPMEET_PHASE_PACK, SWAPMEET_PHASE_TRANSFER, SWAPMEET_PHASE_WAIT, SWAPMEET_PHASE_UNPACK, &
    SWAPMEET_PHASE_COPY, SWAPMEET_PHASE_METADATA, SWAPMEET_PHASE_NATIVE, SWAPMEET_PHASE_OTHER, SWAPMEET_PHASES

  type, bind(c), public :: swapmeet_plan
    private
    type(c_ptr) :: address = c_null_ptr
  end type

  type, public :: swapmeet_plan_description
    character(:), allocatable :: spec, reason
    integer(c_long_long) :: messages, bytes, scratch_bytes
    real(c_double) :: expected_seconds
  end type

  !> What a sparse exchange has brought: `count` messages, by index from 1. c_f_pointer makes an array of data(i), of
  !> sizes(i) bytes; it is null where a message has none. To be given back by swapmeet_sparse_free.
  type, public :: swapmeet_sparse_messages
    integer :: count = 0
    integer(c_int), pointer :: sources(:) => null()
    integer(c_int64_t), pointer :: sizes(:) => null()
    type(c_ptr), pointer :: data(:) => null()
    type(c_ptr), private :: address = c_null_ptr
  end type

  type, bind(c) :: sparse_in_c
    integer(c_int) :: count
    type(c_ptr) :: sources, sizes, data
  end type

  type, bind(c) :: description_in_c
    type(c_ptr) :: spec, reason
    integer(c_long_long) :: messages, bytes, scratch_bytes
    real(c_double) :: expected_seconds
  end type

  !> Counts and displacements are default integers, or all of MPI_COUNT_KIND and MPI_ADDRESS_KIND.
  interface swapmeet_alltoall
    procedure alltoall, alltoall_c
  end interface
  interface swapmeet_alltoallv
    procedure alltoallv, alltoallv_c
  end interface
  interface swapmeet_alltoallw
    procedure alltoallw, alltoallw_c
  end interface
  interface swapmeet_sparse_alltoallv
    procedure sparse, sparse_c
  end interface
  interface swapmeet_plan_alltoall
    procedure plan_alltoall, plan_alltoall_c
  end interface
  interface swapmeet_plan_alltoallv
    procedure plan_alltoallv, plan_alltoallv_c
  end interface
  interface swapmeet_plan_alltoallw
    procedure plan_alltoallw, plan_alltoallw_c
  end interface

  ! The C functions; of src/api/fortran.cpp where handles or buffers must be converted. Without a plan they exchange now.
  interface
    integer(c_int) function exchange(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, spec, &
      plan) bind(c, name="swapmeet_fortran_alltoall")
      import :: c_char, c_int, c_ptr, swapmeet_plan
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: sendcount, recvcount
      integer(c_int), value :: sendtype, recvtype, comm
      character(kind=c_char), optional, intent(in) :: spec(*)
      type(swapmeet_plan), optional, intent(inout) :: plan
    end function

    integer(c_int) function exchange_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, spec, &
      plan) bind(c, name="swapmeet_fortran_alltoall_c")
      import :: c_char, c_int, c_ptr, swapmeet_plan, c_int64_t
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int64_t), value :: sendcount, recvcount
      integer(c_int), value :: sendtype, recvtype, comm
      character(kind=c_char), optional, intent(in) :: spec(*)
      type(swapmeet_plan), optional, intent(inout) :: plan
    end function

    integer(c_int) function exchangev(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, &
      recvtype, comm, spec, plan) bind(c, name="swapmeet_fortran_alltoallv")
      import :: c_char, c_int, c_ptr, swapmeet_plan
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), intent(in) :: sendcounts(*), recvcounts(*), sdispls(*), rdispls(*)
      integer(c_int), value :: sendtype, recvtype, comm
      character(kind=c_char), optional, intent(in) :: spec(*)
      type(swapmeet_plan), optional, intent(inout) :: plan
    end function

    integer(c_int) function exchangev_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, &
      recvtype, comm, spec, plan) bind(c, name="swapmeet_fortran_alltoallv_c")
      import :: c_char, c_int, c_ptr, swapmeet_plan, c_int64_t, c_intptr_t
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int64_t), intent(in) :: sendcounts(*), recvcounts(*)
      integer(c_intptr_t), intent(in) :: sdispls(*), rdispls(*)
      integer(c_int), value :: sendtype, recvtype, comm
      character(kind=c_char), optional, intent(in) :: spec(*)
      type(swapmeet_plan), optional, intent(inout) :: plan
    end function

    integer(c_int) function exchangew(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, &
      recvtypes, comm, spec, plan) bind(c, name="swapmeet_fortran_alltoallw")
      import :: c_char, c_int, c_ptr, swapmeet_plan, MPI_Datatype
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), intent(in) :: sendcounts(*), recvcounts(*), sdispls(*), rdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*), recvtypes(*)
      integer(c_int), value :: comm
      character(kind=c_char), optional, intent(in) :: spec(*)
      type(swapmeet_plan), optional, intent(inout) :: plan
    end function

    integer(c_int) function exchangew_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, &
      recvtypes, comm, spec, plan) bind(c, name="swapmeet_fortran_alltoallw_c")
      import :: c_char, c_int, c_ptr, swapmeet_plan, c_int64_t, c_intptr_t, MPI_Datatype
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int64_t), intent(in) :: sendcounts(*), recvcounts(*)
      integer(c_intptr_t), intent(in) :: sdispls(*), rdispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*), recvtypes(*)
      integer(c_int), value :: comm
      character(kind=c_char), optional, intent(in) :: spec(*)
      type(swapmeet_plan), optional, intent(inout) :: plan
    end function

    integer(c_int) function sparse_exchange(sendbuf, messages, destinations, sendcounts, sdispls, sendtype, comm, &
      received) bind(c, name="swapmeet_fortran_sparse_alltoallv")
      import :: c_int, c_int64_t, c_intptr_t, c_ptr
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: messages
      integer(c_int), intent(in) :: destinations(*)
      integer(c_int64_t), intent(in) :: sendcounts(*)
      integer(c_intptr_t), intent(in) :: sdispls(*)
      integer(c_int), value :: sendtype, comm
      type(c_ptr), intent(inout) :: received
    end function

    integer(c_int) function sparse_free(received) bind(c, name="swapmeet_sparse_free")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: received
    end function

    type(c_ptr) function converted(buffer, in_place, bottom) bind(c, name="swapmeet_fortran_buffer")
      import :: c_ptr
      type(*), dimension(..), intent(in) :: buffer, in_place, bottom
    end function

    integer(c_int) function set_algorithm(comm, spec) bind(c, name="swapmeet_fortran_set_algorithm")
      import :: c_char, c_int
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: spec(*)
    end function

    integer(c_int) function memory_allocate(comm, bytes, base) bind(c, name="swapmeet_fortran_memory_allocate")
      import :: c_int, c_ptr, c_intptr_t
      integer(c_int), value :: comm
      integer(c_intptr_t), value :: bytes
      type(c_ptr), intent(inout) :: base
    end function

    integer(c_int) function memory_free(base) bind(c, name="swapmeet_memory_free")
      import :: c_int, c_ptr
      type(c_ptr), value :: base
    end function

    integer(c_int) function phases_begin(comm) bind(c, name="swapmeet_fortran_phases_begin")
      import :: c_int
      integer(c_int), value :: comm
    end function

    integer(c_int) function phases_end(comm, seconds) bind(c, name="swapmeet_fortran_phases_end")
      import :: c_double, c_int
      integer(c_int), value :: comm
      real(c_double), intent(inout) :: seconds(*)
    end function

    integer(c_int) function trace(comm, file) bind(c, name="swapmeet_fortran_trace")
      import :: c_char, c_int
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: file(*)
    end function

    integer(c_int) function plan_start(plan) bind(c, name="swapmeet_plan_start")
      import :: c_int, swapmeet_plan
      type(swapmeet_plan), value :: plan
    end function

    integer(c_int) function plan_test(plan, done) bind(c, name="swapmeet_plan_test")
      import :: c_int, swapmeet_plan
      type(swapmeet_plan), value :: plan
      integer(c_int), intent(inout) :: done
    end function

    integer(c_int) function plan_wait(plan) bind(c, name="swapmeet_plan_wait")
      import :: c_int, swapmeet_plan
      type(swapmeet_plan), value :: plan
    end function

    integer(c_int) function plan_free(plan) bind(c, name="swapmeet_plan_free")
      import :: c_int, swapmeet_plan
      type(swapmeet_plan), intent(inout) :: plan
    end function

    integer(c_int) function plan_describe(plan, description) bind(c, name="swapmeet_plan_describe")
      import :: c_int, description_in_c, swapmeet_plan
      type(swapmeet_plan), value :: plan
      type(description_in_c), intent(inout) :: description
    end function

    type(c_ptr) function version() bind(c, name="swapmeet_version")
      import :: c_ptr
    end function

    type(c_ptr) function built_for() bind(c, name="swapmeet_built_for")
      import :: c_ptr
    end function

    type(c_ptr) function phase_name(phase) bind(c, name="swapmeet_phase_name")
      import :: c_int, c_ptr
      integer(c_int), value :: phase
    end function

    type(c_ptr) function error_message() bind(c, name="swapmeet_error_message")
      import :: c_ptr
    end function

    integer(c_size_t) function strlen(text) bind(c)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
  end interface

contains

  function swapmeet_version() result(text)
    character(:), allocatable :: text
    text = string(version())
  end function

  function swapmeet_built_for() result(text)
    character(:), allocatable :: text
    text = string(built_for())
  end function

  !> Empty if there is no such phase.
  function swapmeet_phase_name(phase) result(text)
    integer, intent(in) :: phase
    character(:), allocatable :: text
    text = string(phase_name(int(phase, c_int)))
  end function

  function swapmeet_error_message() result(text)
    character(:), allocatable :: text
    text = string(error_message())
  end function

  !> Without `spec`: the value of SWAPMEET_ALGORITHM again.
  subroutine swapmeet_set_algorithm(comm, spec, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(*), optional, intent(in) :: spec
    integer, optional, intent(out) :: ierror
    call report(set_algorithm(comm%MPI_VAL, terminated(spec)), ierror)
  end subroutine

  !> c_f_pointer makes an array of `base`, which is unchanged on an error.
  subroutine swapmeet_memory_allocate(comm, bytes, base, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(MPI_ADDRESS_KIND), intent(in) :: bytes
    type(c_ptr), intent(inout) :: base
    integer, optional, intent(out) :: ierror
    call report(memory_allocate(comm%MPI_VAL, bytes, base), ierror)
  end subroutine

  subroutine swapmeet_memory_free(base, ierror)
    type(c_ptr), intent(in) :: base
    integer, optional, intent(out) :: ierror
    call report(memory_free(base), ierror)
  end subroutine

  subroutine swapmeet_phases_begin(comm, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    call report(phases_begin(comm%MPI_VAL), ierror)
  end subroutine

  !> The caller's array best begins with index 0: seconds(SWAPMEET_PHASE_WAIT).
  subroutine swapmeet_phases_end(comm, seconds, ierror)
    type(MPI_Comm), intent(in) :: comm
    real(c_double), intent(inout) :: seconds(SWAPMEET_PHASES)
    integer, optional, intent(out) :: ierror
    call report(phases_end(comm%MPI_VAL, seconds), ierror)
  end subroutine

  subroutine swapmeet_trace(comm, file, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: file
    integer, optional, intent(out) :: ierror
    call report(trace(comm%MPI_VAL, terminated(file)), ierror)
  end subroutine

  subroutine alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
    type(*), dimension(..), intent(in) :: sendbuf
    type(*), dimension(..) :: recvbuf
    integer, intent(in) :: sendcount, recvcount
    type(MPI_Datatype), intent(in) :: sendtype, recvtype
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    if (refused(sendbuf, recvbuf, comm, ierror)) return
    call return_error(exchange(address(sendbuf), sendcount, sendtype%MPI_VAL, address(recvbuf), recvcount, &
      recvtype%MPI_VAL, comm%MPI_VAL), ierror)
  end subroutine

  subroutine alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
    type(*), dimension(..), intent(in) :: sendbuf
    type(*), dimension(..) :: recvbuf
    integer(MPI_COUNT_KIND), intent(in) :: sendcount, recvcount
    type(MPI_Datatype), intent(in) :: sendtype, recvtype
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    if (refused(sendbuf, recvbuf, comm, ierror)) return
    call return_error(exchange_c(address(sendbuf), sendcount, sendtype%MPI_VAL, address(recvbuf), recvcount, &
      recvtype%MPI_VAL, comm%MPI_VAL), ierror)
  end subroutine

  subroutine alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, ierror)
    type(*), dimension(..), intent(in) :: sendbuf
    type(*), dimension(..) :: recvbuf
    integer, intent(in) :: sendcounts(*), recvcounts(*), sdispls(*), rdispls(*)
    type(MPI_Datatype), intent(in) :: sendtype, recvtype
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    if (refused(sendbuf, recvbuf, comm, ierror)) return
    call return_error(exchangev(address(sendbuf), sendcounts, sdispls, sendtype%MPI_VAL, address(recvbuf), &
      recvcounts, rdispls, recvtype%MPI_VAL, comm%MPI_VAL), ierror)
  end subroutine

  subroutine alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, ierror)
    type(*), dimension(..), intent(in) :: sendbuf
    type(*), dimension(..) :: recvbuf
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*), recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*), rdispls(*)
    type(MPI_Datatype), intent(in) :: sendtype, recvtype
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    if (refused(sendbuf, recvbuf, comm, ierror)) return
    call return_error(exchangev_c(address(sendbuf), sendcounts, sdispls, sendtype%MPI_VAL, address(recvbuf), &
      recvcounts, rdispls, recvtype%MPI_VAL, comm%MPI_VAL), ierror)
  end subroutine

  subroutine alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, ierror)
    type(*), dimension(..), intent(in) :: sendbuf
    type(*), dimension(..) :: recvbuf
    integer, intent(in) :: sendcounts(*), recvcounts(*), sdispls(*), rdispls(*)
    type(MPI_Datatype), intent(in) :: sendtypes(*), recvtypes(*)
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    if (refused(sendbuf, recvbuf, comm, ierror)) return
    call return_error(exchangew(address(sendbuf), sendcounts, sdispls, sendtypes, address(recvbuf), recvcounts, &
      rdispls, recvtypes, comm%MPI_VAL), ierror)
  end subroutine

  subroutine alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, &
    ierror)
    type(*), dimension(..), intent(in) :: sendbuf
    type(*), dimension(..) :: recvbuf
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*), recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*), rdispls(*)
    type(MPI_Datatype), intent(in) :: sendtypes(*), recvtypes(*)
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    if (refused(sendbuf, recvbuf, comm, ierror)) return
    call return_error(exchangew_c(address(sendbuf), sendcounts, sdispls, sendtypes, address(recvbuf), recvcounts, &
      rdispls, recvtypes, comm%MPI_VAL), ierror)
  end subroutine

  subroutine sparse(sendbuf, messages, destinations, sendcounts, sdispls, sendtype, comm, received, ierror)
    type(*), dimension(..), intent(in) :: sendbuf
    integer, intent(in) :: messages, destinations(*), sendcounts(*), sdispls(*)
    type(MPI_Datatype), intent(in) :: sendtype
    type(MPI_Comm), intent(in) :: comm
    type(swapmeet_sparse_messages), intent(inout) :: received
    integer, optional, intent(out) :: ierror
    integer :: n
    n = max(0, messages)
    call sparse_c(sendbuf, messages, destinations, int(sendcounts(:n), MPI_COUNT_KIND), &
      int(sdispls(:n), MPI_ADDRESS_KIND), sendtype, comm, received, ierror)
  end subroutine

  subroutine sparse_c(sendbuf, messages, destinations, sendcounts, sdispls, sendtype, comm, received, ierror)
    type(*), dimension(..), intent(in) :: sendbuf
    integer, intent(in) :: messages, destinations(*)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
    type(MPI_Datatype), intent(in) :: sendtype
    type(MPI_Comm), intent(in) :: comm
    type(swapmeet_sparse_messages), intent(inout) :: received
    integer, optional, intent(out) :: ierror
    type(sparse_in_c), pointer :: found
    type(c_ptr) :: made
    integer(c_int) :: error
    if (refused(sendbuf, sendbuf, ierror=ierror)) return
    made = c_null_ptr
    error = sparse_exchange(address(sendbuf), messages, destinations, sendcounts, sdispls, sendtype%MPI_VAL, &
      comm%MPI_VAL, made)
    if (error == MPI_SUCCESS) then
      call c_f_pointer(made, found)
      received%address = made
      received%count = found%count
      call c_f_pointer(found%sources, received%sources, [found%count])
      call c_f_pointer(found%sizes, received%sizes, [found%count])
      call c_f_pointer(found%data, received%data, [found%count])
    end if
    call report(error, ierror)
  end subroutine

  subroutine swapmeet_sparse_free(received, ierror)
    type(swapmeet_sparse_messages), intent(inout) :: received
    integer, optional, intent(out) :: ierror
    integer(c_int) :: error
    error = sparse_free(received%address)
    received%count = 0
    nullify (received%sources, received%sizes, received%data)
    call report(error, ierror)
  end subroutine

  subroutine plan_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, plan, spec, ierror)
    type(*), dimension(..), intent(in), asynchronous :: sendbuf
    type(*), dimension(..), asynchronous :: recvbuf
    integer, intent(in) :: sendcount, recvcount
    type(MPI_Datatype), intent(in) :: sendtype, recvtype
    type(MPI_Comm), intent(in) :: comm
    type(swapmeet_plan), intent(inout) :: plan
    character(*), optional, intent(in) :: spec
    integer, optional, intent(out) :: ierror
    if (refused(sendbuf, recvbuf, ierror=ierror)) return
    call report(exchange(address(sendbuf), sendcount, sendtype%MPI_VAL, address(recvbuf), recvcount, &
      recvtype%MPI_VAL, comm%MPI_VAL, terminated(spec), plan), ierror)
  end subroutine

  subroutine plan_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, plan, spec, ierror)
    type(*), dimension(..), intent(in), asynchronous :: sendbuf
    type(*), dimension(..), asynchronous :: recvbuf
    integer(MPI_COUNT_KIND), intent(in) :: sendcount, recvcount
    type(MPI_Datatype), intent(in) :: sendtype, recvtype
    type(MPI_Comm), intent(in) :: comm
    type(swapmeet_plan), intent(inout) :: plan
    character(*), optional, intent(in) :: spec
    integer, optional, intent(out) :: ierror
    if (refused(sendbuf, recvbuf, ierror=ierror)) return
    call report(exchange_c(address(sendbuf), sendcount, sendtype%MPI_VAL, address(recvbuf), recvcount, &
      recvtype%MPI_VAL, comm%MPI_VAL, terminated(spec), plan), ierror)
  end subroutine

  subroutine plan_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, &
    plan, spec, ierror)
    type(*), dimension(..), intent(in), asynchronous :: sendbuf
    type(*), dimension(..), asynchronous :: recvbuf
    integer, intent(in) :: sendcounts(*), recvcounts(*), sdispls(*), rdispls(*)
    type(MPI_Datatype), intent(in) :: sendtype, recvtype
    type(MPI_Comm), intent(in) :: comm
    type(swapmeet_plan), intent(inout) :: plan
    character(*), optional, intent(in) :: spec
    integer, optional, intent(out) :: ierror
    if (refused(sendbuf, recvbuf, ierror=ierror)) return
    call report(exchangev(address(sendbuf), sendcounts, sdispls, sendtype%MPI_VAL, address(recvbuf), recvcounts, &
      rdispls, recvtype%MPI_VAL, comm%MPI_VAL, terminated(spec), plan), ierror)
  end subroutine

  subroutine plan_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, &
    comm, plan, spec, ierror)
    type(*), dimension(..), intent(in), asynchronous :: sendbuf
    type(*), dimension(..), asynchronous :: recvbuf
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*), recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*), rdispls(*)
    type(MPI_Datatype), intent(in) :: sendtype, recvtype
    type(MPI_Comm), intent(in) :: comm
    type(swapmeet_plan), intent(inout) :: plan
    character(*), optional, intent(in) :: spec
    integer, optional, intent(out) :: ierror
    if (refused(sendbuf, recvbuf, ierror=ierror)) return
    call report(exchangev_c(address(sendbuf), sendcounts, sdispls, sendtype%MPI_VAL, address(recvbuf), recvcounts, &
      rdispls, recvtype%MPI_VAL, comm%MPI_VAL, terminated(spec), plan), ierror)
  end subroutine

  subroutine plan_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, &
    comm, plan, spec, ierror)
    type(*), dimension(..), intent(in), asynchronous :: sendbuf
    type(*), dimension(..), asynchronous :: recvbuf
    integer, intent(in) :: sendcounts(*), recvcounts(*), sdispls(*), rdispls(*)
    type(MPI_Datatype), intent(in) :: sendtypes(*), recvtypes(*)
    type(MPI_Comm), intent(in) :: comm
    type(swapmeet_plan), intent(inout) :: plan
    character(*), optional, intent(in) :: spec
    integer, optional, intent(out) :: ierror
    if (refused(sendbuf, recvbuf, ierror=ierror)) return
    call report(exchangew(address(sendbuf), sendcounts, sdispls, sendtypes, address(recvbuf), recvcounts, rdispls, &
      recvtypes, comm%MPI_VAL, terminated(spec), plan), ierror)
  end subroutine

  subroutine plan_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, &
    comm, plan, spec, ierror)
    type(*), dimension(..), intent(in), asynchronous :: sendbuf
    type(*), dimension(..), asynchronous :: recvbuf
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*), recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: sdispls(*), rdispls(*)
    type(MPI_Datatype), intent(in) :: sendtypes(*), recvtypes(*)
    type(MPI_Comm), intent(in) :: comm
    type(swapmeet_plan), intent(inout) :: plan
    character(*), optional, intent(in) :: spec
    integer, optional, intent(out) :: ierror
    if (refused(sendbuf, recvbuf, ierror=ierror)) return
    call report(exchangew_c(address(sendbuf), sendcounts, sdispls, sendtypes, address(recvbuf), recvcounts, &
      rdispls, recvtypes, comm%MPI_VAL, terminated(spec), plan), ierror)
  end subroutine

  subroutine swapmeet_plan_start(plan, ierror)
    type(swapmeet_plan), intent(in) :: plan
    integer, optional, intent(out) :: ierror
    call report(plan_start(plan), ierror)
  end subroutine

  subroutine swapmeet_plan_test(plan, done, ierror)
    type(swapmeet_plan), intent(in) :: plan
    logical, intent(out) :: done
    integer, optional, intent(out) :: ierror
    integer(c_int) :: is_done, error
    is_done = 0
    error = plan_test(plan, is_done)
    done = is_done /= 0
    call report(error, ierror)
  end subroutine

  subroutine swapmeet_plan_wait(plan, ierror)
    type(swapmeet_plan), intent(in) :: plan
    integer, optional, intent(out) :: ierror
    call report(plan_wait(plan), ierror)
  end subroutine

  subroutine swapmeet_plan_free(plan, ierror)
    type(swapmeet_plan), intent(inout) :: plan
    integer, optional, intent(out) :: ierror
    call report(plan_free(plan), ierror)
  end subroutine

  subroutine swapmeet_plan_describe(plan, description, ierror)
    type(swapmeet_plan), intent(in) :: plan
    type(swapmeet_plan_description), intent(inout) :: description
    integer, optional, intent(out) :: ierror
    type(description_in_c) :: found
    integer(c_int) :: error
    error = plan_describe(plan, found)
    if (error == MPI_SUCCESS) then  ! no structure constructor: gfortran 12 breaks on these components
      description%spec = string(found%spec)
      description%reason = string(found%reason)
      description%messages = found%messages
      description%bytes = found%bytes
      description%scratch_bytes = found%scratch_bytes
      description%expected_seconds = found%expected_seconds
    end if
    call report(error, ierror)
  end subroutine

  !> What C has for a buffer. MPIs recognise Fortran's MPI_IN_PLACE and MPI_BOTTOM in different ways; their addresses do.
  type(c_ptr) function address(buffer)
    type(*), dimension(..), intent(in) :: buffer
    address = converted(buffer, MPI_IN_PLACE, MPI_BOTTOM)
  end function

  !> Whether a buffer has gaps, which C would not know of. Then the error is raised on `comm`, or else returned.
  logical function refused(sendbuf, recvbuf, comm, ierror)
    type(*), dimension(..), intent(in) :: sendbuf, recvbuf
    type(MPI_Comm), optional, intent(in) :: comm
    integer, optional, intent(out) :: ierror
    refused = .not. (is_contiguous(sendbuf) .and. is_contiguous(recvbuf))
    if (.not. refused) return
    if (present(comm)) then
      call MPI_Comm_call_errhandler(comm, MPI_ERR_BUFFER)
      call return_error(MPI_ERR_BUFFER, ierror)
    else
      call report(MPI_ERR_BUFFER, ierror, 'a buffer is not contiguous: pass a whole array, or a copy of the section')
    end if
  end function

  !> As C expects it; empty if there is none.
  function terminated(text)
    character(*), optional, intent(in) :: text
    character(:), allocatable :: terminated
    terminated = c_null_char
    if (present(text)) terminated = trim(text) // c_null_char
  end function

  function string(text)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: string
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    if (c_associated(text)) then
      call c_f_pointer(text, letters, [strlen(text)])
      string = repeat(' ', size(letters))
      do i = 1, size(letters)
        string(i:i) = letters(i)
      end do
    else
      string = ''
    end if
  end function

  subroutine return_error(error, ierror)
    integer(c_int), intent(in) :: error
    integer, optional, intent(out) :: ierror
    if (present(ierror)) ierror = error
  end subroutine

  !> An error that nothing has been told of yet.
  subroutine report(error, ierror, message)
    integer(c_int), intent(in) :: error
    integer, optional, intent(out) :: ierror
    character(*), optional, intent(in) :: message
    call return_error(error, ierror)
    if (present(ierror) .or. error == MPI_SUCCESS) return
    if (present(message)) then
      write (error_unit, '(2a)') 'swapmeet: ', message
    else
      write (error_unit, '(2a)') 'swapmeet: ', swapmeet_error_message()
    end if
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end module
