/// Computing, for simulations: there it takes no time, unless a program says how much it did. Compiled with
/// OPERATION_NS (by SimGrid's smpicxx, for hosts of 1 Gflop/s), an operation takes so many nanoseconds of simulated
/// time.
#pragma once

#ifdef OPERATION_NS
#include <smpi/smpi.h>
#endif

/// Operations of this process so far. What one is, is each program's affair.
inline double operations = 0;

inline void computed(double more) {
  operations += more;
#ifdef OPERATION_NS
  if (more > 0) smpi_execute_flops(more * OPERATION_NS);
#endif
}
