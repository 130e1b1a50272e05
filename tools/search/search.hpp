/// A brute-force search over every order in which messages can complete: an independent check of the proofs in proofs/.
#pragma once

#include <cstdint>
#include <span>

#include "proofs/verify.hpp"

namespace swapmeet {

/// Visits every order in which sends (buffered or rendezvous) and receives can complete. Reports a state in which
/// rendezvous messages alone cannot proceed, or in which a block is written while another message in flight reads or
/// writes it. For a few ranks only; independent of verify(). Sets `states` to the number of visited states, and reports
/// a finding if there are more than `most_states`.
Verdict search_orders(std::span<const Schedule> schedules, std::int64_t most_states, std::int64_t& states);

}  // namespace swapmeet
