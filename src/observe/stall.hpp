/// A call in which nothing moves, as the watchdog sees it, in words and as a JSON record (docs/howto/hangs.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "observe/post.hpp"

namespace swapmeet {

/// A communicator that is watched.
struct Party {
  bool background = false;       ///< its non-blocking exchanges
  bool inter = false;            ///< of two groups; members are those of both, as they are in MPI_COMM_WORLD
  std::string name;              ///< as the application has set it; "": it has none
  std::vector<int> world_ranks;  ///< of its members, negative if they have none
  Rank rank = 0, ranks = 1;
  std::vector<Rank> neighbours{};  ///< of the rank in its virtual topology, if it has one
};

/// `comm`, as its group says. Local.
Party party_of(MPI_Comm comm, bool background = false);

/// Another rank of the communicator, on this node.
struct OtherRank {
  Rank rank = 0;
  int process = 0;
  char state = '?';        ///< as in /proc/PID/stat; 'X': the process is gone
  bool read = false;       ///< what follows could be
  bool finalizes = false;  ///< it has called MPI_Finalize
  std::vector<PostCopy> posts{};
};

struct Stall {
  int world_rank = 0;
  double seconds = 0;
  Party party;
  PostCopy post;
  std::string algorithm;  ///< "": not decided
  std::vector<OtherRank> neighbours;
  std::vector<std::int64_t> numbers;  ///< of all communicators that this process has met on
  /// Of a communicator by its number among all ranks.
  std::function<std::string(std::int64_t)> name_of;
};

/// Several lines, without an end of line.
std::string text_of(const Stall& stall);

/// Fields of a JSON object.
std::string json_of(const Stall& stall);
std::string json_of(const Party& party);

}  // namespace swapmeet
