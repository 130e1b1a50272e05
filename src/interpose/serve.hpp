/// One intercepted call: served by a schedule, or left to the host MPI.
#pragma once

#include <chrono>

#include "buffers/blocks.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"

namespace swapmeet {

/// A call whose arguments look right. `send` is meaningless if `in_place`.
struct Call {
  Collective collective;
  bool in_place;
  const Blocks &send, &receive;
  MPI_Comm comm;
  Degrees blocks;                           ///< on the two sides
  const Neighbourhood* neighbourhood = {};  ///< of which they are, if they are of one

  /// Those of the side that is sent from.
  Rank sent_blocks() const { return in_place ? blocks.in : blocks.out; }

  /// For whom the blocks of a side are: see Staging::reserve().
  std::span<const Rank> to() const {
    return neighbourhood ? std::span<const Rank>(neighbourhood->to) : std::span<const Rank>();
  }
  std::span<const Rank> from() const {
    return neighbourhood ? std::span<const Rank>(neighbourhood->from) : std::span<const Rank>();
  }
};

/// A call whose phases somebody wants to know; or none.
struct Observed {
  Communicator* communicator = nullptr;
  const Decision* decision = nullptr;
  std::uint64_t bytes = 0;
};

/// A call that is left to the host MPI, to be counted, recorded or observed when that is done; or none.
struct HostCall {
  Decision* decision = nullptr;
  std::uint64_t bytes = 0;
  Rank blocks = 0;  ///< in which these are sent
  std::chrono::steady_clock::time_point begin{};
  RecordedCall noted{};
  Observed observed{};
  OnlineTuning* trial = nullptr;  ///< of an algorithm that the call may be

  void done() const {
    if (trial) trial->ends();
    if (noted.communicator) noted.done();
    if (decision || observed.communicator) count();
  }

 private:
  void count() const;
};

/// Serves `call`. True: done, with MPI's result in `error` (which the caller raises on the communicator). False: the
/// host MPI is to do it, for that was decided, or MPI refused the arguments before anything was sent and is to say
/// so.
bool serve(const Call& call, Communicator& communicator, HostCall& host_call, int& error);

/// Serves an MPI_Alltoall that communicator.repeat() says is like the last one. Returns as serve() does.
bool serve_again(const void* send, void* receive, Communicator& communicator, int& error);

}  // namespace swapmeet
