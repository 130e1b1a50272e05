/// The table of the parameters of specs, as data.
#include "schedule/spec.hpp"

namespace swapmeet {

namespace {

constexpr std::array<std::pair<std::string_view, int>, 9> byte_units{
    {{"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"G", 30}, {"M", 20}, {"K", 10}, {"k", 10}, {"B", 0}, {"", 0}}};

std::string print_bytes(std::int64_t bytes) {
  for (const auto& [unit, shift] : byte_units)
    if (unit.size() == 3 && bytes != 0 && bytes % (std::int64_t{1} << shift) == 0)
      return std::to_string(bytes >> shift) + std::string(unit);
  return std::to_string(bytes);
}

template <class Enum, std::size_t n>
bool read_name(std::string_view text, const std::array<std::string_view, n>& names, Enum& value) {
  const auto found = named<Enum>(text, names);
  if (found) value = *found;
  return found.has_value();
}

/// Reads and prints a parameter whose values are names.
template <auto Spec::* member, auto& names>
bool read_named(std::string_view text, Spec& spec) {
  return read_name(text, names, spec.*member);
}
template <auto Spec::* member, auto& names>
std::string print_named(const Spec& spec) {
  return std::string(names[static_cast<std::size_t>(spec.*member)]);
}

bool read_window(std::string_view text, Spec& spec) {
  if (text == "all") return spec.window = 0, true;
  return read_number(text, 1, 1 << 20, spec.window);
}

template <class List, class Print>
std::string print_list(const List& list, char separator, Print print) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : std::string(1, separator)) + print(item);
  return text;
}

constexpr std::int32_t most_size = 1 << 30;

bool read_radices(std::string_view text, Radices& radices) {
  radices.clear();
  return read_list(text, '-', [&](std::string_view word) {
    std::int32_t radix = 0;
    if (word == "all") radix = Radix::all;
    else if (word == "root") radix = Radix::root;
    else if (!read_number(word, 2, most_size, radix)) return false;
    radices.push_back(radix);
    return true;
  });
}

bool read_all_radices(std::string_view text, Spec& spec) {
  spec.radices.clear();
  return read_list(text, '/', [&](std::string_view word) {
    spec.radices.emplace_back();
    return read_radices(word, spec.radices.back());
  });
}

std::string print_radices(const Spec& spec) {
  return print_list(spec.radices, '/', [](const Radices& radices) {
    return print_list(radices, '-', [](std::int32_t r) {
      return r == Radix::all ? "all" : r == Radix::root ? "root" : std::to_string(r);
    });
  });
}

/// Reads the radices of one dimension: the parameters r1 and r2 of two layers.
template <std::size_t dimension>
bool read_layer_radix(std::string_view text, Spec& spec) {
  while (spec.radices.size() <= dimension) spec.radices.push_back(spec.radices.back());
  return read_radices(text, spec.radices[dimension]);
}

bool read_sizes(std::string_view text, char separator, std::vector<std::int32_t>& sizes) {
  sizes.clear();
  return read_list(text, separator,
                   [&](std::string_view word) { return read_number(word, 1, most_size, sizes.emplace_back()); });
}

bool read_dimensions(std::string_view text, Spec& spec) {
  using Kind = Dimensions::Kind;
  Dimensions& dimensions = spec.dimensions;
  dimensions = {};
  if (text == "P") return true;
  if (text == "nodes") return dimensions.kind = Kind::nodes, true;
  if (text.size() == 2 && text[1] == 'd' && text[0] >= '2' && text[0] <= '9')
    return dimensions = {Kind::automatic, {text[0] - '0'}}, true;
  dimensions.kind = text.starts_with("groups:") ? Kind::groups : Kind::given;
  return dimensions.kind == Kind::given ? read_sizes(text, 'x', dimensions.sizes)
                                        : read_sizes(text.substr(7), '/', dimensions.sizes);
}

std::string print_dimensions(const Spec& spec) {
  using Kind = Dimensions::Kind;
  const auto number = [](std::int32_t size) { return std::to_string(size); };
  const auto& sizes = spec.dimensions.sizes;
  switch (spec.dimensions.kind) {
    case Kind::one: return "P";
    case Kind::nodes: return "nodes";
    case Kind::automatic: return number(sizes[0]) + 'd';
    case Kind::groups: return "groups:" + print_list(sizes, '/', number);
    case Kind::given: break;
  }
  return print_list(sizes, 'x', number);
}

/// Whether parentheses are balanced and all characters are printable. An empty text is not well-formed.
bool well_formed(std::string_view text) {
  int depth = 0;
  for (const char c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f || (depth += (c == '(') - (c == ')')) < 0) return false;
  return depth == 0 && !text.empty();
}

bool is_routing(std::string_view text) {
  std::uint64_t seed = 0;
  return text == "destination" || text == "first" || text == "hash" ||
         (text.starts_with("hash:") && read_number(text.substr(5), 0, UINT64_MAX, seed));
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Reads topology(FILE[,routing=WAY][,place=PLACEMENT]). The placement comes last because it may contain commas. Names
/// have no blanks, since a blank ends a spec in files of rules and measurements.
bool read_source(std::string_view text, OrderSource& source) {
  constexpr std::string_view name = "topology(", routing_key = ",routing=", place_key = ",place=";
  if (!text.starts_with(name) || !text.ends_with(')')) return false;
  text = text.substr(name.size(), text.size() - name.size() - 1);
  if (!well_formed(text)) return false;
  source = {};
  const std::size_t place = text.find(place_key);
  if (place != text.npos) source.place = trimmed(text.substr(place + place_key.size()));
  std::string_view rest = text.substr(0, place);
  const std::size_t routing = rest.rfind(routing_key);
  if (routing != rest.npos) source.routing = trimmed(rest.substr(routing + routing_key.size()));
  if (routing != rest.npos && !is_routing(source.routing)) return false;
  rest = trimmed(rest.substr(0, routing));
  if (rest.empty() || rest.find(routing_key) != rest.npos || (place != text.npos && source.place.empty())) return false;
  source.network = rest;
  if (source.network.find(' ') != rest.npos || source.place.find(' ') != rest.npos) return false;
  if (source.routing == "destination") source.routing.clear();
  return true;
}

bool read_order(std::string_view text, Spec& spec) {
  if (text.starts_with("topology")) return read_source(text, spec.source) && (spec.order = Order::topology, true);
  spec.source = {};
  spec.group_ranks = 0;
  constexpr std::string_view groups = "groups:";
  if (!text.starts_with(groups)) return text != "groups" && read_name(text, order_names, spec.order);
  spec.order = Order::groups;
  text.remove_prefix(groups.size());
  return text == "nodes" || read_number(text, 1, most_size, spec.group_ranks);
}

/// Reads an order of nodes. It does not accept groups:nodes: each node would be in a group of its own, which is
/// order=shift.
bool read_node_order(std::string_view text, Spec& spec) {
  return read_order(text, spec) && (spec.order == Order::shift || spec.order == Order::topology ||
                                    (spec.order == Order::groups && spec.group_ranks > 0));
}

std::string print_order(const Spec& spec) {
  std::string text(order_names[static_cast<std::size_t>(spec.order)]);
  if (spec.order == Order::groups)
    return text + ':' + (spec.group_ranks == 0 ? "nodes" : std::to_string(spec.group_ranks));
  if (spec.order != Order::topology) return text;
  text += '(' + spec.source.network;
  if (!spec.source.routing.empty()) text += ",routing=" + spec.source.routing;
  if (!spec.source.place.empty()) text += ",place=" + spec.source.place;
  return text + ')';
}

constexpr auto read_posting = read_named<&Spec::posting, posting_names>;
constexpr auto print_posting = print_named<&Spec::posting, posting_names>;
constexpr auto read_sparse = read_named<&Spec::sparse, sparse_names>;
constexpr auto print_sparse = print_named<&Spec::sparse, sparse_names>;

bool read_direct(std::string_view text, Spec& spec) {
  if (text == "never") return spec.direct_bytes = Direct::never, true;
  if (text == "auto") return spec.direct_bytes = Direct::automatic, true;
  return read_bytes(text, std::int64_t{1} << 50, spec.direct_bytes);
}

std::string print_direct(const Spec& spec) {
  if (spec.direct_bytes == Direct::never) return "never";
  return spec.direct_bytes == Direct::automatic ? "auto" : print_bytes(spec.direct_bytes);
}

std::vector<Parameter> make_parameters() {
  const std::vector<Family> direct{Family::direct}, bruck{Family::bruck}, leaders{Family::leaders},
      between_nodes{Family::bruck, Family::leaders};
  std::vector<Family> all, scheduled, forwarding;
  for (std::size_t i = 0; i < family_names.size(); ++i) {
    const Spec spec{.family = static_cast<Family>(i)};
    all.push_back(spec.family);
    if (spec.family != Family::native) scheduled.push_back(spec.family);
    if (forwards(spec)) forwarding.push_back(spec.family);
  }
  return {
      {"dims", "",
       "P, sizes such as 4x8, 2d to 9d (automatic factors), nodes, or groups:2/8 (ranks in a group, in a larger one)",
       "how ranks are arranged in dimensions; the exchange goes along one after the other", bruck, false,
       read_dimensions, print_dimensions},
      {"radix", "r",
       "2 or more, root (of the dimension's size) or all; for each dimension, as in 8/32; for each digit, as in 4-2",
       "the base in which the way of a block is counted: 2 gives the fewest messages, all the fewest bytes", bruck,
       true, read_all_radices, print_radices},
      {"r1", "", "2 or more, root or all", "radix of the first dimension (within a node)", bruck, false,
       read_layer_radix<0>, nullptr},
      {"r2", "", "2 or more, root or all", "radix of the second dimension (between nodes)", bruck, false,
       read_layer_radix<1>, nullptr},
      {"digits", "", "standard (0 to r-1) or balanced (-r/2 to r/2)",
       "values of the digits of a way: balanced ones go ahead and back, half as far", bruck, false,
       read_named<&Spec::digits, digits_names>, print_named<&Spec::digits, digits_names>},
      {"paths", "", "ordered or rotated",
       "the dimensions along which blocks travel: all blocks along the first, then the second, ... (ordered), or equal "
       "parts of them begin with each (rotated), which uses the links of all dimensions at once",
       bruck, false, read_named<&Spec::paths, paths_names>, print_named<&Spec::paths, paths_names>},
      {"layout", "", "basic, modified, zero-rotation or zero-copy", "where blocks under way are kept", bruck, true,
       read_named<&Spec::layout, layout_names>, print_named<&Spec::layout, layout_names>},
      {"pack", "", "memcpy or datatype", "how scattered blocks get into one message", forwarding, false,
       read_named<&Spec::packing, packing_names>, print_named<&Spec::packing, packing_names>},
      {"order", "",
       "shift, xor, random, scatter, groups:N, groups:nodes or topology(FILE[,routing=WAY][,place=PLACEMENT]), "
       "whose names have no blanks",
       "the order in which a rank exchanges with its peers: shift (rank+i, rank-i), xor (rank^i, P a power of two), "
       "random "
       "(rows of a random anti-circulant matrix), scatter (one random list, the same for all), groups (members of a "
       "group, N consecutive ranks or a node, send to different groups at a time), topology (so that messages do not "
       "share the links of a network: docs/networks.md)",
       direct, true, read_order, print_order},
      {"order", "", "shift, groups:N or topology(FILE[,routing=WAY][,place=PLACEMENT]), whose names have no blanks",
       "the order in which a node exchanges with the others, as of direct (bruck: dims=nodes, r2=all)", between_nodes,
       false, read_node_order, print_order},
      {"window", "stride", "all, or 1 to 1048576",
       "messages in flight in each direction (bruck: of one digit; leaders, complete=all: peers)", scheduled, true,
       read_window, [](const Spec& spec) { return spec.window == 0 ? "all" : std::to_string(spec.window); }},
      {"complete", "", "all, any or test",
       "when the next message starts: all (when the whole batch is done), any (when any message is), test (any, "
       "polling)",
       scheduled, true, read_named<&Spec::completion, completion_names>,
       print_named<&Spec::completion, completion_names>},
      {"post", "", "receives-first, interleaved or granted",
       "how a batch is handed to MPI; granted: a message is sent once its receiver has posted the receive and granted "
       "it by an empty message, so none arrives early",
       direct, false, read_posting, print_posting},
      {"post", "", "receives-first or interleaved", "how a batch is handed to MPI", forwarding, false,
       [](std::string_view text, Spec& spec) {
         return read_posting(text, spec) &&
                spec.posting != Posting::granted;  // messages of unknown size are received by probing
       },
       print_posting},
      {"per-node", "leaders", "1 or more, or all", "ranks of a node that send for it and receive for it", leaders, true,
       [](std::string_view text, Spec& spec) {
         return text == "all" ? (spec.leaders = 0, true) : read_number(text, 1, most_size, spec.leaders);
       },
       [](const Spec& spec) { return spec.leaders == 0 ? "all" : std::to_string(spec.leaders); }},
      {"intra", "transport", "mpi, shm, cma, auto or rows",
       "how messages within a node travel: shm (through shared memory), cma (the receiver copies from the sender's "
       "memory), auto (by size), rows (as auto, but each rank writes all its small blocks into one row: direct, "
       "window=all)",
       scheduled, false, read_named<&Spec::intra, transport_names>, print_named<&Spec::intra, transport_names>},
      {"segment", "", "0 (whole blocks), or bytes such as 8192, 8KiB, 1MiB (at most 1GiB)",
       "cut every block into segments of that many bytes and exchange them pass by pass", direct, false,
       [](std::string_view text, Spec& spec) { return read_bytes(text, std::int64_t{1} << 30, spec.segment_bytes); },
       [](const Spec& spec) { return print_bytes(spec.segment_bytes); }},
      {"seed", "", "0 to 18446744073709551615", "seed of the random orders, the same on every rank", direct, false,
       [](std::string_view text, Spec& spec) { return read_number(text, 0, UINT64_MAX, spec.seed); },
       [](const Spec& spec) { return std::to_string(spec.seed); }},
      {"messages", "", "coalesced or staggered",
       "whether blocks for several ranks share a message in the last dimension (between nodes), or have one each",
       bruck, false, read_named<&Spec::grouping, grouping_names>, print_named<&Spec::grouping, grouping_names>},
      {"sizes", "", "auto, padded, ahead, combined or total",
       "Alltoallv: how sizes get to ranks that do not know them: padded (all blocks as large as the largest), ahead "
       "(sent ahead of each message), combined (with it), total (its length ahead of it, the sizes with it); auto: "
       "known ones, or combined",
       all, false, read_named<&Spec::sizes, sizes_names>, print_named<&Spec::sizes, sizes_names>},
      {"direct", "", "never, auto (agreed at each call), or bytes such as 8192 or 32KiB",
       "Alltoallv: blocks of more bytes than this are sent directly to their destination", all, false, read_direct,
       print_direct},
      {"sparse", "", "auto, nbx or census",
       "swapmeet_sparse_alltoallv: how ranks learn what comes: nbx (synchronous sends and a barrier that does not "
       "block), census (the messages for each rank are summed up first), auto (by the number of ranks)",
       direct, false,
       [](std::string_view text, Spec& spec) { return read_sparse(text, spec) && spec.sparse != Sparse::forward; },
       print_sparse},
      {"sparse", "", "auto, nbx, census or forward",
       "swapmeet_sparse_alltoallv: as of direct, or forward (messages are passed on by the digits of this family)",
       bruck, false, read_sparse, print_sparse},
  };
}

}  // namespace

bool read_bytes(std::string_view text, std::int64_t most, std::int64_t& bytes) {
  for (const auto& [unit, shift] : byte_units) {
    if (!text.ends_with(unit)) continue;
    std::int64_t number = 0;
    if (!read_number(text.substr(0, text.size() - unit.size()), 0, most >> shift, number)) return false;
    bytes = number << shift;
    return true;
  }
  return false;
}

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> table = make_parameters();
  return table;
}

}  // namespace swapmeet
