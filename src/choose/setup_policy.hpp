/// When a communicator on several nodes is worth setting up, by the automatic choice.
#pragma once

#include <cstdint>

namespace swapmeet {

/// What earlier runs have left of calls of a kind.
struct EarlierCalls {
  bool measured = false;  ///< by something else than the host MPI
  std::int64_t made = 0;  ///< on each communicator of this program's last run, at least; 0: not known
};

/// Setting up takes some six small collectives, about as long as six calls with the smallest blocks (which take as many
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

  /// Counts a call that takes as long as `small_calls` of the smallest blocks (family.hpp). Whether setting up is worth it now.
  bool over(const EarlierCalls& earlier, double small_calls) {
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
  double awaited_ = 0;
  int calls_ = 0;
};

}  // namespace swapmeet
