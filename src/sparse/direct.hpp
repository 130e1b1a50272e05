/// A sparse exchange whose messages are sent directly from source to destination. The destination learns of them in one
/// of two ways:
///
///   barrier  (NBX) All sends are synchronous. A rank whose sends are complete starts a barrier, and continues to
///            receive until the barrier is over. Then every message of every rank has been found.
///   census   All ranks first count, by a reduction, the messages for each rank.
///
/// Source:  hoefler2010sparse (docs/papers.bib)
/// Cost:    m messages sent and n received; barrier: O(log P) latencies and one more for each synchronous send; census:
///          O(log P) latencies and the reduction of P counts
/// Memory:  m + n messages; census: P counts in addition        [checked by tests/core/sparse_test.py]
#pragma once

#include "engine/engine.hpp"
#include "sparse/arrivals.hpp"
#include "sparse/fabric.hpp"

namespace swapmeet {

template <SparseFabric Fabric>
class SparseDirect {
 public:
  /// `window`: the number of this rank's messages in flight at a time; 0: all.
  SparseDirect(std::span<const SparseSend> sends, Rank me, std::int32_t window, bool census, Arrivals& arrivals)
      : sends_(sends), me_(me), window_(window == 0 ? sends.size() : static_cast<std::size_t>(window)), census_(census),
        arrivals_(arrivals) {}

  /// Continues as far as possible without waiting. Returns 0 when the exchange is complete, `unfinished`, or an error
  /// of the fabric.
  int advance(Fabric& fabric) {
    for (bool moved = true; moved;) {
      moved = false;
      if (const int error = send_more(fabric, moved)) return error;
      if (const int error = receive_more(fabric, moved)) return error;
      if (const int error = go_on(fabric, moved)) return error;
      if (stage_ == Stage::over) return 0;
    }
    return unfinished;
  }

 private:
  /// closing: the barrier or the count is under way; finishing: the last sends and receives are being completed
  enum class Stage : std::uint8_t { sending, closing, finishing, over };

  int send_more(Fabric& fabric, bool& moved) {
    const std::size_t before = under_way_;
    if (const int error = fabric.sends_left(Channel::direct, under_way_)) return error;
    moved |= under_way_ != before;
    for (; next_ < sends_.size() && under_way_ < window_; ++next_) {
      moved = true;
      if (sends_[next_].destination == me_) {
        if (const int error = keep_own(fabric)) return error;
        continue;
      }
      if (const int error = fabric.send_own(next_, !census_)) return error;
      ++under_way_;
    }
    return 0;
  }

  int keep_own(Fabric& fabric) {
    ++received_;
    char* const room = arrivals_.add(me_, sends_[next_].bytes);
    return room ? fabric.copy_own(next_, room) : 0;
  }

  int receive_more(Fabric& fabric, bool& moved) {
    for (FoundMessage found;;) {
      if (census_ && stage_ == Stage::finishing && received_ == expected_) return 0;
      if (const int error = fabric.look(Channel::direct, any_source, found)) return error;
      if (!found.there) return 0;
      moved = true;
      ++received_;
      if (const int error = fabric.receive(arrivals_.add(found.source, found.bytes), found.bytes)) return error;
    }
  }

  int go_on(Fabric& fabric, bool& moved) {
    const Stage before = stage_;
    bool over = false;
    if (stage_ == Stage::sending) {
      if (census_) {
        // At once, before the sends are complete: a rank that waits in census() may not receive.
        stage_ = Stage::closing;
      } else if (next_ == sends_.size() && under_way_ == 0) {
        stage_ = Stage::closing;
        if (const int error = fabric.begin_barrier()) return error;
      }
    }
    if (stage_ == Stage::closing) {
      const int error = census_ ? fabric.census(expected_, over) : fabric.barrier_over(over);
      if (error) return error;
      if (over) stage_ = Stage::finishing;
    } else if (stage_ == Stage::finishing && next_ == sends_.size() && under_way_ == 0 &&
               (!census_ || received_ == expected_)) {
      std::size_t left = 0;
      if (const int error = fabric.receives_left(left)) return error;
      if (left == 0) stage_ = Stage::over;
    }
    moved |= stage_ != before;
    return 0;
  }

  std::span<const SparseSend> sends_;
  Rank me_;
  std::size_t window_;
  bool census_;
  Arrivals& arrivals_;
  Stage stage_ = Stage::sending;
  std::size_t next_ = 0, under_way_ = 0;
  std::int64_t received_ = 0, expected_ = 0;
};

}  // namespace swapmeet
