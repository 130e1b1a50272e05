/// The calls that are exchanges of all with all.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace swapmeet {

enum class Collective : std::uint8_t { alltoall, alltoallv, alltoallw };
inline constexpr std::array<std::string_view, 3> collective_names{"Alltoall", "Alltoallv", "Alltoallw"};

constexpr std::string_view name_of(Collective collective) {
  return collective_names[static_cast<std::size_t>(collective)];
}

/// Whether blocks differ in size, and no rank knows the sizes of all.
constexpr bool of_unequal_blocks(Collective collective) { return collective != Collective::alltoall; }

}  // namespace swapmeet
