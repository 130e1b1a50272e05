/// One intercepted blocking call, which is served by a schedule or left to the host MPI.
#pragma once

#include <chrono>

#include "buffers/blocks.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"

namespace swapmeet {

/// The arguments of a call, in which no mistake was found. `send` has no meaning if `in_place`.
struct Call {
  Collective collective;
  bool in_place;
  const Blocks &send, &receive;
  MPI_Comm comm;
  Degrees blocks;                           ///< number of blocks on each side
  const Neighbourhood* neighbourhood = {};  ///< virtual topology of a neighbourhood collective; nullptr for others

  /// Number of blocks that this rank sends.
  Rank sent_blocks() const { return in_place ? blocks.in : blocks.out; }

  /// The peer of each block of a side, as Staging::reserve() takes it. Empty if block i belongs to rank i.
  std::span<const Rank> to() const {
    return neighbourhood ? std::span<const Rank>(neighbourhood->to) : std::span<const Rank>();
  }
  std::span<const Rank> from() const {
    return neighbourhood ? std::span<const Rank>(neighbourhood->from) : std::span<const Rank>();
  }
};

/// The call whose phases are observed. `communicator` is nullptr if none is.
struct Observed {
  Communicator* communicator = nullptr;
  const Decision* decision = nullptr;
  std::uint64_t bytes = 0;
};

/// Bookkeeping of a call that is left to the host MPI. The call is counted, recorded or observed when the host MPI has
/// completed it. By default there is nothing to do.
struct HostCall {
  Decision* decision = nullptr;
  std::uint64_t bytes = 0;
  Rank blocks = 0;  ///< number of blocks in which `bytes` are sent
  std::chrono::steady_clock::time_point begin{};
  RecordedCall noted{};
  Observed observed{};
  OnlineTuning* trial = nullptr;  ///< tuning for which this call is a timed trial; nullptr if it is none

  void done() const {
    if (trial) trial->ends();
    if (noted.communicator) noted.done();
    if (decision || observed.communicator) count();
  }

 private:
  void count() const;
};

/// Serves `call`. Returns true if it is done; `error` is then its MPI error code, which the caller raises on the
/// communicator. Returns false if the caller must pass the call to the host MPI. That happens if the decision is to
/// leave the call to the host MPI, or if the host MPI refused an argument before anything was sent: it then reports the
/// error itself.
bool serve(const Call& call, Communicator& communicator, HostCall& host_call, int& error);

/// Serves an MPI_Alltoall whose arguments, except for the addresses, equal those in communicator.fast_paths().repeat. Returns as
/// serve() does.
bool serve_again(const void* send, void* receive, Communicator& communicator, int& error);

}  // namespace swapmeet
