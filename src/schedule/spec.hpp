/// A spec names one point of the family of schedules: what a user types, what a tuning file holds, what a plan prints.
///
///   spec      = name [ "(" [ parameter { "," parameter } ] ")" ]
///   parameter = key "=" value
///   name      = a family (`native`, `direct`, `bruck`, `leaders`) or an alias (`pairwise`, ...), which is a family
///             with parameters set
///
/// A value may hold commas and blanks between parentheses, which come in pairs: order=topology(slim-fly(q=5,hosts=4)).
/// Blanks are free. Parameters given to an alias override its own. to_text(spec) prints the family form, with the
/// parameters that always matter and those that differ from their defaults; parsing it gives the same spec.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/names.hpp"
#include "schedule/result.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

enum class Family : std::uint8_t {
  native,   ///< the host MPI
  direct,   ///< every block is sent directly from its source to its destination
  bruck,    ///< blocks travel digit by digit, in few large messages, through other ranks
  leaders,  ///< blocks for other nodes are gathered by some ranks of a node, sent, and scattered again
};
inline constexpr std::array<std::string_view, 4> family_names{"native", "direct", "bruck", "leaders"};

/// The order in which a rank exchanges with its peers in a direct exchange. See algorithms/orders.hpp.
enum class Order : std::uint8_t { shift, exclusive_or, random, scatter, topology, groups };
inline constexpr std::array<std::string_view, 6> order_names{"shift", "xor", "random", "scatter", "topology", "groups"};

/// What order=topology(...) says: where a conflict-free order comes from (network/order.hpp).
struct OrderSource {
  std::string network;  ///< a file, or a network by name
  std::string routing;  ///< destination, first or hash[:SEED]; "": destination
  std::string place;    ///< the hosts of the ranks of MPI_COMM_WORLD, as parse_placement() reads them; "": ask MPI
  bool operator==(const OrderSource&) const = default;
};

/// Where blocks under way are kept, in a store-and-forward exchange. See schedule/placement.hpp.
enum class Layout : std::uint8_t { basic, modified, zero_rotation, zero_copy };
inline constexpr std::array<std::string_view, 4> layout_names{"basic", "modified", "zero-rotation", "zero-copy"};

/// How blocks that do not lie side by side get into one message.
enum class Packing : std::uint8_t { memcpy, datatype };
inline constexpr std::array<std::string_view, 2> packing_names{"memcpy", "datatype"};

/// How blocks of unequal size are exchanged (Alltoallv), where their sizes are not known at both ends. See
/// engine/varying.hpp.
enum class Sizes : std::uint8_t {
  automatic,  ///< direct exchange: each end knows the size; bruck: as `combined`
  padded,     ///< all blocks are made as large as the largest, then exchanged as equal ones
  ahead,      ///< a message with the sizes goes ahead of each message
  combined,   ///< sizes and data are one message, whose length the receiver asks MPI for
  total,      ///< a message with the length goes ahead of one with sizes and data
};
inline constexpr std::array<std::string_view, 5> sizes_names{"auto", "padded", "ahead", "combined", "total"};

/// How the blocks of a message of the last dimension travel (between nodes, say).
enum class Grouping : std::uint8_t {
  coalesced,  ///< together
  staggered,  ///< each in a message of its own
};
inline constexpr std::array<std::string_view, 2> grouping_names{"coalesced", "staggered"};

/// What values the digits of a way have. See topology/arrangement.hpp.
enum class Digits : std::uint8_t {
  standard,  ///< 0 to r-1: blocks move ahead only
  balanced,  ///< -r/2 to r/2: ahead and back, half as far
};
inline constexpr std::array<std::string_view, 2> digits_names{"standard", "balanced"};

/// In which order blocks travel along the dimensions.
enum class Paths : std::uint8_t {
  ordered,  ///< all along the first, then along the second, ...
  rotated,  ///< some begin with the first, as many with the second, ...: all dimensions are in use at once
};
inline constexpr std::array<std::string_view, 2> paths_names{"ordered", "rotated"};

/// How messages between ranks of a node travel. See node/node.hpp.
enum class Transport : std::uint8_t {
  mpi,
  shm,        ///< through shared memory: two copies, no system call
  cma,        ///< the receiver reads the sender's memory: a single copy
  automatic,  ///< small messages through shared memory, large ones by a single copy, if that is possible
  rows,       ///< the same, but small ones by a row of shared memory for each rank: direct exchanges of one round only
};
inline constexpr std::array<std::string_view, 5> transport_names{"mpi", "shm", "cma", "auto", "rows"};

/// How a sparse exchange is made, in which each rank gives only the messages that it has. See sparse/rendezvous.hpp and
/// sparse/forwarding.hpp.
enum class Sparse : std::uint8_t {
  automatic,  ///< by the number of ranks: choose/sparse.hpp
  nbx,        ///< directly, by synchronous sends and a barrier that does not block
  census,     ///< directly, after all ranks have summed up how many messages are for each
  forward,    ///< through other ranks, by the digits of the family bruck
};
inline constexpr std::array<std::string_view, 4> sparse_names{"auto", "nbx", "census", "forward"};

/// The radices of one dimension, least significant digit first; the last one is repeated as often as it takes.
/// Instead of a number: Radix::all (the size of the dimension) or Radix::root (its square root, rounded up).
using Radices = std::vector<std::int32_t>;
namespace Radix {
inline constexpr std::int32_t all = 0, root = -1;
}

/// How ranks are arranged in dimensions.
struct Dimensions {
  enum class Kind : std::uint8_t {
    one,        ///< a single dimension
    given,      ///< `sizes`, the first running fastest; their product is the number of ranks
    automatic,  ///< sizes[0] factors as equal as can be
    nodes,      ///< ranks of a node, nodes, and so on up the hierarchy; its groups may be of any size and order
    groups,     ///< groups of sizes[0] consecutive ranks, in groups of sizes[1], ...; the last of each may be smaller
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
  OrderSource source{};          ///< of order=topology
  std::int32_t group_ranks = 0;  ///< of order=groups: consecutive ranks in a group; 0: groups are nodes
  std::int32_t window = 0;       ///< messages in flight in each direction; 0: all
  Completion completion = Completion::all;
  Posting posting = Posting::receives_first;
  std::int64_t segment_bytes = 0;    ///< 0: whole blocks
  std::uint64_t seed = 0;            ///< of the random orders, mixed with the number of ranks; the same on every rank
  Transport intra = Transport::mpi;  ///< between ranks of a node
  // Of the family leaders only:
  std::int32_t leaders = 1;  ///< ranks of a node that send for it; 0: all
  // Of the family bruck only:
  Dimensions dimensions = Dimensions();  // {}: a false alarm of GCC 12, of what may be uninitialised
  std::vector<Radices> radices{{2}};     ///< of each dimension; the last entry serves the dimensions after it
  Layout layout = Layout::basic;
  Packing packing = Packing::memcpy;
  Grouping grouping = Grouping::coalesced;
  Digits digits = Digits::standard;
  Paths paths = Paths::ordered;
  // For blocks of unequal size:
  Sizes sizes = Sizes::automatic;
  /// Blocks of more bytes than this are sent directly to their destination: a number, or Direct::never or Direct::automatic.
  std::int64_t direct_bytes = Direct::standard;

  // For sparse exchanges:
  Sparse sparse = Sparse::automatic;

  bool operator==(const Spec&) const = default;
};

/// One row of the table of parameters: how a key is read, printed and explained.
struct Parameter {
  std::string_view key;
  std::string_view synonym;  ///< another word of the field for it, or ""
  std::string_view values;   ///< what may follow the "=", for messages and help
  std::string_view meaning;
  std::vector<Family> families;  ///< that it is a parameter of
  bool always_printed;
  bool (*read)(std::string_view text, Spec& spec);  ///< false: not a value of this parameter
  std::string (*print)(const Spec& spec);
};

/// A name for a point of the family.
struct Alias {
  std::string_view name;
  std::string_view expansion;
  std::string_view meaning;
  std::string_view source;  ///< key in docs/papers.bib
};

/// Reads 8192, 8KiB, 8K, 1MiB, ...: 0 to `most` bytes. False: not that.
bool read_bytes(std::string_view text, std::int64_t most, std::int64_t& bytes);

const std::vector<Parameter>& parameters();
const std::vector<Alias>& aliases();

Result<Spec> parse_spec(std::string_view text);
std::string to_text(const Spec& spec);

/// Whether blocks travel through ranks that are neither their source nor their destination.
bool forwards(const Spec& spec);

/// Whether blocks of unequal size take more than the schedule: their sizes are known at too few ranks, or padded.
bool needs_sizes(const Spec& spec);

}  // namespace swapmeet
