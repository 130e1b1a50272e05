/// A stalled call, in which nothing moves, as the watchdog sees it: as a text and as a JSON record
/// (docs/howto/hangs.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "observe/post.hpp"

namespace swapmeet {

/// A communicator under watch.
struct Party {
  bool background = false;       ///< for its non-blocking exchanges
  bool inter = false;            ///< an intercommunicator; members are those of both groups, as ranks of MPI_COMM_WORLD
  std::string name;              ///< set by the application; "": none
  std::vector<int> world_ranks;  ///< of its members; negative if a member is not in MPI_COMM_WORLD
  Rank rank = 0, ranks = 1;
  std::vector<Rank> neighbours{};  ///< of this rank in the virtual topology, if there is one
};

/// Describes `comm`. Local.
Party party_of(MPI_Comm comm, bool background = false);

/// The state of a node peer that is a member of the communicator.
struct OtherRank {
  Rank rank = 0;
  int process = 0;
  char state = '?';        ///< as in /proc/PID/stat; 'X': the process has ended
  bool read = false;       ///< whether the following members could be read
  bool finalizes = false;  ///< whether it has called MPI_Finalize
  std::vector<PostCopy> posts{};
};

/// The description of a stalled call.
struct Stall {
  int world_rank = 0;
  double seconds = 0;
  Party party;
  PostCopy post;
  std::string algorithm;  ///< "": not decided
  std::vector<OtherRank> neighbours;
  std::vector<std::int64_t> numbers;  ///< of all communicators that are set up on this process
  /// Returns the name of a communicator by its number, which is the same on all its ranks.
  std::function<std::string(std::int64_t)> name_of;
};

/// Returns several lines, without an end of line after the last.
std::string text_of(const Stall& stall);

/// Return members of a JSON object.
std::string json_of(const Stall& stall);
std::string json_of(const Party& party);

}  // namespace swapmeet
