/// The processes of this job on this node, and whether each has loaded the library. They are found in /proc, without
/// MPI and without the help of the other processes. Reading takes milliseconds.
#pragma once

#include <string>
#include <vector>

namespace swapmeet {

struct JobProcess {
  int world_rank = 0;     ///< rank in MPI_COMM_WORLD
  int process = 0;        ///< process id
  bool has_ours = false;  ///< whether it has loaded the same file of the library as the calling process
  std::string instead;    ///< text with the other file of the library that it has loaded; "" if none
};

/// Finds the processes, in the order of their ranks and including this process, whose rank is `world_rank`. A process
/// without a dynamic MPI library is left out, because it may not be a rank. The result is empty if the launcher gave
/// this process no environment variable that holds its rank.
std::vector<JobProcess> job_processes(int world_rank);

}  // namespace swapmeet
