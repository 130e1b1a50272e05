/// One call of an all-to-all, and the stations that every call passes: the limits of its decision, the agreement on the
/// sizes of blocks, staging, the exchange, the end of staging, and statistics. How it comes to its decision is in
/// session/deciding.hpp. A blocking call passes the others at once (interpose/entry.cpp). A non-blocking call
/// (session/started.cpp) and a plan (session/planned.cpp) are kept, and advance in the progress of the host MPI.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "buffers/kept_arrays.hpp"
#include "buffers/staging.hpp"
#include "exchange/plan.hpp"
#include "observe/statistics.hpp"
#include "options/options.hpp"
#include "session/call_arguments.hpp"

namespace swapmeet {

class Communicator;
struct Decision;

/// Memory for copies of the blocks of a call. It is used by one call at a time.
struct CopyMemory {
  Staging send, receive;

  /// Ends the use of the copies, and frees memory that is too large to keep.
  void release();
  /// Gives the memory of the copies up without freeing it, because MPI may still read or write it.
  void lose();
};

/// Why `plan` cannot exchange equal blocks of `block_bytes` bytes; nullptr: it can. The same on all ranks.
const char* exceeded_limit(const Plan& plan, bool in_place, std::int64_t block_bytes, const Options& options);

/// A call. To be used by one thread at a time.
class Call {
 public:
  /// `arguments` and `memory` must outlive the call.
  Call(const Arguments& arguments, CopyMemory& memory) : arguments_(arguments), memory_(memory) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const Arguments& arguments() const { return arguments_; }

  /// Whether the exchange of `decision` can serve this call after the call has been started. The host MPI can start an
  /// exchange only in the order of the application's calls, and an exchange must not wait. Local.
  bool can_be_started(const Communicator& communicator, const Decision& decision) const;

  /// The decision for this call, after `decision` was made for calls of its kind. The ranks agree on the sizes of
  /// blocks, if the exchange needs that; then it is collective. If the call exceeds a limit, it is left to the host MPI.
  /// If it has been `started`, the host MPI can no longer start it, and it is executed by messages instead.
  Decision& settle(Communicator& communicator, Decision& decision, Begun begun) const;

  /// The error of MPI for a datatype of blocks with data: it may not be committed, for example. An error by which MPI
  /// refuses an argument takes precedence over others. MPI_SUCCESS if there is none. Local.
  int check_types(MPI_Comm packing) const {
    if (arguments_.send.committed() && arguments_.receive.committed()) [[likely]]
      return MPI_SUCCESS;
    return check_uncommitted(packing);
  }

  /// Exchanges the blocks, and waits for the end. Blocks that `exchange` cannot use where they lie are exchanged from
  /// and to copies of them. An error of this rank (`invocation.failure`, or an error in copying) does not end the
  /// exchange, because the other ranks are already in it: the rank takes part and passes the error on. `packing`: the
  /// communicator to pack on.
  int run(Exchange& exchange, const Invocation& invocation, MPI_Comm packing) {
    if (arguments_.are_empty()) return invocation.failure;
    if (needs_no_copies(exchange) || invocation.failure) [[likely]]
      return exchange.run(arguments_.send, arguments_.receive, invocation);
    return run_with_copies(exchange, invocation, packing);
  }

  /// Variant of run() that does not wait. start() includes check_types(). advance() returns `unfinished`, or the result
  /// when the exchange is over.
  void start(Exchange& exchange, Invocation invocation, MPI_Comm packing);
  int advance();
  bool under_way() const { return under_way_; }

  /// Whether blocks of the last exchange were in device memory.
  bool used_device() const { return used_device_; }

  /// Bytes of staging memory that `exchange` needs.
  std::int64_t staging_bytes(const Exchange& exchange) const;

 private:
  const char* exceeded_limit_of(const Communicator& communicator, const Decision& decision) const;

  bool stages_send(const Exchange& exchange) const {
    return arguments_.in_place ? !exchange.swaps(arguments_.receive) : !exchange.takes(arguments_.send, false);
  }
  bool stages_receive(const Exchange& exchange) const {
    const bool swaps = arguments_.in_place && exchange.swaps(arguments_.receive);
    return !swaps && !exchange.takes(arguments_.receive, arguments_.in_place);
  }
  bool needs_no_copies(const Exchange& exchange) {
    stages_send_ = stages_send(exchange);
    stages_receive_ = stages_receive(exchange);
    return !stages_send_ && !stages_receive_ && !may_be_on_device();
  }
  int check_uncommitted(MPI_Comm packing) const;
  int run_with_copies(Exchange& exchange, Invocation invocation, MPI_Comm packing);
  void prepare(Exchange& exchange, Invocation& invocation, MPI_Comm packing);
  int stage();
  int end(int error);

  const Arguments& arguments_;
  CopyMemory& memory_;
  bool under_way_ = false, stages_send_ = false, stages_receive_ = false, used_device_ = false;
  bool copies_ = false;       ///< some blocks are exchanged from or to copies
  int result_ = MPI_SUCCESS;  ///< of the exchange; unfinished: it is under way
  Exchange* exchange_ = nullptr;
  Observer* observer_ = nullptr;  ///< of the exchange
  MPI_Comm packing_ = MPI_COMM_NULL;
  std::optional<Blocks> send_, receive_;  ///< the blocks that the exchange uses
};

/// A call that outlives the function which begins it, with copies of all that the arguments refer to. It can be started
/// many times.
class KeptCall final : public Call {
 public:
  /// `neighbourhood`: that of the arguments, if they have one. Throws MpiError if a type cannot be copied.
  explicit KeptCall(const Arguments& arguments, std::shared_ptr<const Neighbourhood> neighbourhood = nullptr)
      : Call(kept_, memory_), kept_(arguments), neighbourhood_(std::move(neighbourhood)) {
    received_.keep(kept_.receive, kept_.blocks.in);
    if (kept_.in_place) kept_.send = kept_.receive;
    else sent_.keep(kept_.send, kept_.blocks.out);
  }

  /// Whether the call has two sides of predefined types, and no neighbours. Then another call with the same counts,
  /// displacements and types can be served by it, after lie_at() has set its buffers.
  bool suits_others() const {
    return !kept_.in_place && !neighbourhood_ && !sent_.hold_types() && !received_.hold_types();
  }
  void lie_at(const void* send, const void* receive) {
    kept_.send.lie_at(send);
    kept_.receive.lie_at(receive);
  }

  /// Frees the copies of datatypes, after which no exchange can be started. Requires that none is under way.
  void free_types() {
    sent_.free_types();
    received_.free_types();
  }

 private:
  Arguments kept_;
  KeptArrays sent_, received_;
  std::shared_ptr<const Neighbourhood> neighbourhood_;
  CopyMemory memory_;
};

/// The statistics of one call that is counted.
class CallCount {
 public:
  void begin(const Arguments& arguments) {
    bytes_ = arguments.sent_bytes();
    blocks_ = arguments.sent_blocks();
    began_ = std::chrono::steady_clock::now();
  }
  void end(Tally& tally) const { end(tally, std::chrono::steady_clock::now() - began_); }
  void end(Tally& tally, std::chrono::nanoseconds time) const { tally.add(bytes_, time, blocks_); }

 private:
  std::uint64_t bytes_ = 0;
  Rank blocks_ = 0;
  std::chrono::steady_clock::time_point began_{};
};

}  // namespace swapmeet
