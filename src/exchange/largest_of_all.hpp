/// Numbers on which the ranks of an exchange agree before it: element by element the largest of all ranks.
#pragma once

#include <array>
#include <span>

#include "exchange/invocation.hpp"
#include "exchange/tags.hpp"
#include "model/threshold.hpp"

namespace swapmeet {

/// By dissemination: in round k each rank tells the one 2^k further what it knows, so that after ceil(log2 P) rounds all
/// know of all; a maximum does not mind what it hears twice. Faster than the host MPI's MPI_Allreduce and MPI_Allgather,
/// and without the milliseconds that its first MPI_Allreduce can take (MPICH). One thread at a time.
class LargestOfAll {
 public:
  static constexpr std::size_t most = 2 + size_classes;

  /// `values`: at most `most`, as many on all ranks. Collective; in a coroutine, which is left while it waits. Returns an
  /// error of MPI, MPI_ERR_OTHER if other ranks are in another exchange; then nothing may be exchanged on `call.comm`.
  int settle(std::span<std::int64_t> values, const Tags& tags, const Invocation& call);

 private:
  int swap(std::size_t count, Rank to, Rank from, int tag, const Invocation& call);

  // Of this object, for what fails may still be under way: the number of the call, as it is and negative, then the values.
  std::array<std::int64_t, most + 2> ours_, theirs_;
};

}  // namespace swapmeet
