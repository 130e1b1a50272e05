! Every procedure of the module swapmeet: answers, sentinels, optional arguments and errors.
program module_program
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use swapmeet
  implicit none
  integer, parameter :: n = 3
  integer, allocatable, asynchronous :: out(:, :), in(:, :)
  integer, allocatable :: counts(:), places(:), byte_places(:)
  integer(MPI_COUNT_KIND), allocatable :: large_counts(:)
  integer(MPI_ADDRESS_KIND), allocatable :: large_places(:), addresses(:)
  type(MPI_Datatype), allocatable :: types(:), none(:)
  type(swapmeet_plan) :: plan
  type(swapmeet_plan_description) :: description
  type(swapmeet_sparse_messages) :: received
  real(c_double) :: seconds(0:SWAPMEET_PHASES - 1)
  integer, pointer :: shared(:, :)
  integer, target :: wrong_address = 0
  type(c_ptr) :: base
  integer :: me, p, i, k, ierror, wrong = 0
  logical :: done

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, p)
  allocate(out(n, 0:p - 1), in(n, 0:p - 1))
  counts = [(n, i = 1, p)]
  places = [(n * i, i = 0, p - 1)]
  byte_places = 4 * places
  large_counts = counts
  large_places = places
  types = [(MPI_INTEGER, i = 1, p)]
  none = [(MPI_DATATYPE_NULL, i = 1, p)]
  do i = 0, p - 1
    out(:, i) = [100 * me + i, 2, 3]
  end do

  call expect(len(swapmeet_version()) >= 5, 'version')
  call expect(len(swapmeet_built_for()) > 5, 'built_for')
  call expect(swapmeet_phase_name(SWAPMEET_PHASE_WAIT) == 'wait' .and. swapmeet_phase_name(99) == '', 'phase_name')
  call swapmeet_set_algorithm(MPI_COMM_WORLD, 'pairwise  ')
  call swapmeet_set_algorithm(MPI_COMM_WORLD, 'bogus', ierror)
  call expect(ierror == MPI_ERR_ARG .or. p == 1, 'set_algorithm of a bad spec')
  call swapmeet_phases_begin(MPI_COMM_WORLD)
  call exchanges()
  call swapmeet_phases_end(MPI_COMM_WORLD, seconds)
  call expect(sum(seconds) > 0 .or. p == 1, 'phases')
  call swapmeet_phases_end(MPI_COMM_WORLD, seconds, ierror)
  call expect(ierror == MPI_ERR_ARG, 'phases_end without begin')
  call swapmeet_set_algorithm(MPI_COMM_WORLD)
  call plans()
  call messages()
  call bottom()
  call mistakes()

  call swapmeet_memory_allocate(MPI_COMM_WORLD, int(4 * n * p, MPI_ADDRESS_KIND), base)
  call c_f_pointer(base, shared, [n, p])
  shared = out
  call poison()
  call swapmeet_alltoall(shared, n, MPI_INTEGER, in, n, MPI_INTEGER, MPI_COMM_WORLD)
  call check('memory')
  call swapmeet_memory_free(base)

  if (wrong > 0) call MPI_Abort(MPI_COMM_WORLD, 3)
  if (me == 0) print '(a)', 'module: right'
  call MPI_Finalize()

contains

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    print '(a, i0, 2a)', 'rank ', me, ' is wrong in ', what
    wrong = wrong + 1
  end subroutine

  subroutine poison()
    in = -1
  end subroutine

  subroutine check(what)
    character(*), intent(in) :: what
    do k = 0, p - 1
      call expect(all(in(:, k) == [100 * k + me, 2, 3]), what)
    end do
  end subroutine

  subroutine exchanges()
    call poison()
    call swapmeet_alltoall(out, n, MPI_INTEGER, in, n, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call check('alltoall')
    call expect(ierror == MPI_SUCCESS, 'ierror')
    in = out
    call swapmeet_alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, MPI_INTEGER, MPI_COMM_WORLD)
    call check('alltoall in place')
    call poison()
    call swapmeet_alltoall(out, large_counts(1), MPI_INTEGER, in, large_counts(1), MPI_INTEGER, MPI_COMM_WORLD)
    call check('alltoall, large counts')
    call poison()
    call swapmeet_alltoallv(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD)
    call check('alltoallv')
    call poison()
    call swapmeet_alltoallv(out, large_counts, large_places, MPI_INTEGER, in, large_counts, large_places, MPI_INTEGER, &
      MPI_COMM_WORLD)
    call check('alltoallv, large counts')
    call poison()
    call swapmeet_alltoallw(out, counts, byte_places, types, in, counts, byte_places, types, MPI_COMM_WORLD)
    call check('alltoallw')
    in = out
    call swapmeet_alltoallw(MPI_IN_PLACE, counts, byte_places, none, in, counts, byte_places, types, MPI_COMM_WORLD)
    call check('alltoallw in place')
    call poison()
    call swapmeet_alltoallw(out, large_counts, 4 * large_places, types, in, large_counts, 4 * large_places, types, &
      MPI_COMM_WORLD)
    call check('alltoallw, large counts')
  end subroutine

  subroutine plans()
    call swapmeet_plan_alltoall(out, n, MPI_INTEGER, in, n, MPI_INTEGER, MPI_COMM_WORLD, plan, 'pairwise')
    call swapmeet_plan_describe(plan, description)
    call expect(len(description%spec) > 0 .and. len(description%reason) > 0, 'plan_describe')
    call swapmeet_plan_test(plan, done)
    call expect(done, 'plan_test before the start')
    do i = 1, 2
      call poison()
      if (me > 0) call MPI_Recv(k, 0, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call swapmeet_plan_start(plan)
      if (me == 0 .and. p > 1) then  ! others have not started, so it cannot be complete
        call swapmeet_plan_start(plan, ierror)
        call expect(ierror == MPI_ERR_REQUEST, 'plan_start twice')
        call expect(len(swapmeet_error_message()) > 0, 'error_message')
        do k = 1, p - 1
          call MPI_Send(k, 0, MPI_INTEGER, k, 0, MPI_COMM_WORLD)
        end do
      end if
      if (i == 1) call swapmeet_plan_wait(plan)
      done = i == 1
      do while (.not. done)
        call swapmeet_plan_test(plan, done)
      end do
      call MPI_F_sync_reg(in)
      call check('plan_alltoall')
    end do
    call swapmeet_plan_free(plan)
    call swapmeet_plan_start(plan, ierror)
    call expect(ierror == MPI_ERR_REQUEST, 'plan_start of a freed plan')
    call swapmeet_plan_alltoall(out, large_counts(1), MPI_INTEGER, in, large_counts(1), MPI_INTEGER, MPI_COMM_WORLD, plan)
    call execute('plan_alltoall, large counts')
    call swapmeet_plan_alltoallv(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, plan)
    call execute('plan_alltoallv')
    call swapmeet_plan_alltoallv(out, large_counts, large_places, MPI_INTEGER, in, large_counts, large_places, MPI_INTEGER, &
      MPI_COMM_WORLD, plan)
    call execute('plan_alltoallv, large counts')
    call swapmeet_plan_alltoallw(out, counts, byte_places, types, in, counts, byte_places, types, MPI_COMM_WORLD, plan)
    call execute('plan_alltoallw')
    call swapmeet_plan_alltoallw(out, large_counts, 4 * large_places, types, in, large_counts, 4 * large_places, types, &
      MPI_COMM_WORLD, plan)
    call execute('plan_alltoallw, large counts')
    call swapmeet_plan_alltoall(out, n, MPI_INTEGER, in, n, MPI_INTEGER, MPI_COMM_WORLD, plan, 'bogus', ierror)
    call expect(ierror == MPI_ERR_ARG, 'plan_alltoall of a bad spec')
    call expect(index(swapmeet_error_message(), 'bogus') > 0, 'message on a bad spec')
  end subroutine

  !> Each rank sends its number to the next one twice, and nothing to itself.
  subroutine messages()
    integer :: to(3)
    to = [mod(me + 1, p), mod(me + 1, p), me]
    call swapmeet_sparse_alltoallv([me, 7, 8, 9], 3, to, [1, 2, 0], [0, 1, 3], MPI_INTEGER, MPI_COMM_WORLD, received)
    call check_messages('sparse_alltoallv')
    call swapmeet_sparse_alltoallv([me, 7, 8, 9], 3, to, [1_MPI_COUNT_KIND, 2_MPI_COUNT_KIND, 0_MPI_COUNT_KIND], &
      [0_MPI_ADDRESS_KIND, 1_MPI_ADDRESS_KIND, 3_MPI_ADDRESS_KIND], MPI_INTEGER, MPI_COMM_WORLD, received, ierror)
    call expect(ierror == MPI_SUCCESS, 'ierror of sparse_alltoallv')
    call check_messages('sparse_alltoallv, large counts')
    call swapmeet_sparse_alltoallv([me], 1, [-5], [1], [0], MPI_INTEGER, MPI_COMM_WORLD, received, ierror)
    call expect(ierror == MPI_ERR_RANK, 'sparse_alltoallv to no rank')
    call expect(index(swapmeet_error_message(), 'no rank -5') > 0, 'message on no rank')
  end subroutine

  subroutine check_messages(what)
    character(*), intent(in) :: what
    integer, pointer :: content(:)
    integer :: first, from
    from = mod(me + p - 1, p)
    first = merge(2, 1, me < from)  ! the message to itself comes in the order of ranks
    call expect(received%count == 3, what)
    call expect(all(received%sources(first:first + 1) == from), what // ': sources')
    call expect(all(received%sizes(first:first + 1) == [4, 8]), what // ': sizes')
    call c_f_pointer(received%data(first), content, [1])
    call expect(content(1) == from, what // ': data')
    call c_f_pointer(received%data(first + 1), content, [2])
    call expect(all(content == [7, 8]), what // ': data of the second')
    call expect(sum(received%sizes) == 12, what // ': nothing to itself')
    call swapmeet_sparse_free(received)
    call expect(received%count == 0 .and. .not. associated(received%data), what // ': free')
  end subroutine

  subroutine execute(what)
    character(*), intent(in) :: what
    call poison()
    call swapmeet_plan_start(plan)
    call swapmeet_plan_wait(plan)
    call MPI_F_sync_reg(in)
    call swapmeet_plan_free(plan)
    call check(what)
  end subroutine

  !> Buffers given by the types alone.
  subroutine bottom()
    type(MPI_Datatype) :: sent(p), received(p)
    allocate(addresses(2))
    call poison()
    do i = 1, p
      call MPI_Get_address(out(1, i - 1), addresses(1))
      call MPI_Get_address(in(1, i - 1), addresses(2))
      call MPI_Type_create_hindexed(1, [n], addresses(1:1), MPI_INTEGER, sent(i))
      call MPI_Type_create_hindexed(1, [n], addresses(2:2), MPI_INTEGER, received(i))
      call MPI_Type_commit(sent(i))
      call MPI_Type_commit(received(i))
    end do
    call swapmeet_alltoallw(MPI_BOTTOM, [(1, i = 1, p)], [(0, i = 1, p)], sent, MPI_BOTTOM, [(1, i = 1, p)], &
      [(0, i = 1, p)], received, MPI_COMM_WORLD)
    call MPI_F_sync_reg(in)
    call check('MPI_BOTTOM')
    do i = 1, p
      call MPI_Type_free(sent(i))
      call MPI_Type_free(received(i))
    end do
  end subroutine

  subroutine mistakes()
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call swapmeet_alltoall(out(1:n:2, :), 1, MPI_INTEGER, in, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call expect(ierror == MPI_ERR_BUFFER, 'alltoall of a section')
    call swapmeet_plan_alltoall(out, 1, MPI_INTEGER, in(1:n:2, :), 1, MPI_INTEGER, MPI_COMM_WORLD, plan, ierror=ierror)
    call expect(ierror == MPI_ERR_BUFFER, 'plan_alltoall of a section')
    call swapmeet_set_algorithm(MPI_COMM_NULL, 'pairwise', ierror)
    call expect(ierror == MPI_ERR_COMM, 'set_algorithm on no communicator')
    call swapmeet_memory_free(c_loc(wrong_address), ierror)
    call expect(ierror == MPI_ERR_ARG, 'memory_free of another address')
  end subroutine
end program
