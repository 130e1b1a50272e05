/// The ranks of this job that run on this node, and whether each has loaded the library: found in /proc, without MPI and
/// without the help of the other processes. Reading takes milliseconds.
#pragma once

#include <string>
#include <vector>

namespace swapmeet {

struct JobProcess {
  int world_rank = 0;  ///< in MPI_COMM_WORLD
  int process = 0;
  bool has_ours = false;  ///< the library file of this process
  std::string instead;    ///< without ours: another one and that of this process, as text; "": none
};

/// By rank, this process among them. A process without a dynamic MPI library is left out, for it may not be a rank. Empty if
/// the launcher gave this process no variable that holds `world_rank`, its rank.
std::vector<JobProcess> job_processes(int world_rank);

}  // namespace swapmeet
