#include "mpi/agreement.hpp"
#include "mpi/outcome.hpp"
#include "node/node_group.hpp"

#include <cstdio>

namespace swapmeet {

namespace {
constexpr std::size_t most_text = 256;  // of a problem
constexpr std::size_t most_name = 192;  // of a segment
}  // namespace

NodeGroup::NodeGroup(MPI_Comm comm, const std::vector<std::int32_t>& nodes) : comm_(comm), members_(nodes.size(), -1) {
  PMPI_Comm_rank(comm, &rank_);
  PMPI_Comm_size(comm, &ranks_);
  const std::int32_t mine = nodes[static_cast<std::size_t>(rank_)];
  int first = rank_;
  for (std::size_t other = nodes.size(); other-- > 0;)
    if (nodes[other] == mine) first = static_cast<int>(other);
  for (std::size_t other = 0; other < nodes.size(); ++other)
    if (nodes[other] == mine) members_[other] = count_++;
  for (int attempt = 0; attempt < 2 && node_ == MPI_COMM_NULL; ++attempt)  // once more: the other ranks wait in it
    PMPI_Comm_split(comm, first, rank_, &node_);
  std::string unused;
  made_ = agreed(node_ == MPI_COMM_NULL ? "none left" : "", unused);
}

NodeGroup::~NodeGroup() {
  if (node_ != MPI_COMM_NULL) PMPI_Comm_free(&node_);
}

bool NodeGroup::agreed(const std::string& problem, std::string& first) const {
  int with_problem = problem.empty() ? ranks_ : rank_;
  reduce(std::span(&with_problem, 1), MPI_INT, MPI_MIN, comm_);
  if (with_problem == ranks_) return true;
  char text[most_text] = {};
  std::snprintf(text, sizeof text, "%s", problem.c_str());
  again(PMPI_Bcast, text, sizeof text, MPI_CHAR, with_problem, comm_);
  first = text;
  return false;
}

std::string NodeGroup::open(std::size_t bytes, Segment::Naming naming, Segment& segment) const {
  std::string problem;
  char name[most_name] = {};
  if (me() == 0) {
    problem = segment.make(bytes, naming);
    if (problem.empty()) std::snprintf(name, sizeof name, "%s", segment.name().c_str());
  }
  again(PMPI_Bcast, name, sizeof name, MPI_CHAR, 0, node_);
  if (me() != 0 && name[0] != '\0') problem = segment.open(name, bytes);
  return problem;
}

bool NodeGroup::share(std::size_t bytes, std::size_t first, std::size_t mine, Segment& segment,
                      std::string& problem) const {
  std::string own;
  for (const auto naming : {Segment::Naming::of_process, Segment::Naming::of_system}) {
    if (count_ == 1) break;  // alone, there is nobody to share with
    segment = Segment();
    own = open(bytes, naming, segment);
    int failed = !own.empty();
    reduce(std::span(&failed, 1), MPI_INT, MPI_MAX, node_);
    segment.unlink();  // all have it: from here on nothing is left behind
    if (!failed) break;
  }
  if (own.empty() && segment.memory() && mine > 0) own = segment.reserve(first, mine);
  segment.close_file();
  return agreed(own, problem);
}

}  // namespace swapmeet
