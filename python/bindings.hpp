/// What the files of the bindings share: shapes out of what Python gives, and problems as exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "algorithms/generate.hpp"
#include "network/order.hpp"
#include "schedule/spec.hpp"
#include "topology/endpoints.hpp"
#include "topology/neighbourhood.hpp"
#include "topology/node_map.hpp"

namespace swapmeet {

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) throw std::invalid_argument(result.problem().text());
  return std::move(*result);
}

/// Python's ==, which takes any object.
template <class T>
bool equals(const T& self, nanobind::handle other) {
  return nanobind::isinstance<T>(other) && self == nanobind::cast<const T&>(other);
}

/// `nodes`: as parse_node_map() reads it.
inline Shape shape_of(Rank ranks, std::string_view nodes = "") {
  if (ranks < 1) throw std::invalid_argument("there must be at least one rank, not " + std::to_string(ranks));
  return {ranks, value_or_raise(parse_node_map(nodes, ranks))};
}

/// Raises where `rank`, which is a `what`, is not one of so many.
inline void require_rank(const char* what, int rank, int ranks) {
  shape_of(ranks);
  if (rank < 0 || rank >= ranks)
    throw std::invalid_argument(std::string(what) + " " + std::to_string(rank) + " is not one of " +
                                std::to_string(ranks));
}

/// Raises where generate() would have no answer.
inline void require_schedule(const Spec& spec, Shape shape) {
  if (spec.family == Family::native) throw std::invalid_argument("native is the host MPI: it has no schedule");
  const std::string problem = unsuitable(spec, shape);
  if (!problem.empty()) throw std::invalid_argument(problem);
}

/// Calls use(surroundings, rank) for each rank, where `all` are the neighbourhoods of all ranks.
template <class Use>
void for_each_surroundings(const std::vector<Neighbourhood>& all, std::string_view nodes, Use use) {
  const auto ranks = static_cast<Rank>(all.size());
  const Shape shape = shape_of(ranks, nodes);
  for (Rank rank = 0; rank < ranks; ++rank)
    if (const Neighbourhood& one = all[static_cast<std::size_t>(rank)]; one.ranks != ranks || one.rank != rank)
      throw std::invalid_argument("there must be a neighbourhood of each rank, in order");
  for (Rank rank = 0; rank < ranks; ++rank) {
    NodeNeighbourhoods surroundings{shape, {}};
    for (const Neighbourhood& one : all)
      if (shape.share_node(rank, one.rank)) surroundings.node.push_back(one);
    use(surroundings, rank);
  }
}

/// The ranks or nodes that an order is of.
inline Members members_of(const Spec& spec, const Shape& shape) {
  return {{}, endpoints(spec, shape).first_ranks, shape.ranks};
}

/// The shape that generate() wants: with the order of the topology, if `spec` asks for one. Raises where there is none.
Shape shape_to_schedule(const Spec& spec, Rank ranks, std::string_view nodes = "");

/// What SWAPMEET_ORDER_TIME says.
double order_seconds();

/// Orders of the topology: order_bindings.cpp.
void bind_orders(nanobind::module_& m);

inline Shape shape_to_count(const Spec& spec, Rank ranks, std::string_view nodes) {
  Shape shape = shape_of(ranks, nodes);
  require_schedule(spec, shape);
  return shape;
}

/// Schedules and flows: schedule_bindings.cpp.
void bind_schedules(nanobind::module_& m);

/// Proofs and bounds: verify_bindings.cpp.
void bind_verifier(nanobind::module_& m);
void bind_certificates(nanobind::module_& m);

/// Counts of equal and of unequal blocks: count_bindings.cpp.
void bind_model(nanobind::module_& m);
void bind_varying_counts(nanobind::module_& m);

/// Workloads: workload_bindings.cpp.
void bind_workloads(nanobind::module_& m);

/// Options and the choice: choice_bindings.cpp. Calls bind_evidence() and bind_memory().
void bind_choice(nanobind::module_& m);

/// Trials of the online choice: trials_bindings.cpp.
void bind_trials(nanobind::module_& m);

/// Evidence, its files, and the store of evidence between runs: memory_bindings.cpp. The store takes options.
void bind_evidence(nanobind::module_& m);
void bind_memory(nanobind::module_& m);

/// GOAL, rounds and estimates on networks: estimate_bindings.cpp.
void bind_estimates(nanobind::module_& m);

/// Sparse exchanges: sparse_bindings.cpp.
void bind_sparse(nanobind::module_& m);

/// Machines, work and prices: price_bindings.cpp.
void bind_prices(nanobind::module_& m);

}  // namespace swapmeet
