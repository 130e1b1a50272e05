/// The automatic choice where nothing was measured, as data: a spec, and where its thresholds come from; and what to
/// try.
#include "choose/select.hpp"

namespace swapmeet {

const std::vector<Rule>& rules() {
  constexpr Range one_node{1, 1}, nodes{2, 16}, shared{2};
  constexpr const char *node = "docs/measurements/node.md", *cluster = "docs/measurements/cluster.md";
  constexpr const char* small = "two-layer(intra=shm,r1=all,r2=all)";
  constexpr const char* small_ones =
      "two-layer(intra=shm,r1=all,r2=all,direct=1KiB)";  // larger blocks are sent directly
  const auto spec = [](const char* text) { return *parse_spec(text); };
  static const std::vector<Rule> table = {
      {Collective::alltoall, {2, 64}, one_node, {}, spec("shared-memory"), node},
      {Collective::alltoallv, {2, 64}, one_node, {}, spec("shared-memory"), node},
      {Collective::alltoallw, {2, 64}, one_node, {}, spec("shared-memory"), "docs/measurements/typed.md"},
      {Collective::alltoall, {8, 64}, nodes, {0, 1024}, spec(small), cluster, shared},
      {Collective::alltoallv, {8, 64}, nodes, {}, spec(small_ones), cluster, shared},
  };
  return table;
}

const std::vector<Rule>& trial_rules() {
  constexpr Range one_node{1, 1}, nodes{2}, any{1};
  const auto rule = [](Collective collective, Range ranks, Range on, Range bytes, const char* spec) {
    return Rule{collective, ranks, on, bytes, *parse_spec(spec), "on trial"};
  };
  static const std::vector<Rule> table = [&] {
    std::vector<Rule> all;
    for (const Collective collective : {Collective::alltoall, Collective::alltoallv, Collective::alltoallw}) {
      all.push_back(rule(collective, {2, 64}, one_node, {}, "shared-memory"));
      all.push_back(rule(collective, {2}, any, {}, "spread-out"));
      all.push_back(rule(collective, {3}, any, {}, "pairwise"));
      all.push_back(rule(collective, {8}, any, {512}, "random-sendrecv"));
      all.push_back(rule(collective, {4}, nodes, {0, 65536}, "two-layer(intra=auto,r1=all,r2=all)"));
      all.push_back(rule(collective, {65}, nodes, {0, 128}, "two-layer(intra=auto,r1=all,r2=root)"));
      all.push_back(rule(collective, {4}, nodes, {0, 4096}, "node-leaders"));
      all.push_back(rule(collective, {6}, any, {0, 2048}, "bruck(radix=root,layout=zero-rotation,window=all)"));
      all.push_back(rule(collective, {12}, any, {0, 128}, "bruck(radix=2,layout=zero-rotation)"));
    }
    return all;
  }();
  return table;
}

}  // namespace swapmeet
