/// MPI's all-to-all collectives, and those among the neighbours of a virtual topology.
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
/// Number of all-to-all collectives, which come first in the enumeration. Remembered measurements and tuning files
/// cover only these.
inline constexpr std::size_t alltoalls = 3;

constexpr std::string_view name_of(Collective collective) {
  return collective_names[static_cast<std::size_t>(collective)];
}

/// Returns the name of the nonblocking call, such as "Ialltoall".
inline std::string name_of_start(Collective collective) {
  std::string name = "I" + std::string(name_of(collective));
  name[1] = static_cast<char>(name[1] - 'A' + 'a');
  return name;
}

constexpr bool of_neighbours(Collective collective) { return static_cast<std::size_t>(collective) >= alltoalls; }

/// Whether blocks may differ in size without any rank knowing the sizes of all. This includes MPI_Neighbor_alltoall:
/// its blocks have equal sizes between neighbours, but ranks that are not neighbours of each other may use different
/// sizes.
constexpr bool of_unequal_blocks(Collective collective) { return collective != Collective::alltoall; }

}  // namespace swapmeet
