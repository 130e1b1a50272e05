#include "mpi/neighbourhood.hpp"

#include <algorithm>

namespace swapmeet {

namespace {

bool ask_grid(MPI_Comm comm, Neighbourhood& all) {
  int dimensions = 0;
  if (PMPI_Cartdim_get(comm, &dimensions) != MPI_SUCCESS) return false;
  all.grid = true;
  for (int d = 0; d < dimensions; ++d) {
    int before = MPI_PROC_NULL, behind = MPI_PROC_NULL;
    if (PMPI_Cart_shift(comm, d, 1, &before, &behind) != MPI_SUCCESS) return false;
    all.to.insert(all.to.end(), {before, behind});
  }
  all.from = all.to;
  return true;
}

bool ask_graph(MPI_Comm comm, Neighbourhood& all) {
  int count = 0;
  if (PMPI_Graph_neighbors_count(comm, all.rank, &count) != MPI_SUCCESS) return false;
  all.to.resize(static_cast<std::size_t>(count));
  if (count > 0 && PMPI_Graph_neighbors(comm, all.rank, count, all.to.data()) != MPI_SUCCESS) return false;
  all.from = all.to;
  return true;
}

bool ask_distributed_graph(MPI_Comm comm, Neighbourhood& all) {
  int in = 0, out = 0, weighted = 0;
  if (PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted) != MPI_SUCCESS) return false;
  // Each array has one more element, so that none is null. The weights are read, too, because MPI_UNWEIGHTED is a
  // variable in some MPIs, which this library does not look up.
  const auto room = [](int count) { return std::vector<int>(static_cast<std::size_t>(count) + 1); };
  std::vector<int> from = room(in), to = room(out), weights_in = room(in), weights_out = room(out);
  if (PMPI_Dist_graph_neighbors(comm, in, from.data(), weights_in.data(), out, to.data(), weights_out.data()) !=
      MPI_SUCCESS)
    return false;
  all.from.assign(from.begin(), from.end() - 1);
  all.to.assign(to.begin(), to.end() - 1);
  return true;
}

bool ask(MPI_Comm comm, Neighbourhood& all) {
  int topology = MPI_UNDEFINED;
  if (PMPI_Topo_test(comm, &topology) != MPI_SUCCESS) return false;
  if (topology == MPI_CART) return ask_grid(comm, all);
  if (topology == MPI_GRAPH) return ask_graph(comm, all);
  return topology == MPI_DIST_GRAPH && ask_distributed_graph(comm, all);
}

}  // namespace

std::optional<Neighbourhood> neighbourhood_of(MPI_Comm comm, Rank ranks, Rank rank) {
  Neighbourhood all;
  all.ranks = ranks;
  all.rank = rank;
  if (!ask(comm, all)) return std::nullopt;
  for (std::vector<Rank>* peers : {&all.to, &all.from}) std::ranges::replace(*peers, Rank{MPI_PROC_NULL}, nobody);
  return all;
}

}  // namespace swapmeet
