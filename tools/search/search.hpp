/// Brute-force searches over every order in which ranks can proceed: independent checks of the proofs in proofs/.
#pragma once

#include <cstdint>
#include <span>

#include "engine/rows_in_turn.hpp"
#include "proofs/verify.hpp"

namespace swapmeet {

/// Visits every order in which sends (buffered or rendezvous) and receives can complete. Reports a state in which
/// rendezvous messages alone cannot proceed, or in which a block is written while another message in flight reads or
/// writes it. For a few ranks only; independent of verify(). Sets `states` to the number of visited states, and reports
/// a finding if there are more than `most_states`.
Verdict search_orders(std::span<const Schedule> schedules, std::int64_t most_states, std::int64_t& states);

/// Visits every order in which ranks can execute `exchanges` exchanges over rows that are used in turn. Reports a row
/// that is overwritten while another rank reads it or has yet to read it, and a state in which no rank can proceed.
/// `ranks` <= 8. Sets `states` and limits them as search_orders() does.
Verdict search_rows(Rank ranks, const RowsInTurn& turns, std::uint32_t exchanges, std::int64_t most_states,
                    std::int64_t& states);

}  // namespace swapmeet
