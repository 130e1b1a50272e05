! Overlap: while the blocks of one half of the data travel, the other half is computed. docs/api.md says how to compile it.
program plan_program
  use mpi_f08
  use swapmeet
  implicit none
  integer, parameter :: block = 4096  ! elements to each rank, of each half
  real, allocatable, asynchronous :: out(:, :, :), in(:, :, :)
  type(swapmeet_plan) :: plans(2)
  integer :: me, ranks, part, rank, i
  logical :: done

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate(out(block, 0:ranks - 1, 2), in(block, 0:ranks - 1, 2))
  do part = 1, 2
    call swapmeet_plan_alltoall(out(:, :, part), block, MPI_REAL, in(:, :, part), block, MPI_REAL, MPI_COMM_WORLD, &
      plans(part))
  end do

  do part = 1, 2
    do rank = 0, ranks - 1  ! in pieces, between which the exchange under way moves on
      out(:, rank, part) = [(value(me, part, i), i = 1, block)]
      call swapmeet_plan_test(plans(3 - part), done)
    end do
    call swapmeet_plan_start(plans(part))
  end do
  do part = 1, 2
    call swapmeet_plan_wait(plans(part))
    call swapmeet_plan_free(plans(part))
  end do
  call MPI_F_sync_reg(in)  ! the compiler does not know that it has changed

  do part = 1, 2
    do rank = 0, ranks - 1
      if (any(abs(in(:, rank, part) - [(value(rank, part, i), i = 1, block)]) > 0)) error stop 'wrong'
    end do
  end do
  if (me == 0) print '(a)', 'plan: right'
  call MPI_Finalize()

contains

  real function value(rank, part, i)
    integer, intent(in) :: rank, part, i
    value = sin(real(i + 10 * rank + part))
  end function
end program
