/// Brute-force searches through every order in which ranks can go on: what the proofs of verify/ say, seen by other means.
#pragma once

#include <cstdint>
#include <span>

#include "engine/rows_in_turn.hpp"
#include "verify/verify.hpp"

namespace swapmeet {

/// Walks through every order in which sends (buffered or rendezvous) and receives can complete, at most `most_states`
/// states, and reports a state in which rendezvous messages alone cannot go on, or in which a block is written while
/// another message in flight reads or writes it. For a few ranks only. Independent of verify().
/// Sets `states` to the number of states seen; reports a finding if there are more than `most_states`.
Verdict search_orders(std::span<const Schedule> schedules, std::int64_t most_states, std::int64_t& states);

/// Walks through every order in which ranks can do so many exchanges over rows that are used in turn, and reports a row
/// that is overwritten while another rank reads it, or has yet to, or that no rank can go on. At most `most_states`
/// states; `ranks` <= 8. Sets `states` as search_orders() does.
Verdict search_rows(Rank ranks, const RowsInTurn& turns, std::uint32_t exchanges, std::int64_t most_states,
                    std::int64_t& states);

}  // namespace swapmeet
