#include "node/node_peers.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>

#include "node/oversubscription.hpp"
#include "schedule/kernel_file.hpp"

namespace swapmeet {

namespace {

/// Identifies this process to processes that read its memory. In separate PID namespaces, different processes may have
/// the same number and the same addresses.
ProcessIdentity identity{};

/// Reasons why the memory of a process cannot be read: an errno value or one of these; 0: it can be read.
enum : std::int64_t { another_process = 1 << 20, no_random_number };

std::string text_of(std::int64_t unreadable) {
  switch (unreadable) {
    case 0: return "";
    case another_process:
      return "process_vm_readv reads another process: ranks of a node are in different PID namespaces";
    case no_random_number: return "no random number to identify processes by";
    default: return std::string("process_vm_readv is refused: ") + std::strerror(static_cast<int>(unreadable));
  }
}

/// Processes whose memory this one has read successfully. Never destroyed, because a process may exchange while it
/// exits.
class Readable {
 public:
  bool has(const NodeRecord& process) {
    const std::lock_guard lock(mutex_);
    const auto found = numbers_.find(process.value);
    return found != numbers_.end() && found->second == process.process;
  }
  void add(const NodeRecord& process) {
    const std::lock_guard lock(mutex_);
    numbers_.insert_or_assign(process.value, process.process);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::int64_t> numbers_;  ///< number of each process, by its NodeRecord::value,
                                                             ///< which is random
};

Readable& readable() {
  static Readable* const only = new Readable;
  return *only;
}

/// Finds the processes of the ranks of a node, if the memory of all of them can be read. Returns 0, or the reason.
std::int64_t find_readable(std::span<const NodeRecord> node_records, std::size_t me, std::vector<pid_t>& processes) {
  if (node_records[me].value == 0) return no_random_number;
  std::vector<pid_t> found(node_records.size(), 0);
  for (std::size_t other = 0; other < node_records.size(); ++other) {
    if (other == me) continue;
    found[other] = static_cast<pid_t>(node_records[other].process);
    if (readable().has(node_records[other])) continue;
    std::uint64_t read = ~node_records[other].value;
    const RemotePiece from{node_records[other].address, sizeof read};
    const Piece to{reinterpret_cast<char*>(&read), sizeof read};
    if (!read_from(found[other], {&from, 1}, {&to, 1})) return errno;
    if (read != node_records[other].value) return another_process;
    readable().add(node_records[other]);
  }
  processes = std::move(found);
  return 0;
}

/// The processes of the ranks of a node that this process can see; 0 for the others.
std::vector<pid_t> visible(std::span<const NodeRecord> node_records, std::size_t me) {
  std::vector<pid_t> found(node_records.size(), 0);
  for (std::size_t other = 0; other < node_records.size(); ++other)
    if (other != me && node_records[other].process_namespace == node_records[me].process_namespace &&
        node_records[me].process_namespace)
      found[other] = static_cast<pid_t>(node_records[other].process);
  return found;
}

/// The part of the node's memory that this rank reserves. The part of the first rank includes the beginning, which all
/// share.
struct Extent {
  std::size_t first, bytes;
};
Extent extent(const NodeLayout& layout, std::uint32_t me) {
  const std::size_t first = me == 0 ? 0 : layout.bulk(me);
  return {first, layout.bulk(me + 1) - first};
}

/// Takes the memory of the node from the arena of its first rank. Returns "", or the problem on this rank.
std::string take_part(const ArenaPart& part, const NodeLayout& layout, std::uint32_t me, Arenas& arenas,
                      char*& memory) {
  if (layout.members == 1) return "";
  if (part.bytes < layout.bytes()) return "the first rank of the node has no shared memory to give";
  std::string problem = me == 0 ? arenas.keep(part, layout.bytes(), layout.members) : "";
  if (!problem.empty()) return problem;
  char* const mapped = arenas.map(part, problem);
  const auto [first, bytes] = extent(layout, me);
  if (problem.empty()) problem = arenas.reserve(part, first, bytes);
  if (problem.empty()) memory = mapped;
  if (me == 0 && memory) layout.clear(memory);
  return problem;
}

std::string too_little(std::uint32_t members) {
  return "SWAPMEET_SHM_LIMIT leaves too little shared memory for the " + std::to_string(members) + " ranks of a node";
}

}  // namespace

void NodePeers::publish(const void* board) { identity.board = reinterpret_cast<std::uintptr_t>(board); }

NodeRecord NodePeers::reserve(std::int64_t used_bytes, Arenas& arenas) {
  static const bool random = getrandom(&identity.value, sizeof identity.value, GRND_NONBLOCK) == sizeof identity.value;
  if (!random) identity.value = 0;
  static const std::uint64_t space = process_namespace();
  const auto address = reinterpret_cast<std::uintptr_t>(&identity);
  return {arenas.take(), used_bytes, getpid(), address, identity.value, space, processors()};
}

NodePeers::Joined NodePeers::join(Team& everyone, const NodeGroup& group, std::span<const NodeRecord> records,
                                  std::int64_t most_bytes, Regions& regions, Arenas& arenas, const Prepare& prepare) {
  const auto me = static_cast<std::uint32_t>(group.me()), members = static_cast<std::uint32_t>(group.count());
  const std::int64_t used = std::ranges::max_element(records, {}, &NodeRecord::used_bytes)->used_bytes;
  const auto share = static_cast<std::size_t>(std::max<std::int64_t>(most_bytes - used, 0) / 2);
  const NodeLayout layout = NodeLayout::within(members, members * share);
  const bool fits = members == 1 || layout.channel.cells > 0;
  std::vector<pid_t> processes(members, 0);
  const std::int64_t unreadable = find_readable(records, me, processes);
  if (me != 0 || members == 1) give_back(records[me], arenas);
  Joined joined;
  // Makes an attempt, about which all ranks agree. Returns false if another one may succeed.
  const auto attempt = [&](NodeMemory memory, std::string problem) {
    enum { failed, out_of_limit, forbidden, number, all };
    std::int64_t most[all] = {0, !fits, unreadable, unprepared};
    try {
      if (problem.empty()) {
        Node node(std::move(memory), layout, me, processes, regions);
        joined.node_peers = std::make_unique<NodePeers>(std::move(node), group.members(), visible(records, me));
        most[number] = prepare(joined.node_peers.get());
      }
    } catch (const std::bad_alloc&) { problem = "no memory"; }
    most[failed] = !problem.empty();
    if (allreduce(most, MPI_INT64_T, MPI_MAX, everyone) != MPI_SUCCESS) most[failed] = 1;
    const bool works = most[failed] == 0;
    joined.prepared = most[number];
    joined.means = {works, works && most[forbidden] == 0, text_of(most[forbidden])};
    if (works) return true;
    joined.node_peers.reset();
    no_rank_has(problem, joined.means.problem, everyone);
    return most[out_of_limit] != 0;
  };
  char* memory = nullptr;
  std::string problem;
  if (fits) problem = take_part(records.front().part, layout, me, arenas, memory);
  else
    problem = used == NodeRecord::lost ? "MPI cannot gather the answers of the ranks of a node" : too_little(members);
  const bool over = attempt(NodeMemory(memory), std::move(problem));
  if (!joined.node_peers && me == 0) give_back(records[me], arenas);  // no rank uses it any more
  if (over) return joined;
  Segment segment;
  const auto [first, bytes] = extent(layout, me);
  if (group.share(layout.bytes(), first, bytes, segment, joined.means.problem))
    attempt(NodeMemory(std::move(segment)), "");
  return joined;
}

}  // namespace swapmeet
