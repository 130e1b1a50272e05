/// Generators of Slim Fly, fat trees, dragonfly and torus.
#include "network/generators.hpp"

#include <string>

#include "network/galois.hpp"

namespace swapmeet {

namespace {

/// Adds a switch called `name` with `count` hosts. The names of hosts are n0, n1, ... over the whole network.
Vertex switch_with_hosts(NetworkBuilder& network, const std::string& name, std::int32_t count, std::int32_t& hosts) {
  const Vertex vertex = network.switch_(name);
  for (std::int32_t i = 0; i < count; ++i) network.link(network.host("n" + std::to_string(hosts++)), vertex);
  return vertex;
}

std::string label(const char* letter, std::int32_t i) { return letter + std::to_string(i); }
std::string label(const char* letter, std::int32_t i, std::int32_t j) {
  return label(letter, i) + '.' + std::to_string(j);
}

/// Adds the powers with exponents from `first` to `last`, in steps of 2, to a set of field elements.
void powers(const Galois& field, std::int32_t first, std::int32_t last, std::vector<bool>& set) {
  for (std::int32_t e = first; e <= last; e += 2) set[static_cast<std::size_t>(field.power(e))] = true;
}

std::optional<Problem> too_large(double vertices) {
  if (vertices <= most_vertices) return std::nullopt;
  return Problem{"more than " + std::to_string(most_vertices) + " hosts and switches"};
}

}  // namespace

Result<Network> slim_fly(std::int32_t q, std::int32_t hosts) {
  if (auto problem = too_large(2.0 * q * q * (1.0 + hosts))) return *problem;
  const std::int32_t delta = q % 4 == 3 ? -1 : q % 4;
  const auto field = Galois::of(q);
  if (!field || delta == 2)
    return Problem{"q must be a prime power of the form 4w-1, 4w or 4w+1, as in 5, 7, 8, 9, 11; not " +
                   std::to_string(q)};
  const std::int32_t w = (q - delta) / 4;
  std::vector<bool> in_x(static_cast<std::size_t>(q)), in_x2(static_cast<std::size_t>(q));
  if (delta == -1) {
    powers(*field, 0, 2 * w - 2, in_x);
    powers(*field, 2 * w - 1, 4 * w - 3, in_x);
    powers(*field, 1, 2 * w - 1, in_x2);
    powers(*field, 2 * w, 4 * w - 2, in_x2);
  } else {
    powers(*field, 0, delta == 1 ? q - 3 : q - 2, in_x);
    powers(*field, 1, delta == 1 ? q - 2 : q - 1, in_x2);
  }
  NetworkBuilder network;
  std::vector<Vertex> at;  // (0, x, y), then (1, m, c)
  std::int32_t count = 0;
  for (std::int32_t half = 0; half < 2; ++half)
    for (std::int32_t i = 0; i < q * q; ++i)
      at.push_back(switch_with_hosts(network, label(half ? "b" : "a", i / q, i % q), hosts, count));
  const auto router = [&](std::int32_t half, std::int32_t i, std::int32_t j) {
    return at[static_cast<std::size_t>((half * q + i) * q + j)];
  };
  for (std::int32_t x = 0; x < q; ++x)
    for (std::int32_t y = 0; y < q; ++y)
      for (std::int32_t z = 0; z < q; ++z) {
        if (in_x[static_cast<std::size_t>(field->subtract(y, z))]) network.arc(router(0, x, y), router(0, x, z));
        if (in_x2[static_cast<std::size_t>(field->subtract(y, z))]) network.arc(router(1, x, y), router(1, x, z));
        network.link(router(0, x, field->add(field->multiply(z, x), y)), router(1, z, y));  // y' = m·x + c
      }
  return std::move(network).finish();
}

Result<Network> fat_tree(std::int32_t leaves, std::int32_t hosts, std::int32_t spines, std::int32_t parallel) {
  if (auto problem = too_large(leaves * (1.0 + hosts) + spines)) return *problem;
  NetworkBuilder network;
  std::int32_t count = 0;
  for (std::int32_t leaf = 0; leaf < leaves; ++leaf) switch_with_hosts(network, label("leaf", leaf), hosts, count);
  for (std::int32_t spine = 0; spine < spines; ++spine)
    for (std::int32_t leaf = 0; leaf < leaves; ++leaf)
      network.link(network.switch_(label("leaf", leaf)), network.switch_(label("spine", spine)), parallel);
  return std::move(network).finish();
}

Result<Network> fat_tree3(std::int32_t pods, std::int32_t leaves, std::int32_t hosts, std::int32_t aggregations,
                          std::int32_t cores) {
  if (auto problem = too_large(pods * (leaves * (1.0 + hosts) + aggregations) + 1.0 * aggregations * cores))
    return *problem;
  NetworkBuilder network;
  std::int32_t count = 0;
  for (std::int32_t pod = 0; pod < pods; ++pod)
    for (std::int32_t leaf = 0; leaf < leaves; ++leaf)
      switch_with_hosts(network, label("leaf", pod, leaf), hosts, count);
  for (std::int32_t pod = 0; pod < pods; ++pod)
    for (std::int32_t i = 0; i < aggregations; ++i) {
      const Vertex aggregation = network.switch_(label("aggregation", pod, i));
      for (std::int32_t leaf = 0; leaf < leaves; ++leaf)
        network.link(network.switch_(label("leaf", pod, leaf)), aggregation);
      for (std::int32_t core = 0; core < cores; ++core)
        network.link(aggregation, network.switch_(label("core", i, core)));
    }
  return std::move(network).finish();
}

Result<Network> dragonfly(std::int32_t a, std::int32_t p, std::int32_t h, std::int32_t g) {
  if (g == 0) g = a * h + 1;
  if (auto problem = too_large(1.0 * g * a * (1.0 + p))) return *problem;
  if (g > a * h + 1)
    return Problem{"g must not be more than a*h+1 = " + std::to_string(a * h + 1) +
                   ": a group has one link to every other"};
  NetworkBuilder network;
  std::int32_t count = 0;
  std::vector<Vertex> at;
  for (std::int32_t i = 0; i < g * a; ++i) at.push_back(switch_with_hosts(network, label("g", i / a, i % a), p, count));
  for (std::int32_t group = 0; group < g; ++group) {
    for (std::int32_t i = 0; i < a; ++i)
      for (std::int32_t j = 0; j < i; ++j)
        network.link(at[static_cast<std::size_t>(group * a + i)], at[static_cast<std::size_t>(group * a + j)]);
    if (g == 1) break;
    for (std::int32_t port = 0; port < a * h / (g - 1) * (g - 1); ++port) {
      const std::int32_t offset = port % (g - 1) + 1, other = (group + offset) % g;
      const std::int32_t back = port - offset + g - offset;  // the port of the other group that leads here
      if (group < other)
        network.link(at[static_cast<std::size_t>(group * a + port / h)],
                     at[static_cast<std::size_t>(other * a + back / h)]);
    }
  }
  return std::move(network).finish();
}

constexpr double most_routes = 1 << 23;

/// Adds, at each switch of a torus, the next vertex on the way to each host.
void route_by_dimension(NetworkBuilder& network, const std::vector<std::int32_t>& sizes, std::int32_t hosts,
                        const std::vector<Vertex>& at) {
  const auto places = static_cast<std::int32_t>(at.size());
  for (std::int32_t to = 0; to < places; ++to) {
    // The sum of the destination's coordinates decides between two ways of equal length, so adjacent places are reached
    // by different ways.
    std::int32_t odd = 0, rest = to;
    for (const std::int32_t size : sizes) odd += rest % size, rest /= size;
    std::vector<Vertex> ends;
    for (std::int32_t host = 0; host < hosts; ++host)
      ends.push_back(*network.find("n" + std::to_string(to * hosts + host)));
    for (std::int32_t from = 0; from < places; ++from) {
      std::int32_t stride = 1;
      for (const std::int32_t size : sizes) {
        const std::int32_t here = from / stride % size, ahead = (to / stride % size - here + size) % size;
        if (ahead == 0) {
          stride *= size;
          continue;
        }
        const bool up = 2 * ahead < size || (2 * ahead == size && odd % 2 == 0);
        const std::int32_t next = (here + (up ? 1 : size - 1)) % size;
        const Vertex neighbour = at[static_cast<std::size_t>(from + (next - here) * stride)];
        for (const Vertex end : ends) network.route(at[static_cast<std::size_t>(from)], end, neighbour);
        break;
      }
    }
  }
}

Result<Network> torus(const std::vector<std::int32_t>& sizes, std::int32_t hosts, bool ordered) {
  double places = 1;
  for (const std::int32_t size : sizes) places *= size;
  if (auto problem = too_large(places * (1.0 + hosts))) return *problem;
  if (ordered && places * places * hosts > most_routes)
    return Problem{"ordered=1 is for up to 8 million routes, a switch times a host each: leave it out"};
  NetworkBuilder network;
  std::int32_t count = 0;
  std::vector<Vertex> at;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(places); ++i) {
    std::string name = "t";
    std::int32_t rest = i;
    for (std::size_t d = 0; d < sizes.size(); rest /= sizes[d++])
      name += (d ? "." : "") + std::to_string(rest % sizes[d]);
    at.push_back(switch_with_hosts(network, name, hosts, count));
  }
  std::int32_t stride = 1;
  for (const std::int32_t size : sizes) {
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(places); ++i) {
      const std::int32_t along = i / stride % size, next = along + 1 < size ? i + stride : i - along * stride;
      if (size > 2 || next > i) network.link(at[static_cast<std::size_t>(i)], at[static_cast<std::size_t>(next)]);
    }
    stride *= size;
  }
  if (ordered) route_by_dimension(network, sizes, hosts, at);
  return std::move(network).finish();
}

}  // namespace swapmeet
