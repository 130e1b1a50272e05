#include "choose/sparse.hpp"

#include "algorithms/generate.hpp"

namespace swapmeet {

SparseChoice choose_sparse(const Shape& shape, const Options& options) {
  std::string unsuited;
  if (options.algorithm && options.algorithm->sparse != Sparse::automatic) {
    const Spec& asked = *options.algorithm;
    const bool rotated = asked.sparse == Sparse::forward && asked.paths == Paths::rotated;
    const std::string problem = rotated ? "sparse=forward takes the dimensions in order" : unsuitable(asked, shape);
    if (problem.empty()) return {*options.algorithm, "by " + options.algorithm_from};
    unsuited = options.algorithm_from + " is unsuitable: " + problem + "; ";
  }
  const bool few = shape.ranks <= most_ranks_for_census;
  Spec spec{.family = Family::direct};
  spec.sparse = few ? Sparse::census : Sparse::nbx;
  return {spec, unsuited + (few ? "up to " : "more than ") + std::to_string(most_ranks_for_census) + " ranks"};
}

bool sparse_wants_nodes(const Options& options) {
  return options.algorithm && options.algorithm->sparse == Sparse::forward &&
         options.algorithm->dimensions.kind == Dimensions::Kind::nodes;
}

}  // namespace swapmeet
