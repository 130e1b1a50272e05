/// The parts of verify() that look at schedules without executing them.
#pragma once

#include <span>
#include <vector>

#include "verify/verify.hpp"

namespace swapmeet {

/// Where the messages of all ranks stand in one global numbering: rank r's i-th send is sends[r] + i.
struct Numbering {
  std::vector<std::uint32_t> sends, receives;  ///< shape (P + 1,): first number of each rank
  std::vector<std::uint32_t> receive_of;       ///< for each send, the receive that it matches
  std::vector<std::uint32_t> send_of;          ///< for each receive, the send that it matches
};

/// "rank 3, step 1"
std::string place(const Schedule& schedule, std::size_t step);

void check_bounds(const Schedule& schedule, Verdict& verdict);

/// No block written by one operation of a step is touched by another. Requires bounds.
void check_independence(const Schedule& schedule, Verdict& verdict);

/// Pairs sends and receives. Requires bounds.
Numbering match(std::span<const Schedule> schedules, Verdict& verdict);

}  // namespace swapmeet
