/// The proof of a schedule by symbolic execution of all ranks together. Blocks are names (source, destination), not
/// bytes.
///
/// The proof holds for the given P and every block size:
///   delivery    every receive block d of every rank ends with block (d, rank): all bytes, each once, in its place
///   lifetime    within a step no operation accesses a block that another one writes, so no order of completion can
///               overwrite a block that is still needed, or send one that has not arrived; across steps the symbolic
///               contents show it
///   matching    the n-th send of a to b and the n-th receive of b from a carry equally many blocks; none is left over
///   sizes       both ends agree on whether a message is the last of its blocks (Message::last), and it is: so sizes
///               are sent exactly if the receiver does not know them, and messages match whatever the sizes, zero
///               included
///   progress    no deadlock even if every send is a rendezvous, for every order of completion (see below)
///   bounds      every peer, buffer and block number exists; nothing is written to the send buffer; no message to self
///
/// One execution covers every order of completion. The operations that a rank has started depend only on the numbers of
/// its completed sends and receives, and grow with them; a message can complete once both its ends have started. So no
/// completion disables another one (the system is persistent), and by the diamond lemma (newman1942) all maximal
/// executions complete the same messages. search_orders() (tools/search) checks that argument by brute force on small
/// cases.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "schedule/flow.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

struct Verdict {
  std::vector<std::string> findings;  ///< defects, at most `most_findings`; empty: proved
  std::int64_t messages = 0;          ///< of all ranks
  std::int64_t blocks = 0;            ///< in all messages
  bool proved() const { return findings.empty(); }

  static constexpr std::size_t most_findings = 8;
  /// Adds a finding, unless there are most_findings already.
  void add(std::string finding);
};

/// A callback that is called from time to time with the fraction done, 0 to 1. If it returns false, the proof stops and
/// the verdict says so.
using Progress = std::function<bool(double)>;

/// Verifies the schedules of all ranks; `schedules[r]` is that of rank r. All segments behave alike, so one pass is
/// executed.
Verdict verify(std::span<const Schedule> schedules, const Progress& progress = {});

/// Generates and verifies `spec` on all ranks: schedules, for blocks of equal size, and flows, for unequal ones.
Verdict verify(const Spec& spec, const Shape& shape, const Progress& progress = {});

/// Verifies flows, which are executed for unequal blocks, for all sizes (zero included), windows and completion rules.
/// Each block is received once, at its destination. A forwarded block has arrived before the round begins in which it
/// is sent on, is sent on once, and is not kept after that. Messages match, as do the messages that are the last of
/// their blocks. No rank waits forever.
Verdict verify_flows(std::span<const Flow> flows, const Progress& progress = {});

}  // namespace swapmeet
