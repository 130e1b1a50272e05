/// The policy of the automatic choice for setting up a communicator: which of its first calls are left to the host MPI.
#pragma once

#include <cstdint>
#include <utility>

namespace swapmeet {

/// The records of earlier runs on calls of one kind.
struct EarlierCalls {
  bool measured = false;  ///< by another spec than the host MPI
  std::int64_t made = 0;  ///< on each communicator of this program's last run, at least; 0: unknown
};

/// The decision when to set up a communicator. It has two stages.
///
/// Before the exchange of parameters a fixed number of first calls is left to the host MPI: communicators with few
/// calls cannot earn the time of that exchange. In the second stage these calls count as calls of the kind that comes
/// next.
///
/// Setting up a communicator on several nodes takes some six small collectives, about as long as six calls with the
/// smallest blocks (which take as many rounds of messages). The gain per call is unknown beforehand. So the host MPI
/// serves the first calls until they have taken about as long as setting up (ski rental). Setting up then costs at most
/// the time of these calls, and a program takes at most twice the time of the better alternative, however many calls it
/// makes. If earlier runs made enough such calls to measure them, half as long a wait suffices, and the factor is
/// three.
///
/// There is no wait if each communicator of this program's last run made so many calls that the host MPI needs four
/// times the time of setting up for them. If fewer calls come this time, each communicator has wasted its set-up in
/// this run, but not in the next one.
///
/// The time of a call is the model's. No clock is read, so all ranks decide alike. In a first run at least three calls
/// are left to the host MPI: the first one may make connections, and two are timed. Programs with three calls, as
/// transforms make them, are thus never set up.
class SetupPolicy {
 public:
  static constexpr double first_calls = 6, first_known_calls = 3, repeated_calls = 4 * first_calls;
  static constexpr int least_calls = 3;

  /// Leaves the next `calls` calls to the host MPI, before the exchange of parameters.
  void leave(int calls) { to_leave_ = calls; }
  /// Records that `calls` such calls have been left already.
  void were_left(int calls) { left_ = calls; }
  /// Returns whether the next call is left to the host MPI before the exchange of parameters, and counts it.
  bool leaves_call() { return to_leave_ > 0 && (++left_, to_leave_-- > 0); }
  bool leaves_more() const { return to_leave_ > 0; }
  /// Records that the exchange of parameters takes place: no further call is left to the host MPI before it.
  void setup_begins() { to_leave_ = 0; }

  /// Counts a call that takes as long as `small_calls` calls with the smallest blocks (family.hpp). Returns whether to
  /// set up the communicator now.
  bool over(const EarlierCalls& earlier, double small_calls) {
    awaited_ += std::exchange(left_, 0) * small_calls;
    if (earlier.measured && static_cast<double>(earlier.made) * small_calls >= repeated_calls) return true;
    if (earlier.measured ? awaited_ >= first_known_calls : awaited_ >= first_calls && calls_ >= least_calls)
      return true;
    awaited_ += small_calls;
    ++calls_;
    return false;
  }

  /// Ends the wait: the user has announced many calls.
  void end() {
    awaited_ = first_calls;
    calls_ = least_calls;
  }

 private:
  /// calls before the exchange of parameters: still to leave; left and not yet counted in awaited_
  int to_leave_ = 0, left_ = 0;
  double awaited_ = 0;  ///< time of the calls left to the host MPI, in calls with the smallest blocks
  int calls_ = 0;       ///< calls left to the host MPI after the exchange of parameters, which are timed
};

}  // namespace swapmeet
