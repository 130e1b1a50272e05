/// A spec names one algorithm with its parameters. Users type it, tuning files hold it, plans print it.
///
///   spec      = name [ "(" [ parameter { "," parameter } ] ")" ]
///   parameter = key "=" value
///   name      = a family (`native`, `direct`, `bruck`, `leaders`) or an alias (`pairwise`, ...), which is a family
///             with parameters set
///
/// A value may contain commas and blanks between balanced parentheses: order=topology(slim-fly(q=5,hosts=4)). Blanks
/// are ignored. Parameters given to an alias override those of the alias. to_text(spec) prints the family with the
/// parameters that always matter and those that differ from their defaults; parsing this text gives the same spec.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/collective.hpp"
#include "schedule/names.hpp"
#include "schedule/result.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

enum class Family : std::uint8_t {
  native,   ///< the host MPI
  direct,   ///< every block is sent directly from its source to its destination
  bruck,    ///< blocks are forwarded digit by digit through other ranks, in few large messages
  leaders,  ///< blocks for other nodes are gathered by some ranks of a node, sent, and scattered again
};
inline constexpr std::array<std::string_view, 4> family_names{"native", "direct", "bruck", "leaders"};

/// The order in which a rank exchanges with its peers in a direct exchange. See algorithms/orders.hpp.
enum class Order : std::uint8_t { shift, exclusive_or, random, scatter, topology, groups };
inline constexpr std::array<std::string_view, 6> order_names{"shift", "xor", "random", "scatter", "topology", "groups"};

/// The arguments of order=topology(...): the origin of a conflict-free order (tools/network/order.hpp).
struct OrderSource {
  std::string network;  ///< a file, or the name of a network
  std::string routing;  ///< destination, first or hash[:SEED]; "": destination
  std::string place;    ///< hosts of the ranks of MPI_COMM_WORLD, in the form of parse_placement(); "": ask MPI
  bool operator==(const OrderSource&) const = default;
};

/// The place of blocks in transit, in a store-and-forward exchange. See schedule/placement.hpp.
enum class Layout : std::uint8_t { basic, modified, zero_rotation, zero_copy };
inline constexpr std::array<std::string_view, 4> layout_names{"basic", "modified", "zero-rotation", "zero-copy"};

/// The method by which blocks that are not contiguous are put into one message.
enum class Packing : std::uint8_t { memcpy, datatype };
inline constexpr std::array<std::string_view, 2> packing_names{"memcpy", "datatype"};

/// The method by which blocks of unequal size are exchanged (Alltoallv) if their sizes are not known at both ends. See
/// exchange/sized_plan.hpp.
enum class Sizes : std::uint8_t {
  /// direct exchange: no sizes are sent, because each end knows them; bruck: as `combined`
  automatic,
  padded,    ///< blocks are padded to the size of the largest one, then exchanged as equal blocks
  ahead,     ///< the sizes are sent in a separate message before each message
  combined,  ///< sizes and data form one message; the receiver asks MPI for its length
  total,     ///< the length of a message is sent before the message, which holds sizes and data
};
inline constexpr std::array<std::string_view, 5> sizes_names{"auto", "padded", "ahead", "combined", "total"};

/// Number of messages for the blocks that go to one peer in the last dimension (between nodes, for example).
enum class Grouping : std::uint8_t {
  coalesced,  ///< one message for all blocks
  staggered,  ///< one message for each block
};
inline constexpr std::array<std::string_view, 2> grouping_names{"coalesced", "staggered"};

/// The range of the digits of an offset. See topology/arrangement.hpp.
enum class Digits : std::uint8_t {
  standard,  ///< 0 to r-1: blocks move forward only
  balanced,  ///< -r/2 to r/2: blocks move forward and backward, half as far
};
inline constexpr std::array<std::string_view, 2> digits_names{"standard", "balanced"};

/// The order in which blocks travel along the dimensions.
enum class Paths : std::uint8_t {
  ordered,  ///< all blocks along the first dimension, then along the second, ...
  /// equal shares of the blocks begin with the first dimension, the second, ..., so that all dimensions are in use at
  /// the same time
  rotated,
};
inline constexpr std::array<std::string_view, 2> paths_names{"ordered", "rotated"};

/// The transport of messages between ranks of a node. See node/node.hpp.
enum class Transport : std::uint8_t {
  mpi,
  shm,        ///< shared memory: two copies, no system call
  cma,        ///< single copy: the receiver reads the sender's memory
  automatic,  ///< small messages through shared memory; large ones by a single copy, if possible
  /// as `automatic`, but each rank writes its small blocks into one row of shared memory; for direct exchanges of one
  /// round
  rows,
};
inline constexpr std::array<std::string_view, 5> transport_names{"mpi", "shm", "cma", "auto", "rows"};

/// The algorithm of sparse exchanges, in which each rank knows only the messages that it sends. See
/// sparse/direct.hpp and sparse/forwarding.hpp.
enum class Sparse : std::uint8_t {
  automatic,  ///< chosen by the number of ranks: choose/sparse.hpp
  nbx,        ///< direct messages, with synchronous sends and a nonblocking barrier
  census,     ///< direct messages, after all ranks have summed up the number of messages for each rank
  forward,    ///< messages forwarded by other ranks, by the digits of the family bruck
};
inline constexpr std::array<std::string_view, 4> sparse_names{"auto", "nbx", "census", "forward"};

/// The radices of one dimension, least significant digit first. The last one is repeated as often as necessary.
/// Radix::all stands for the size of the dimension, Radix::root for its square root, rounded up.
using Radices = std::vector<std::int32_t>;
namespace Radix {
inline constexpr std::int32_t all = 0, root = -1;
}

/// The arrangement of ranks in dimensions.
struct Dimensions {
  enum class Kind : std::uint8_t {
    one,        ///< a single dimension
    given,      ///< `sizes`, the first dimension varying fastest; their product is the number of ranks
    automatic,  ///< sizes[0] dimensions of sizes as equal as possible
    /// ranks of a node, nodes, and so on up the hierarchy; groups may have any size and order
    nodes,
    /// groups of sizes[0] consecutive ranks, in groups of sizes[1], ...; the last group of each level may be smaller
    groups,
  } kind = Kind::one;
  std::vector<std::int32_t> sizes{};
  bool operator==(const Dimensions&) const = default;
};

namespace Direct {
inline constexpr std::int64_t never = INT64_MAX, automatic = -1;
inline constexpr std::int64_t standard = std::int64_t{32} << 10;  ///< docs/measurements/varying.md
}  // namespace Direct

struct Spec {
  Family family = Family::native;
  Order order = Order::shift;
  OrderSource source{};          ///< for order=topology
  std::int32_t group_ranks = 0;  ///< for order=groups: number of consecutive ranks in a group; 0: groups are nodes
  std::int32_t window = 0;       ///< messages in flight in each direction; 0: all
  Completion completion = Completion::all;
  Posting posting = Posting::receives_first;
  std::int64_t segment_bytes = 0;    ///< 0: whole blocks
  std::uint64_t seed = 0;            ///< for random orders, mixed with the number of ranks; the same on every rank
  Transport intra = Transport::mpi;  ///< transport between ranks of a node
  // For the family leaders only:
  std::int32_t leaders = 1;  ///< ranks of a node that send for it; 0: all
  // For the family bruck only:
  Dimensions dimensions = Dimensions();  // `= {}` causes a false warning of GCC 12 about uninitialised values
  std::vector<Radices> radices{{2}};     ///< for each dimension; the last entry also serves the dimensions after it
  Layout layout = Layout::basic;
  Packing packing = Packing::memcpy;
  Grouping grouping = Grouping::coalesced;
  Digits digits = Digits::standard;
  Paths paths = Paths::ordered;
  // For blocks of unequal size:
  Sizes sizes = Sizes::automatic;
  /// Blocks larger than this many bytes are sent directly to their destination: a number, Direct::never or
  /// Direct::automatic.
  std::int64_t direct_bytes = Direct::standard;

  // For sparse exchanges:
  Sparse sparse = Sparse::automatic;

  bool operator==(const Spec&) const = default;
};

/// Row of the table of parameters: how a key is read, printed and explained.
struct Parameter {
  std::string_view key;
  std::string_view synonym;  ///< an alternative name used in the literature, or ""
  std::string_view values;   ///< the accepted values, for messages and help
  std::string_view meaning;
  std::vector<Family> families;  ///< families that have this parameter
  bool always_printed;
  bool (*read)(std::string_view text, Spec& spec);  ///< returns false if `text` is not a value of this parameter
  std::string (*print)(const Spec& spec);
};

/// A name for a family with certain parameters.
struct Alias {
  std::string_view name;
  std::string_view expansion;
  std::string_view meaning;
  std::string_view source;  ///< key in docs/papers.bib
};

/// Reads a size of 0 to `most` bytes, such as 8192, 8KiB, 8K or 1MiB. Returns false if `text` is no such size.
bool read_bytes(std::string_view text, std::int64_t most, std::int64_t& bytes);

const std::vector<Parameter>& parameters();
const std::vector<Alias>& aliases();

Result<Spec> parse_spec(std::string_view text);
std::string to_text(const Spec& spec);

/// Whether blocks are forwarded by ranks that are neither their source nor their destination.
bool forwards(const Spec& spec);

/// Whether an exchange of unequal blocks needs more than the schedule, because too few ranks know the sizes or blocks
/// are padded.
bool needs_sizes(const Spec& spec);

/// Whether the ranks agree on sizes before an exchange of this collective by `spec`.
inline bool agrees_on_sizes(Collective collective, const Spec& spec) {
  return of_unequal_blocks(collective) && needs_sizes(spec);
}

}  // namespace swapmeet
