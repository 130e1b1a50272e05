#include "scenarios.hpp"

#include <array>

#include "channel_programs.hpp"
#include "heap_program.hpp"
#include "row_programs.hpp"

namespace {

template <class Exchanges, class Of>
Explorer::Make by(const Setting& setting, std::vector<Of> exchanges) {
  return [setting, exchanges] { return std::make_unique<Exchanges>(setting, exchanges); };
}

const Setting two{}, three{.ranks = 3}, one_cell{.channel = {1, 64}}, no_reading{.readable = false},
    wrapping{.first_number = 0xfffffffe, .first_call = 0xffff},
    wrapping_one_cell{.channel = {1, 64}, .first_number = 0xffffffff},
    wrapping_three{.ranks = 3, .first_number = 0xffffffff};
constexpr bool brief = true, in_the_night = false;

using Rows = std::vector<RowExchange>;
using Messages = std::vector<ChannelExchange>;

// 8 B lie beside the flag, 40 B behind all heads; more than 64 B travel by channels.
const Rows three_calls{{8}, {40}, {8}}, five_calls{{8}, {40}, {8}, {64}, {8}};
const Rows listed{{0, {8, 0, 40}}, {0, {40, 8, 0}}, {0, {0, 64, 8}}}, elsewhere{{0, {100, 8, 0}}, {0, {8, 100, 0}}},
    longer_elsewhere{{0, {100, 8, 0}}, {0, {8, 200, 100}}};
const Rows failing{{8, {}, true}, {0, {8, 8, 8}, true}, {8}};

const std::array all = {
    Scenario{"rows", 2, brief, by<RowsAtOnce>(two, three_calls)},
    Scenario{"rows-listed", 2, brief, by<RowsAtOnce>(two, listed)},
    Scenario{"rows-wrap", 2, brief,
             by<RowsAtOnce>(wrapping, Rows{{0, {8, 8, 8}}, {0, {40, 8, 0}}, {0, {0, 64, 8}}, {8}})},
    Scenario{"rows-transfers", 2, brief, by<RowsByTransfers>(two, three_calls)},
    Scenario{"rows-elsewhere", 2, brief, by<RowsByTransfers>(two, elsewhere)},
    Scenario{"rows-failing", 2, brief, by<RowsByTransfers>(two, failing)},
    Scenario{"small", 2, brief, by<ChannelProgram>(two, Messages{{{8}}, {{48}}, {{8}}})},
    Scenario{"small-one-way", 2, brief,
             by<ChannelProgram>(two, Messages{{{8, 8}, false, false, true}, {{8, 8}, false, false, true}})},
    Scenario{"small-wrap", 2, brief, by<ChannelProgram>(wrapping, Messages{{{8}}, {{48}}, {{8}}, {{8}}})},
    Scenario{"cells", 2, brief,
             by<ChannelProgram>(two, Messages{{{200}, false, false, true}, {{100, 8}, false, false, true}})},
    Scenario{"cells-both-ways", 2, brief, by<ChannelProgram>(two, Messages{{{150}}})},
    Scenario{"one-cell", 2, brief, by<ChannelProgram>(one_cell, Messages{{{100}}})},
    Scenario{"one-cell-wrap", 2, brief, by<ChannelProgram>(wrapping_one_cell, Messages{{{100}}})},
    Scenario{"offers", 2, brief, by<ChannelProgram>(two, Messages{{{100}, true}, {{100}, true}})},
    Scenario{"offers-refused", 2, brief,
             by<ChannelProgram>(no_reading, Messages{{{100}, true, false, true}, {{8}, true, false, true}})},
    Scenario{"in-place", 2, brief, by<ChannelProgram>(two, Messages{{{80}, false, true}, {{8}, false, true}})},
    Scenario{"failing", 2, brief, by<ChannelProgram>(two, Messages{{{100}, false, false, false, true}, {{8}}})},
    Scenario{"arenas", 2, brief, by<ArenaProgram>(two, Messages{{{8}}, {{8}}, {{8}}})},
    Scenario{"heap", 2, brief, [] { return std::make_unique<HeapProgram>(); }},
    Scenario{"rows-5-calls", 2, in_the_night, by<RowsAtOnce>(two, five_calls)},
    Scenario{"rows-3", 3, in_the_night, by<RowsAtOnce>(three, Rows{{8}, {8}})},
    Scenario{"rows-wrap-3", 3, in_the_night, by<RowsAtOnce>(wrapping_three, Rows{{8}, {40}})},
    Scenario{"rows-elsewhere-long", 2, in_the_night, by<RowsByTransfers>(two, longer_elsewhere)},
    Scenario{"small-3", 3, in_the_night, by<ChannelProgram>(three, Messages{{{8}}})},
    Scenario{"cells-long", 2, in_the_night,
             by<ChannelProgram>(two, Messages{{{300}, false, false, true}, {{200}, false, false, true}})},
    Scenario{"cells-receives-first", 2, in_the_night,
             by<ChannelProgram>(two, Messages{{{150}, false, false, false, false, true}})},
    Scenario{"in-place-long", 2, in_the_night, by<ChannelProgram>(two, Messages{{{150}, false, true}})},
    Scenario{
        "offers-mixed", 2, in_the_night,
        by<ChannelProgram>(
            no_reading, Messages{{{100}, true, false, true}, {{200}, false, false, true}, {{100}, true, false, true}})},
    Scenario{"offers-refused-both-ways", 2, in_the_night,
             by<ChannelProgram>(no_reading, Messages{{{100}, true}, {{8}, true}})},
    Scenario{"arenas-4", 2, in_the_night, by<ArenaProgram>(two, Messages{{{8}}, {{8, 8}}, {{8}}, {{8}}})},
};

}  // namespace

std::span<const Scenario> scenarios() { return all; }
