/// An algorithm made ready to run on a communicator, again and again, one exchange at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "buffers/blocks.hpp"
#include "exchange/invocation.hpp"
#include "team/tags.hpp"
#include "observe/traffic.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

class Exchange {
 public:
  Exchange(const Spec& spec, const Tags& tags) : spec_(spec), tags_(tags) {}
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const Spec& spec() const { return spec_; }

  /// What blocks must be, on both sides: as they are; such that we know where their data are, for we copy them; or
  /// contiguous, for they are cut, forwarded or copied as bytes.
  enum class Needs : std::uint8_t { nothing, maps, bytes };
  virtual Needs needs() const = 0;

  /// Whether blocks of a side can be exchanged as they lie. `meets_bytes`: those that they are exchanged with are bytes,
  /// and the messages of an MPI that are bytes at one end and a derived type at the other are more than every MPI can do.
  bool takes(const Blocks& blocks, bool meets_bytes) const {
    return blocks.contiguous() || (needs() == Needs::maps && blocks.mapped()) ||
           (needs() == Needs::nothing && !meets_bytes);
  }

  /// Whether all blocks may be received where others are sent from, as for MPI_IN_PLACE; and whether these can be: the same
  /// ones on both sides, as they lie.
  virtual bool takes_place() const { return false; }
  bool swaps(const Blocks& blocks) const { return takes_place() && takes(blocks, false); }

  /// Blocks of working memory that a call may take: of this rank at first, and after share_working_blocks(most) the most
  /// that any rank needs, which is what decisions may be based on.
  virtual std::int64_t working_blocks() const = 0;
  virtual void share_working_blocks(std::int64_t most) = 0;

  /// Exchanges blocks. Collective; blocks until the rank's own part is done; allocates nothing once scratch memory and
  /// lists are there. `sent`, set where there is an error: whether anything was sent; if not, MPI has refused the
  /// arguments, and the call may be made again. Not to be called by two threads at a time (nor would MPI allow it on one communicator).
  ///
  /// An error on this rank, call.failure among them, does not end the exchange: marked messages take the place of what
  /// it cannot send, so that every rank whose data depend on it returns an error, too, and all stay in step. Only where
  /// MPI itself fails again and again the exchange is given up; then it is broken().
  virtual int run(const Blocks& send, const Blocks& receive, const Invocation& call, bool& sent) = 0;

  /// The same without waiting: start() readies everything, which is local, and advance() does what can be done, as often
  /// as it returns `unfinished`; then it is over, with MPI_SUCCESS or an error. The blocks stay where they are until
  /// then.
  virtual void start(const Blocks& send, const Blocks& receive, const Invocation& call) = 0;
  virtual int advance() = 0;

  /// What this rank sends in one exchange of such blocks; what is not known before is of the last one that start()
  /// began: nothing if there was none.
  virtual std::optional<SentTraffic> traffic(const Blocks& sent) const = 0;

  /// The most bytes of working memory in use at a time so far, without staging.
  virtual std::int64_t peak_bytes() const = 0;

  /// Whether nothing can be exchanged any more: what was under way is unknown.
  bool broken() const { return broken_; }

 protected:
  const Spec spec_;
  const Tags tags_;
  bool broken_ = false;
};

}  // namespace swapmeet
