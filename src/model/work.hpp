/// What an exchange makes ranks and nodes do, whatever the size of a block and the machine: messages and blocks within
/// nodes and between them, batches of messages, copies. Prices are made of it: model/price.hpp.
///
/// Ranks differ: at the edge of a node more of a rank's messages leave it. Each number of a phase is of the rank (or
/// node), and of the direction (sent or received), that has the most. With s = z·b the way of a message on nodes of Q
/// consecutive ranks, min(s, P-s, Q) of a node's messages leave it (2Q <= P): sums over z are closed forms.
///                                                                        [checked by tests/core/work_test.py]
///
/// Copies are those of a rank in the middle: a run that wraps around the end of a buffer is taken for one piece, and
/// where places are proxies each block that is passed on is a piece of its own.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

/// Messages of one kind in a phase.
struct PhaseTraffic {
  std::int64_t messages = 0, blocks = 0;      ///< of a rank
  double node_messages = 0, node_blocks = 0;  ///< of a node: that leave it (between nodes), or stay in it
};

/// Messages of a rank that are of one size.
struct EqualMessages {
  std::int64_t messages = 0;
  double blocks = 0;                   ///< in each
  std::int64_t firsts = 0, lasts = 0;  ///< batches that begin with one of them, and that end with one
};

/// Messages that no other messages wait for: those of a digit, or of a phase of leaders; or empty ones, which grant those
/// of the next phase.
struct PhaseWork {
  PhaseTraffic within{}, between{};
  std::int64_t batches = 0;
  std::array<EqualMessages, 3> by_size{};  ///< the largest messages first, as they are sent

  std::int64_t messages() const { return within.messages + between.messages; }
};

struct Copies {
  double blocks = 0, pieces = 0;
};

struct Work {
  std::vector<PhaseWork> phases;
  Copies packed;                   ///< copied by us: packing, unpacking, rotations, the own block
  Copies typed;                    ///< gathered or scattered by MPI
  double typed_messages = 0;       ///< in which they are
  Rank ranks = 0;                  ///< P
  bool shared = false;             ///< messages within nodes do not go by MPI
  bool rows = false;               ///< but by rows of shared memory, if blocks fit
  bool sliding = false;            ///< a batch need not end before the next message starts
  std::int64_t segment_bytes = 0;  ///< see Schedule
};

/// What the copies of a step are, as the executor makes them: a run whose blocks lie apart, at either end, is as many
/// pieces as blocks; else it is one.
Copies copies_of(const Schedule& schedule, const Step& step);

/// What MPI gathers and scatters in the messages of a step whose blocks lie apart.
struct TypedCopies : Copies {
  double messages = 0;  ///< with such blocks, sent or received
};
TypedCopies typed_copies_of(const Schedule& schedule, const Step& step);

/// How ranks lie on nodes; made once for many specs.
class Nodes {
 public:
  explicit Nodes(const Shape& shape);

  std::int32_t count() const { return static_cast<std::int32_t>(sizes_.size()); }
  std::int32_t size(std::int32_t node) const { return sizes_[static_cast<std::size_t>(node)]; }
  /// Numbers from 0. Requires count() > 1.
  std::int32_t of(Rank rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  std::int32_t largest() const { return largest_; }
  std::int32_t smallest() const { return smallest_; }
  /// The most by which two ranks of a node differ.
  std::int32_t span() const { return span_; }
  /// The ranks of each node follow one another.
  bool consecutive() const { return consecutive_; }
  /// The same, and all nodes have as many.
  bool regular() const { return regular_; }

 private:
  std::vector<std::int32_t> node_of_, sizes_;
  std::int32_t largest_ = 0, smallest_ = 0, span_ = 0;
  bool consecutive_ = true, regular_ = true;
};

/// Sets the batches of a phase, of as many messages each as can be.
void spread_batches(PhaseWork& phase, std::int64_t batches);

/// Sets `work` to that of `spec`, in the memory that it has. O(digits · nodes' size) for one dimension on nodes of
/// consecutive ranks and dims=nodes on equal ones, O(nodes) for direct exchanges on any; else up to O(ranks · rounds).
/// Requires spec.family != Family::native and unsuitable(spec, shape) empty.
void count_work(const Spec& spec, const Shape& shape, const Nodes& nodes, Work& work);

}  // namespace swapmeet
