#include "choose/family.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/families.hpp"
#include "algorithms/generate.hpp"
#include "model/counts.hpp"

namespace swapmeet {

namespace {

/// Returns a shape with nodes of consecutive ranks and equal size.
Shape even_shape(std::int32_t nodes, std::int32_t per_node) {
  Shape shape{nodes * per_node};
  if (nodes == 1) return shape;
  std::vector<std::int32_t> node_of;
  node_of.reserve(static_cast<std::size_t>(shape.ranks));
  for (Rank rank = 0; rank < shape.ranks; ++rank) node_of.push_back(rank / per_node);
  shape.hierarchy = {std::move(node_of)};
  return shape;
}

std::int32_t root_of(std::int32_t number, int degree) {
  std::int32_t root = 2;
  const auto power = [&](std::int64_t base) {
    std::int64_t product = 1;
    for (int i = 0; i < degree && product < number; ++i) product *= base;
    return product;
  };
  while (power(root) < number) ++root;
  return root;
}

/// Returns the candidate radices for a dimension of this size: small ones, roots, and some between the square root and
/// the size. One of them is nearly always close to the best (docs/models.md).
std::vector<std::int32_t> radices_of(std::int32_t size) {
  std::vector<std::int32_t> radices;
  const auto add = [&](std::int32_t radix) {
    if (radix >= 2 && radix < size) radices.push_back(radix);
  };
  for (const std::int32_t small : {2, 3, 4, 8}) add(small);
  for (int degree = 2; degree <= 4; ++degree) add(root_of(size, degree));
  for (const std::int32_t part : {size / 4, size / 2}) add(part);
  std::ranges::sort(radices);
  const auto twice = std::ranges::unique(radices);
  radices.erase(twice.begin(), twice.end());
  return radices;
}

Spec direct(std::int32_t window, Completion completion, Transport intra, Order order = Order::shift) {
  Spec spec;
  spec.family = Family::direct;
  spec.order = order;
  spec.window = window;
  spec.completion = completion;
  spec.intra = intra;
  return spec;
}

Spec bruck(Dimensions dimensions, std::vector<Radices> radices, std::int32_t window, Transport intra,
           Paths paths = Paths::ordered) {
  Spec spec;
  spec.family = Family::bruck;
  spec.dimensions = std::move(dimensions);
  spec.radices = std::move(radices);
  spec.window = window;
  spec.intra = intra;
  spec.layout = Layout::zero_rotation;
  spec.paths = paths;
  return spec;
}

}  // namespace

CallKind kind_of(Collective collective, const Shape& shape, std::int32_t size_class) {
  const Nodes nodes(shape);
  return {collective, shape.ranks, nodes.count(), nodes.smallest(), nodes.largest(), size_class};
}

std::int64_t typical_bytes(std::int32_t size_class) {
  constexpr std::int32_t unknown = 6;
  return std::int64_t{1} << (size_class == unknown_class ? unknown : size_class);
}

PricedFamily::PricedFamily(const CallKind& kind, const Means& means, const Machine& machine, Model model, bool crowded)
    : PricedFamily(kind, means, machine, model, crowded,
                   even_shape(kind.nodes, (kind.ranks + kind.nodes - 1) / kind.nodes)) {}

PricedFamily::PricedFamily(const CallKind& kind, const Means& means, const Machine& machine, Model model, bool crowded,
                           const Shape& shape)
    : PricedSpecs(machine, model, HostPrice(kind.collective, shape, Nodes(shape))), kind_(kind), means_(means),
      oversubscribed_(crowded), per_node_((kind.ranks + kind.nodes - 1) / kind.nodes), shape_(shape), nodes_(shape_) {
  add_direct();
  add_bruck();
  add_nodes();
}

void PricedFamily::add(Spec spec) {
  Work work;
  if (!count(spec, work)) return;
  if (of_unequal_blocks(kind_.collective) && forwards(spec)) spec.direct_bytes = most_forwarded(work);
  PricedSpecs::add(std::move(spec), std::move(work));
}

/// Returns the size in bytes above which unequal blocks are sent directly instead of being forwarded. It is larger if
/// ranks share cores, where a message costs more.
std::int64_t PricedFamily::most_forwarded(const Work& work) const {
  constexpr std::int64_t least = 1 << 10, most = 16 << 10, step = 4;
  std::int64_t bytes = least;
  while (oversubscribed_ && bytes < most && seconds(work, step * bytes) < host_seconds(step * bytes)) bytes *= step;
  return bytes;
}

void PricedFamily::add_direct() {
  if (kind_.nodes == 1 && means_.shared_memory) add(direct(0, Completion::all, Transport::rows));
  const bool several = kind_.nodes > 1 && per_node_ > 1, shares = several && means_.shared_memory;
  // The order by nodes is estimated to be within 1 % of the shift order or faster; on dragonflies and Slim Flies it is
  // up to 5 times as fast (docs/networks.md). On more ranks, SWAPMEET_UNEXPECTED_LIMIT would make it wait for grants.
  constexpr Rank most_ranks = 2048;
  const bool even = 2 * kind_.least_per_node >= kind_.most_per_node;
  const Order order = several && even && kind_.ranks <= most_ranks ? Order::groups : Order::shift;
  for (const Transport intra : {Transport::mpi, Transport::automatic}) {
    if (intra != Transport::mpi && !shares) continue;
    add(direct(0, Completion::all, intra));
    if (kind_.ranks > 2) add(direct(1, Completion::all, intra));
    for (const std::int32_t window : {8, 32})
      if (window < kind_.ranks) add(direct(window, Completion::any, intra, order));
  }
}

/// Adds Bruck's algorithm. It is left out where shared memory was measured to be faster than any forwarding: on a node
/// with up to 64 ranks (docs/measurements/node.md).
void PricedFamily::add_bruck() {
  constexpr Rank measured = 64;
  const bool shared = kind_.nodes == 1 && means_.shared_memory;
  if (kind_.ranks < 4 || (shared && kind_.ranks <= measured)) return;
  std::vector<std::int32_t> radices = radices_of(kind_.ranks);
  if (kind_.nodes > 1)
    for (const std::int32_t radix : {per_node_, 2 * per_node_})
      if (radix > 1 && radix < kind_.ranks && std::ranges::count(radices, radix) == 0) radices.push_back(radix);
  for (const std::int32_t radix : radices) {
    add(bruck({}, {{radix}}, 1, shared ? Transport::automatic : Transport::mpi));
    if (radix > 2) add(bruck({}, {{radix}}, 0, shared ? Transport::automatic : Transport::mpi));
  }
  // A square grid, if there is one node or nodes are whole rows of it. For other grids the work would have to be
  // counted rank by rank.
  const std::int32_t side = root_of(kind_.ranks, 2);
  if (side * side == kind_.ranks && (kind_.nodes == 1 || per_node_ % side == 0))
    for (const Paths paths : {Paths::ordered, Paths::rotated})
      if (paths == Paths::ordered || may_rotate())
        add(bruck({Dimensions::Kind::automatic, {2}}, {{Radix::all}}, 0, Transport::mpi, paths));
}

/// Adds the algorithms that distinguish nodes. They are left out if a node has less than half the ranks of another: it
/// would have too few ranks to send for it.
void PricedFamily::add_nodes() {
  if (kind_.nodes == 1 || kind_.least_per_node < 2 || 2 * kind_.least_per_node < kind_.most_per_node) return;
  std::vector<std::int32_t> between = radices_of(kind_.nodes), within{Radix::all};
  between.push_back(Radix::all);
  if (per_node_ > 4) within.insert(within.end(), {Radix::root, 2});
  for (const Transport intra : {Transport::shm, Transport::mpi}) {
    if (intra == Transport::shm && !means_.shared_memory) continue;
    for (const std::int32_t r1 : within)
      for (const std::int32_t r2 : between) add(bruck({Dimensions::Kind::nodes, {}}, {{r1}, {r2}}, 0, intra));
    if (may_rotate()) add(bruck({Dimensions::Kind::nodes, {}}, {{Radix::all}}, 0, intra, Paths::rotated));
  }
  if (!means_.shared_memory) return;
  for (std::int32_t leaders = 1; leaders <= per_node_ && leaders <= 16; leaders *= 2) {
    Spec spec;
    spec.family = Family::leaders;
    spec.leaders = leaders == per_node_ ? 0 : leaders;
    spec.intra = Transport::automatic;
    add(std::move(spec));
  }
}

/// Whether rotated paths are candidates; they keep memory and network busy at the same time. Their work is counted
/// block by block in the schedule of one rank, which stands for all ranks if nodes are equal; so many blocks take about
/// 0.1 ms.
bool PricedFamily::may_rotate() const {
  constexpr std::int64_t most_blocks = 20'000;
  const bool equal = kind_.least_per_node == kind_.most_per_node;
  return kind_.nodes > 1 && equal && std::int64_t{kind_.ranks} * per_node_ <= most_blocks;
}

bool PricedFamily::count(const Spec& spec, Work& work) const {
  Spec even = spec;  // the same ranks and nodes, wherever the ranks are placed
  if (spec.dimensions.kind == Dimensions::Kind::nodes && kind_.nodes > 1)
    even.dimensions = {Dimensions::Kind::given, {per_node_, kind_.nodes}};
  if (even.order == Order::topology || even.order == Order::groups) even.order = Order::shift;
  if (even.family == Family::native || !unsuitable(even, shape_).empty()) return false;
  // counting would take the schedules of all ranks
  if (!has_closed_form(even) && !alike_on(even, shape_)) return false;
  count_work(even, shape_, nodes_, work);
  return true;
}

double PricedSpecs::seconds(std::size_t point, std::int64_t block_bytes) const {
  return seconds(points_[point].work, block_bytes);
}

double PricedSpecs::seconds(const Work& work, std::int64_t block_bytes) const {
  return 1e-6 * price(work, machine_, model_, block_bytes).total();
}

double PricedSpecs::seconds(const Spec& spec, std::int64_t block_bytes) const {
  if (spec.family == Family::native) return host_seconds(block_bytes);
  const std::optional<Price> found = price_of(spec, block_bytes);
  return found ? 1e-6 * found->total() : -1;
}

std::optional<Price> PricedSpecs::price_of(const Spec& spec, std::int64_t block_bytes) const {
  const auto point = std::ranges::find(points_, spec, &Point::spec);
  if (point != points_.end()) return price(point->work, machine_, model_, block_bytes);
  Work work;
  if (!count(spec, work)) return std::nullopt;
  return price(work, machine_, model_, block_bytes);
}

double PricedSpecs::apart_s(const Spec& spec, const Spec& other, std::int64_t block_bytes) const {
  const std::optional<Price> one = price_of(spec, block_bytes), two = price_of(other, block_bytes);
  if (!one || !two) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const auto part :
       {&Price::latency, &Price::overhead, &Price::gap, &Price::bandwidth, &Price::pack, &Price::call})
    sum += std::abs(*one.*part - *two.*part);
  return 1e-6 * sum;
}

HostPrice::HostPrice(Collective collective, const Shape& shape, const Nodes& nodes) {
  std::vector<Spec> flat{direct(32, Completion::any, Transport::mpi), direct(1, Completion::all, Transport::mpi)};
  if (!of_unequal_blocks(collective)) flat.push_back(bruck({}, {{2}}, 1, Transport::mpi));
  for (const Spec& spec : flat)
    if (unsuitable(spec, shape).empty()) count_work(spec, shape, nodes, works_.emplace_back());
}

double HostPrice::seconds(Machine machine, Model model, std::int64_t block_bytes) const {
  double least = std::numeric_limits<double>::max();
  machine.memory_byte_ns *= 2;
  for (const Work& work : works_) least = std::min(least, price(work, machine, model, block_bytes).total());
  return 1e-6 * least;
}

double in_small_calls(const CallKind& kind, const Machine& machine, Model model) {
  const Shape shape = even_shape(kind.nodes, (kind.ranks + kind.nodes - 1) / kind.nodes);
  const Nodes nodes(shape);
  const double small_s = HostPrice(Collective::alltoall, shape, nodes).seconds(machine, model, typical_bytes(0));
  const HostPrice host(kind.collective, shape, nodes);
  return std::max(1.0, host.seconds(machine, model, typical_bytes(kind.size_class)) / small_s);
}

}  // namespace swapmeet
