/// The automatic choice, as data. Between 2 and many ranks, for blocks in a range of sizes, a spec and where its
/// thresholds come from.
#include "select/select.hpp"

namespace swapmeet {

namespace {
constexpr std::int32_t any_ranks = INT32_MAX;
constexpr std::int64_t any_bytes = INT64_MAX;
}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = {
      {Collective::alltoall, 2, 64, 0, any_bytes, "shared-memory", "docs/measurements/node.md", true},
      {Collective::alltoallv, 2, 64, 0, any_bytes, "shared-memory", "docs/measurements/node.md", true},
      {Collective::alltoall, 64, any_ranks, 512, 16384, "random-sendrecv", "slimfly, section 2: 512 B to 16 KiB"},
      {Collective::alltoall, 64, any_ranks, 16385, any_bytes, "random-segmented", "slimfly, section 2: above 16 KiB"},
  };
  return table;
}

}  // namespace swapmeet
