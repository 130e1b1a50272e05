/// When a communicator on several nodes is worth setting up, by the automatic choice.
#pragma once

namespace swapmeet {

/// Setting up takes some six small collectives, about as long as six calls with the smallest blocks (which take as many
/// rounds of messages). What a call gains is not known before. So the host MPI serves the first calls, until they have taken
/// about as long: then setting up costs at most what they took, and a program at most twice the better of both ways,
/// however many calls it makes (ski rental); three times, where earlier runs have made enough such calls to measure them,
/// and half is awaited. The time of a call is the model's: no clock is read, so all ranks do the same. In a first run at least
/// three calls are awaited: the first may make connections, and two are timed. So programs of three calls, as transforms
/// make them, never set up.
class SetupPolicy {
 public:
  static constexpr double first_calls = 6, first_known_calls = 3;
  static constexpr int least_calls = 3;

  /// Counts a call that takes as long as `small_calls` of the smallest blocks (family.hpp). Whether setting up is worth it now.
  /// `known`: such calls were measured in an earlier run.
  bool over(bool known, double small_calls) {
    if (known ? awaited_ >= first_known_calls : awaited_ >= first_calls && calls_ >= least_calls) return true;
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
