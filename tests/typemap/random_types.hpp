/// Datatypes drawn at random: every constructor of MPI, inside one another.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <random>

/// Draws; the same from the same seed, wherever.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  /// From `least` to `most`.
  int number(int least, int most) {
    return least +
           static_cast<int>(engine_() % (static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1));
  }
  bool chance(int percent) { return number(1, 100) <= percent; }

 private:
  std::mt19937_64 engine_;
};

/// Not committed; to be freed. Its elements do not overlap, and no part is empty: MPICH 5.0.2 divides by zero when it packs
/// such types, and Open MPI 5.0.11 reads beyond the data of some that overlap.
MPI_Datatype random_type(Draw& draw, int depth);
