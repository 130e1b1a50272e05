/// A stalled call, in which nothing moves, as the watchdog sees it: as a text and as a JSON record
/// (docs/howto/hangs.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observe/call_state.hpp"

namespace swapmeet {

class JsonMembers;

/// A communicator under watch.
struct WatchedCommunicator {
  bool background = false;       ///< for its non-blocking exchanges
  bool inter = false;            ///< an intercommunicator; members are those of both groups, as ranks of MPI_COMM_WORLD
  std::string name;              ///< set by the application; "": none
  std::vector<int> world_ranks;  ///< of its members; negative if a member is not in MPI_COMM_WORLD
  Rank rank = 0, ranks = 1;
  std::vector<Rank> neighbours{};  ///< of this rank in the virtual topology, if there is one
};

/// Describes `comm`. Local.
WatchedCommunicator watched_communicator(MPI_Comm comm, bool background = false);

/// The state of a node peer that is a member of the communicator.
struct OtherRank {
  Rank rank = 0;
  int process = 0;
  char process_state = '?';  ///< as in /proc/PID/stat; 'X': the process has ended
  bool read = false;         ///< whether the following members could be read
  bool finalizes = false;    ///< whether it has called MPI_Finalize
  std::vector<CallStateCopy> states{};
};

/// The number of a communicator, the same on all its ranks, and its name.
struct NamedNumber {
  std::int64_t number;
  std::string name;
};

/// The description of a stalled call.
struct Stall {
  int world_rank = 0;
  double seconds = 0;
  WatchedCommunicator communicator;
  CallStateCopy state;
  std::string algorithm;  ///< "": not decided
  std::vector<OtherRank> others;
  std::vector<NamedNumber> known;  ///< all communicators that are set up on this process
};

/// Returns several lines, without an end of line after the last.
std::string text_of(const Stall& stall);

/// Return members of a JSON object.
JsonMembers json_of(const Stall& stall);
JsonMembers json_of(const WatchedCommunicator& communicator);

}  // namespace swapmeet
