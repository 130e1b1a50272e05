/// Transitive closure of a directed graph, by joins of relations that are spread over the ranks:
///
///   path(x, y) if edge(x, y);    path(x, z) if path(x, y) and edge(y, z)
///
/// Edges are kept where their source is at home, paths where their target is: so each rank joins what it has, and sends
/// what it found to where that belongs. Only paths that are new in one round are joined in the next (semi-naive
/// evaluation), until no rank finds any: an Alltoallv in each round, small ones in the first and last, large ones
/// between. Source:  nonuniform, section 5.2 (graph mining); compared with a search from each vertex.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "../exchange/mail.hpp"
#include "../exchange/program.hpp"
#include "../exchange/random.hpp"

namespace {

using Vertex = std::uint32_t;

struct Pair {
  Vertex from, to;
  auto operator<=>(const Pair&) const = default;
};

/// So many vertices, one behind the other.
std::vector<Pair> chain(Vertex vertices) {
  std::vector<Pair> edges;
  for (Vertex v = 1; v < vertices; ++v) edges.push_back({v - 1, v});
  return edges;
}

/// A square, with edges to the right and down.
std::vector<Pair> grid(Vertex side) {
  std::vector<Pair> edges;
  for (Vertex row = 0; row < side; ++row)
    for (Vertex column = 0; column < side; ++column) {
      if (column + 1 < side) edges.push_back({row * side + column, row * side + column + 1});
      if (row + 1 < side) edges.push_back({row * side + column, (row + 1) * side + column});
    }
  return edges;
}

/// 2^scale vertices, of which few have most edges: each edge falls into a quarter of the matrix, and there again (0.57,
/// 0.19,
/// 0.19, 0.05). Source: D. Chakrabarti et al., R-MAT, SDM 2004; Graph 500
std::vector<Pair> rmat(int scale, std::uint64_t edges) {
  std::vector<Pair> made;
  for (std::uint64_t e = 0; e < edges; ++e) {
    Pair edge{0, 0};
    for (int bit = 0; bit < scale; ++bit) {
      const double where = random_unit(5, e * 32 + static_cast<std::uint64_t>(bit));
      edge.from = 2 * edge.from + (where >= 0.76);
      edge.to = 2 * edge.to + ((where >= 0.57 && where < 0.76) || where >= 0.95);
    }
    made.push_back(edge);
  }
  return made;
}

/// Two vertices; # begins a comment.
bool read_line(std::string line, std::vector<Pair>& edges) {
  line.resize(std::min(line.find('#'), line.size()));
  std::istringstream words(line);
  long long from = 0, to = 0;
  std::string rest;
  if (!(words >> std::ws) || words.eof()) return true;
  const auto suits = [](long long vertex) { return vertex >= 0 && vertex <= std::numeric_limits<Vertex>::max(); };
  if (!(words >> from >> to) || words >> rest || !suits(from) || !suits(to)) return false;
  edges.push_back({static_cast<Vertex>(from), static_cast<Vertex>(to)});
  return true;
}

/// The edges that --graph names; every rank has all of them.
std::vector<Pair> edges_of(const Program& program) {
  const std::string text = program.option("--graph", "chain:40");
  if (const auto n = numbers_of(text, "chain", 1); !n.empty() && n[0] <= 5000) return chain(n[0]);
  if (const auto n = numbers_of(text, "grid", 1); !n.empty() && n[0] <= 70) return grid(n[0]);
  if (const auto n = numbers_of(text, "rmat", 2); !n.empty() && n[0] <= 14 && n[1] <= 1u << 24)
    return rmat(static_cast<int>(n[0]), n[1]);
  if (text.rfind("file:", 0) != 0)
    program.refuse("--graph " + text +
                   ": expected chain:VERTICES (up to 5000), grid:SIDE (70), "
                   "rmat:SCALE:EDGES (scale 14) or file:NAME, with two numbers in a line");
  std::ifstream file(text.substr(5));
  std::vector<Pair> edges;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number)
    if (!read_line(line, edges))
      program.refuse("--graph " + text + ", line " + std::to_string(number) +
                     ": expected two numbers, each below 2^32");
  if (!file.eof() || file.bad()) program.refuse("--graph " + text + ": cannot be read");
  return edges;
}

/// The part of the two relations that is at home on one rank.
class Relations {
 public:
  Relations(const Program& program, const std::vector<Pair>& edges) : program_(program), mail_(MPI_COMM_WORLD) {
    for (const Pair edge : edges)
      if (home(edge.from) == program.rank) edges_[edge.from].push_back(edge.to);
    for (const Pair edge : edges)
      if (home(edge.to) == program.rank && paths_[edge.to].insert(edge.from).second) fresh_.push_back(edge);
  }

  /// Joins what is new, and takes in what others found. How many paths of all ranks are new then.
  long long round() {
    for (const Pair path : fresh_)
      if (const auto next = edges_.find(path.to); next != edges_.end())
        for (const Vertex end : next->second) mail_.post(home(end), {path.from, end});
    fresh_.clear();
    const std::vector<Pair> come = mail_.deliver();
    computed(static_cast<double>(come.size()));  // an operation is a path that came, and was looked for
    for (const Pair path : come)
      if (paths_[path.to].insert(path.from).second) fresh_.push_back(path);
    long long found = static_cast<long long>(fresh_.size());
    MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return found;
  }

  std::vector<Pair> paths() const {
    std::vector<Pair> all;
    for (const auto& [to, sources] : paths_)
      for (const Vertex from : sources) all.push_back({from, to});
    return all;
  }

 private:
  int home(Vertex vertex) const {
    return static_cast<int>(random_bits(6, vertex) % static_cast<std::uint64_t>(program_.ranks));
  }

  const Program& program_;
  Mail<Pair> mail_;
  std::unordered_map<Vertex, std::vector<Vertex>> edges_;         ///< by source
  std::unordered_map<Vertex, std::unordered_set<Vertex>> paths_;  ///< sources, by target
  std::vector<Pair> fresh_;                                       ///< paths that are not joined yet
};

/// By a search from each vertex, sorted.
std::vector<Pair> searched(const std::vector<Pair>& edges) {
  std::map<Vertex, std::vector<Vertex>> next;
  for (const Pair edge : edges) next[edge.from].push_back(edge.to);
  std::vector<Pair> all;
  for (const auto& [start, first] : next) {
    std::set<Vertex> seen(first.begin(), first.end());
    for (std::vector<Vertex> open(seen.begin(), seen.end()); !open.empty();) {
      const auto found = next.find(open.back());
      open.pop_back();
      if (found == next.end()) continue;
      for (const Vertex end : found->second)
        if (seen.insert(end).second) open.push_back(end);
    }
    for (const Vertex end : seen) all.push_back({start, end});
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const Program program(argc, argv, "--graph chain:N|grid:N|rmat:SCALE:EDGES|file:NAME --check 0|1 --output FILE");
  const bool check = program.number("--check", 1, 0, 1) != 0;
  const std::vector<Pair> edges = edges_of(program);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  int rounds = 1;
  std::vector<Pair> mine;
  {
    Relations relations(program, edges);
    while (relations.round() > 0) ++rounds;
    mine = relations.paths();
  }
  const double seconds = MPI_Wtime() - start;
  std::vector<Pair> paths = program.gathered(mine);
  std::ranges::sort(paths);
  program.write(paths.data(), paths.size() * sizeof(Pair));
  const bool right = program.rank != 0 || !check || paths == searched(edges);
  return program.end("closure of " + std::to_string(edges.size()) + " edges: " + std::to_string(paths.size()) +
                         " paths in " + std::to_string(rounds) + " rounds",
                     right, seconds);
}
