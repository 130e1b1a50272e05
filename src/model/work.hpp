/// Work describes an exchange independently of the block size and the machine: the messages and blocks of ranks and
/// nodes, within nodes and between them, the batches of messages, and the copies. Prices are computed from it:
/// model/price.hpp.
///
/// Ranks differ, because a rank at the edge of a node sends more of its messages to other nodes. Each number of a phase
/// is that of the rank (or node) and of the direction (sent or received) with the most.
///
/// Copies are those of a rank in the middle. A run that wraps around the end of a buffer is counted as one piece. If
/// places are proxies, each forwarded block is counted as one piece.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "schedule/spec.hpp"
#include "topology/nodes.hpp"

namespace swapmeet {

/// Messages of one kind in a phase.
struct PhaseTraffic {
  std::int64_t messages = 0, blocks = 0;      ///< of a rank
  double node_messages = 0, node_blocks = 0;  ///< of a node: those that leave it (between nodes) or stay in it
};

/// Messages of a rank that have the same size.
struct EqualMessages {
  std::int64_t messages = 0;
  double blocks = 0;                   ///< in each message
  std::int64_t firsts = 0, lasts = 0;  ///< number of batches that begin with such a message, and that end with one
};

/// Messages that do not wait for one another: those of a digit, those of a phase of leaders, or the empty messages that
/// grant the messages of the next phase.
struct PhaseWork {
  PhaseTraffic within{}, between{};
  std::int64_t batches = 0;
  std::array<EqualMessages, 3> by_size{};  ///< the largest messages first, in the order in which they are sent

  std::int64_t messages() const { return within.messages + between.messages; }
};

struct Copies {
  double blocks = 0, pieces = 0;
};

struct Work {
  std::vector<PhaseWork> phases;
  Copies packed;                   ///< copies by Swapmeet: packing, unpacking, rotations, the own block
  Copies typed;                    ///< copies by MPI, which gathers or scatters blocks
  double typed_messages = 0;       ///< number of messages with copies by MPI
  Rank ranks = 0;                  ///< P
  bool shared = false;             ///< whether messages within nodes bypass MPI
  bool rows = false;               ///< whether these are sent by rows of shared memory, if blocks fit
  bool sliding = false;            ///< whether the next message may start before its batch is complete
  std::int64_t segment_bytes = 0;  ///< as in Schedule
};

/// Returns the copies of a step, as the executor makes them. A run whose blocks are not contiguous in the source,
/// in the target or in both has as many pieces as blocks; any other run is one piece.
Copies copies_of(const Schedule& schedule, const Step& step);

/// Copies by MPI in the messages of a step whose blocks are not contiguous.
struct TypedCopies : Copies {
  double messages = 0;  ///< number of messages with such blocks, sent or received
};
TypedCopies typed_copies_of(const Schedule& schedule, const Step& step);

/// The copies in a step of an exchange: each number is that of the rank with the most.
struct StepCopies {
  Copies copies;
  TypedCopies typed;
  /// Adds those of a rank.
  void keep_most(const Schedule& schedule, const Step& step);
};

/// Sets the batches of a phase whose messages are sorted by size: `window` messages each; 0: all messages.
void set_batches(PhaseWork& phase, std::int64_t window);

/// Sets the batches of a phase, with messages distributed among them as equally as possible.
void spread_batches(PhaseWork& phase, std::int64_t batches);

/// Sets `work` to the work of `spec`, reusing its memory. O(digits · nodes' size) for one dimension on nodes of
/// consecutive ranks and for dims=nodes on equal nodes; O(nodes) for direct exchanges on any nodes; otherwise up to
/// O(ranks · rounds). Requires that spec.family is not Family::native and that unsuitable(spec, shape) is empty.
void count_work(const Spec& spec, const Shape& shape, const Nodes& nodes, Work& work);

}  // namespace swapmeet
