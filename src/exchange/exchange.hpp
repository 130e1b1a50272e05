/// An Exchange is an algorithm that has been prepared for a communicator. It can be run repeatedly, one exchange at a
/// time.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "buffers/blocks.hpp"
#include "engine/engine.hpp"
#include "exchange/invocation.hpp"
#include "observe/traffic.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

class Exchange {
 public:
  explicit Exchange(const Spec& spec) : spec_(spec) {}
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const Spec& spec() const { return spec_; }

  /// Requirements on the blocks of both sides: none; a known type map (`maps`), because the library copies their data
  /// itself; or contiguous blocks (`bytes`), because they are cut, forwarded or copied as bytes.
  enum class Needs : std::uint8_t { nothing, maps, bytes };
  virtual Needs needs() const = 0;

  /// Whether the blocks of one side can be exchanged from where they lie. `peer_is_bytes`: the other side sends or
  /// receives them as bytes. Not every MPI supports a message that is bytes at one end and a derived datatype at the
  /// other.
  bool takes(const Blocks& blocks, bool peer_is_bytes) const {
    return blocks.contiguous() || (needs() == Needs::maps && blocks.mapped()) ||
           (needs() == Needs::nothing && !peer_is_bytes);
  }

  /// Whether every block may be received into the memory of the block that is sent, as for MPI_IN_PLACE. swaps():
  /// whether these particular blocks can be exchanged so, from where they lie.
  virtual bool allows_in_place() const { return false; }
  bool swaps(const Blocks& blocks) const { return allows_in_place() && takes(blocks, false); }

  /// Number of blocks of working memory that a call may take. At first this is the number of this rank; after
  /// share_working_blocks(most) it is the largest of all ranks, on which decisions may be based.
  virtual std::int64_t working_blocks() const = 0;
  virtual void share_working_blocks(std::int64_t most) = 0;

  /// Starts to exchange the blocks. Collective. Returns `unfinished` if the exchange is under way, or its result. The
  /// blocks must stay in place until it is complete. Allocates nothing once scratch memory and lists exist. Two threads
  /// must not exchange at the same time (MPI forbids that on one communicator, too).
  ///
  /// An error on this rank, including call.failure, does not end the exchange. The rank sends marked messages in place
  /// of the data that it cannot send, so that every rank whose data depend on it returns an error, too, and all ranks
  /// stay in step. The exchange is given up only if MPI itself fails repeatedly; then it is broken().
  virtual int start(const Blocks& send, const Blocks& receive, const Invocation& call) = 0;

  /// Continues the exchange that start() began. Returns MPI_SUCCESS or an error when this rank's own part is complete.
  /// If call.waits, it waits for that; otherwise it does all that is possible without waiting, and returns `unfinished`
  /// as long as the exchange is under way.
  virtual int advance() = 0;

  /// Exchanges the blocks and waits for the end. Requires call.waits.
  int run(const Blocks& send, const Blocks& receive, const Invocation& call) {
    nothing_sent_ = false;
    const int error = start(send, receive, call);
    return error == unfinished ? advance() : error;
  }

  /// After an error of run(): whether the exchange was given up before anything was sent. Then MPI has refused the
  /// arguments, and the call may be made again. (A rank that has failed and sends nothing is in step with the others.)
  bool nothing_sent() const { return nothing_sent_; }

  /// The traffic that this rank sends in one exchange of such blocks. If it depends on more than the blocks, the
  /// traffic of the last exchange that is complete; nothing if there was none.
  virtual std::optional<SentTraffic> traffic(const Blocks& sent) const = 0;

  /// The largest number of bytes of working memory in use at any time so far, without staging buffers.
  virtual std::int64_t peak_bytes() const = 0;

  /// Whether no further exchange is possible, because the state of the last one is unknown.
  bool broken() const { return broken_; }

 protected:
  const Spec spec_;
  bool broken_ = false;
  bool nothing_sent_ = false;
};

}  // namespace swapmeet
