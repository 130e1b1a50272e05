/// When a communicator is worth setting up, by the automatic choice: before its ranks meet, and, on several nodes, before they
/// join.
#pragma once

#include <cstdint>
#include <utility>

namespace swapmeet {

/// What earlier runs have left of calls of a kind.
struct EarlierCalls {
  bool measured = false;  ///< by something else than the host MPI
  std::int64_t made = 0;  ///< on each communicator of this program's last run, at least; 0: not known
};

/// Before the ranks have met, the first calls are left to the host MPI by their number alone, as communicators that are made for
/// few calls cannot earn what meeting takes. They count below as calls like the one that is asked about.
///
/// Setting up on several nodes takes some six small collectives, about as long as six calls with the smallest blocks (which take as many
/// rounds of messages). What a call gains is not known before. So the host MPI serves the first calls, until they have taken
/// about as long: then setting up costs at most what they took, and a program at most twice the better of both ways,
/// however many calls it makes (ski rental); three times, where earlier runs have made enough such calls to measure them,
/// and half is awaited. None is, where each communicator of this program's last run made so many calls that by the host MPI
/// they take four times as long as setting up: if fewer come now, each communicator has lost it in this run, but not in the
/// next one. The time of a call is the model's: no clock is read, so all ranks do the same. In a first run at least
/// three calls are awaited: the first may make connections, and two are timed. So programs of three calls, as transforms
/// make them, never set up.
class SetupPolicy {
 public:
  static constexpr double first_calls = 6, first_known_calls = 3, repeated_calls = 4 * first_calls;
  static constexpr int least_calls = 3;

  /// The next `calls` calls are left to the host MPI before the ranks meet.
  void leave(int calls) { to_leave_ = calls; }
  /// Whether the call that comes is; counts it.
  bool leaves_call() { return to_leave_ > 0 && (++left_, to_leave_-- > 0); }
  bool leaves_more() const { return to_leave_ > 0; }
  /// The ranks meet: no call is left for that any more.
  void set_up() { to_leave_ = 0; }

  /// Counts a call that takes as long as `small_calls` of the smallest blocks (family.hpp). Whether setting up is worth it now.
  bool over(const EarlierCalls& earlier, double small_calls) {
    awaited_ += std::exchange(left_, 0) * small_calls;
    if (earlier.measured && static_cast<double>(earlier.made) * small_calls >= repeated_calls) return true;
    if (earlier.measured ? awaited_ >= first_known_calls : awaited_ >= first_calls && calls_ >= least_calls)
      return true;
    awaited_ += small_calls;
    ++calls_;
    return false;
  }

  /// Many calls will come: the user has said so.
  void end() {
    awaited_ = first_calls;
    calls_ = least_calls;
  }

 private:
  int to_leave_ = 0, left_ = 0;  ///< before the ranks meet
  double awaited_ = 0;           ///< in calls of the smallest blocks
  int calls_ = 0;                ///< since they have met: these are timed
};

}  // namespace swapmeet
