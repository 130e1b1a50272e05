/// Proof of a schedule by symbolic execution of all ranks together: blocks are names (source, destination), not bytes.
///
/// Proved for the given P, for every block size:
///   delivery    every receive block d of every rank ends with block (d, rank): all bytes, each once, in its place
///   lifetime    within a step no block that one operation writes is touched by another, so no order of completion can
///               overwrite a block that is still needed, or send one that has not arrived; across steps the symbolic
///               contents show it
///   matching    the n-th send of a to b and the n-th receive of b from a carry equally many blocks; none is left over
///   sizes       both ends agree on whether a message is the last of its blocks (Message::last), and it is: so sizes
///               are sent exactly where the receiver does not know them, and messages match whatever the sizes, zero
///               included
///   progress    no deadlock even if every send is a rendezvous, for every order of completion (see below)
///   bounds      every peer, buffer and block number exists; nothing is written to the send buffer; no message to self
///
/// One execution settles every order of completion. What a rank has started depends only on how many of its sends and
/// receives have completed, and grows with them; a message can complete once both its ends have started. So a
/// completion never disables another (the system is persistent), and by the diamond lemma (newman1942) all maximal
/// executions complete the same messages. search_orders() (tools/search) checks that argument by brute force on small cases.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "schedule/flow.hpp"
#include "schedule/spec.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

struct Verdict {
  std::vector<std::string> findings;  ///< what is wrong, at most `most_findings`; empty: proved
  std::int64_t messages = 0;          ///< of all ranks
  std::int64_t blocks = 0;            ///< in them
  bool proved() const { return findings.empty(); }

  static constexpr std::size_t most_findings = 8;
  /// Adds a finding, if there is room.
  void add(std::string finding);
};

/// Called now and then with the fraction done, 0 to 1; returns false to give up (the verdict then says so).
using Progress = std::function<bool(double)>;

/// `schedules[r]` is the schedule of rank r. All segments behave alike, so one pass is executed.
Verdict verify(std::span<const Schedule> schedules, const Progress& progress = {});

/// Generates and verifies all ranks of `spec`: schedules, for blocks of equal size, and flows, for unequal ones.
Verdict verify(const Spec& spec, const Shape& shape, const Progress& progress = {});

/// Proof of what is executed for blocks of unequal size, whatever the sizes, zero included, and whatever the windows and
/// completion rules of rounds: each block is received once, where it belongs; a block that is passed on has arrived
/// before the round in which it leaves begins, leaves once, and so is kept no longer; messages match, those that are
/// the last of their blocks among themselves; and no rank waits for ever.
Verdict verify_flows(std::span<const Flow> flows, const Progress& progress = {});

/// Proof of an exchange with neighbours, as of schedules: each block is received once, where the lists of neighbours say
/// (topology/neighbourhood.hpp), whoever has how many neighbours. `schedules[r]` and `neighbourhoods[r]` are of rank r.
Verdict verify_neighbours(std::span<const Schedule> schedules, std::span<const Neighbourhood> neighbourhoods);

/// The same of what is executed for blocks of unequal size, as of verify_flows().
Verdict verify_neighbours(std::span<const Flow> flows, std::span<const Neighbourhood> neighbourhoods);

/// Memory that verify(spec, shape) needs for a direct exchange, in bytes.
std::int64_t verify_memory_bytes(const Shape& shape);

/// Whether a selection rule may use `spec` at this P: by a proof for every P (docs/proofs.md), or by verifying now: if it
/// looks alike from every rank, a few of them (symmetry.hpp), or else all of them, if they are few.
bool proved(const Spec& spec, const Shape& shape);

}  // namespace swapmeet
