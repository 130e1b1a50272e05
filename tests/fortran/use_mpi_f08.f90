program use_mpi_f08_program
  use mpi_f08
  implicit none
  include 'exchange.inc'
end program
