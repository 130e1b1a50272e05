program mpif_h_program
  implicit none
  include 'mpif.h'
  include 'exchange.inc'
end program
