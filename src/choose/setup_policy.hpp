/// When a communicator on several nodes is worth setting up, by the automatic choice.
#pragma once

namespace swapmeet {

/// Setting up takes some six small collectives, about as long as so many calls that are worth it (those of small blocks,
/// which take as many rounds of messages). What a call gains is not known before. So as many calls go to the host MPI
/// first: then setting up costs at most what they took, and a program at most twice the better of both ways, however
/// many calls it makes (as who rents skis for some winters before buying them); three times, where earlier runs have made
/// enough such calls to measure them, and fewer are awaited. Nobody reads a clock, so all ranks do the same.
class SetupPolicy {
 public:
  static constexpr int first_calls = 6, first_known_calls = 3;

  /// Counts a call. Whether it is worth it now. `known`: such calls were measured in an earlier run.
  bool over(bool known) {
    const int first = known ? first_known_calls : first_calls;
    return calls_ >= first || ++calls_ > first;
  }

  /// Many calls will come: somebody said so.
  void end() { calls_ = first_calls; }

 private:
  int calls_ = 0;
};

}  // namespace swapmeet
