/// The calls that are exchanges of all with all, and of neighbours in a virtual topology.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace swapmeet {

enum class Collective : std::uint8_t {
  alltoall,
  alltoallv,
  alltoallw,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw
};
inline constexpr std::array<std::string_view, 6> collective_names{
    "Alltoall", "Alltoallv", "Alltoallw", "Neighbor_alltoall", "Neighbor_alltoallv", "Neighbor_alltoallw"};
/// Those of all with all come first: the only ones that are remembered and in tuning files.
inline constexpr std::size_t alltoalls = 3;

constexpr std::string_view name_of(Collective collective) {
  return collective_names[static_cast<std::size_t>(collective)];
}

/// Of the call that does not block, as in "Ialltoall".
inline std::string name_of_start(Collective collective) {
  std::string name = "I" + std::string(name_of(collective));
  name[1] = static_cast<char>(name[1] - 'A' + 'a');
  return name;
}

constexpr bool of_neighbours(Collective collective) { return static_cast<std::size_t>(collective) >= alltoalls; }

/// Whether blocks differ in size, and no rank knows the sizes of all. (Ranks that are no neighbours may have blocks of
/// different sizes in one MPI_Neighbor_alltoall.)
constexpr bool of_unequal_blocks(Collective collective) { return collective != Collective::alltoall; }

}  // namespace swapmeet
