/// The automatic choice where nothing was measured, as data: a spec, and where its thresholds come from.
#include "select/select.hpp"

namespace swapmeet {

const std::vector<Rule>& rules() {
  constexpr Range any{1}, one_node{1, 1};
  static const std::vector<Rule> table = {
      {Collective::alltoall, {2, 64}, one_node, {}, *parse_spec("shared-memory"), "docs/measurements/node.md"},
      {Collective::alltoallv, {2, 64}, one_node, {}, *parse_spec("shared-memory"), "docs/measurements/node.md"},
      {Collective::alltoall, {64}, any, {512, 16384}, *parse_spec("random-sendrecv"), "slimfly, section 2: 512 B to 16 KiB"},
      {Collective::alltoall, {64}, any, {16385}, *parse_spec("random-segmented"), "slimfly, section 2: above 16 KiB"},
  };
  return table;
}

}  // namespace swapmeet
