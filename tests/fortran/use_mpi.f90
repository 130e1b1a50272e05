program use_mpi_program
  use mpi
  implicit none
  include 'exchange.inc'
end program
