#include "node/neighbours.hpp"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>

#include "node/crowd.hpp"

namespace swapmeet {

namespace {

/// By which this process is known to who reads its memory: in PID namespaces of their own, processes may have the same
/// number, and the same addresses.
Known known{};

/// Why the memory of a process cannot be read: an error of the system, or one of these; 0: it can.
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

/// Processes whose memory this one has read. Never destroyed: a process may exchange while it exits.
class Readable {
 public:
  bool has(const JoinOffer& process) {
    const std::lock_guard lock(mutex_);
    const auto found = numbers_.find(process.value);
    return found != numbers_.end() && found->second == process.process;
  }
  void add(const JoinOffer& process) {
    const std::lock_guard lock(mutex_);
    numbers_.insert_or_assign(process.value, process.process);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::int64_t> numbers_;  ///< of processes, by JoinOffer::value, which is random
};

Readable& readable() {
  static Readable* const only = new Readable;
  return *only;
}

/// The processes of the ranks of a node, whose memory can be read; none of them, if one cannot.
std::int64_t find_readable(std::span<const JoinOffer> offers, std::size_t me, std::vector<pid_t>& processes) {
  if (offers[me].value == 0) return no_random_number;
  std::vector<pid_t> found(offers.size(), 0);
  for (std::size_t other = 0; other < offers.size(); ++other) {
    if (other == me) continue;
    found[other] = static_cast<pid_t>(offers[other].process);
    if (readable().has(offers[other])) continue;
    std::uint64_t read = ~offers[other].value;
    const RemotePiece from{offers[other].address, sizeof read};
    const Piece to{reinterpret_cast<char*>(&read), sizeof read};
    if (!read_from(found[other], {&from, 1}, {&to, 1})) return errno;
    if (read != offers[other].value) return another_process;
    readable().add(offers[other]);
  }
  processes = std::move(found);
  return 0;
}

/// The namespace of the numbers of processes, as far as the kernel says it.
std::uint64_t process_namespace() {
  struct stat found{};
  return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

/// The processes of the ranks of a node that this one can see; 0: not.
std::vector<pid_t> visible(std::span<const JoinOffer> offers, std::size_t me) {
  std::vector<pid_t> found(offers.size(), 0);
  for (std::size_t other = 0; other < offers.size(); ++other)
    if (other != me && offers[other].process_namespace == offers[me].process_namespace && offers[me].process_namespace)
      found[other] = static_cast<pid_t>(offers[other].process);
  return found;
}

/// The part of this rank in memory of such a layout: what is common to all is of the first.
struct Extent {
  std::size_t first, bytes;
};
Extent extent(const NodeLayout& layout, std::uint32_t me) {
  const std::size_t first = me == 0 ? 0 : layout.bulk(me);
  return {first, layout.bulk(me + 1) - first};
}

/// The memory of the node in the arena of its first rank. "", or what went wrong on this rank.
std::string take_part(const ArenaPart& part, const NodeLayout& layout, std::uint32_t me, Arenas& arenas,
                      char*& memory) {
  if (layout.members == 1) return "";
  if (part.bytes < layout.bytes()) return "the first rank of the node has no shared memory to give";
  if (me == 0) arenas.keep(part, layout.bytes(), layout.members);
  std::string problem;
  char* const mapped = arenas.map(part, problem);
  const auto [first, bytes] = extent(layout, me);
  if (problem.empty()) problem = arenas.reserve(part, first, bytes);
  if (problem.empty()) memory = mapped;
  if (me == 0 && memory) layout.clear(memory);
  return problem;
}

}  // namespace

void Neighbours::publish(const void* board) { known.board = reinterpret_cast<std::uintptr_t>(board); }

JoinOffer Neighbours::offer(std::int64_t used_bytes, Arenas& arenas) {
  static const bool random = getrandom(&known.value, sizeof known.value, GRND_NONBLOCK) == sizeof known.value;
  if (!random) known.value = 0;
  static const std::uint64_t space = process_namespace();
  const auto address = reinterpret_cast<std::uintptr_t>(&known);
  return {arenas.take(), used_bytes, getpid(), address, known.value, space, processors()};
}

Neighbours::Joined Neighbours::join(const Peers& everyone, const NodeGroup& group, std::span<const JoinOffer> offers,
                                    std::int64_t most_bytes, Regions& regions, Arenas& arenas, const Prepare& prepare) {
  const auto me = static_cast<std::uint32_t>(group.me());
  const auto members = static_cast<std::uint32_t>(group.count());
  const std::int64_t used = std::ranges::max_element(offers, {}, &JoinOffer::used_bytes)->used_bytes;
  const NodeLayout layout = NodeLayout::within(
      members, members * static_cast<std::size_t>(std::max<std::int64_t>((most_bytes - used) / 2, 0)));
  const bool fits = members == 1 || layout.channel.cells > 0;
  if (me != 0 || members == 1) withdraw(offers[me], arenas);
  std::vector<pid_t> processes(members, 0);
  const std::int64_t unreadable = find_readable(offers, me, processes);
  Joined joined;
  // Agreed: false if another attempt may succeed.
  const auto attempt = [&](NodeMemory memory, std::string problem) {
    enum { failed, out_of_limit, forbidden, number, all };
    std::int64_t most[all] = {0, !fits, unreadable, unprepared};
    try {
      if (problem.empty()) {
        Node node(std::move(memory), layout, me, processes, regions);
        joined.neighbours = std::make_unique<Neighbours>(std::move(node), group.members(), visible(offers, me));
        most[number] = prepare(joined.neighbours.get());
      }
    } catch (const std::bad_alloc&) { problem = "no memory"; }
    most[failed] = !problem.empty();
    if (reduce(std::span(most), MPI_INT64_T, MPI_MAX, everyone) != MPI_SUCCESS) most[failed] = 1;
    joined.prepared = most[number];
    joined.means = {most[failed] == 0, most[failed] == 0 && most[forbidden] == 0, text_of(most[forbidden])};
    if (most[failed] == 0) return true;
    joined.neighbours.reset();
    no_rank_has(problem, joined.means.problem, everyone);
    return most[out_of_limit] != 0;
  };
  char* memory = nullptr;
  std::string problem = fits ? take_part(offers.front().part, layout, me, arenas, memory)
                             : "SWAPMEET_SHM_LIMIT leaves too little shared memory for the " + std::to_string(members) +
                                   " ranks of a node";
  const bool over = attempt(NodeMemory(memory), std::move(problem));
  if (!joined.neighbours && me == 0) withdraw(offers[me], arenas);  // all have left it
  if (over) return joined;
  Segment segment;
  const auto [first, bytes] = extent(layout, me);
  if (group.share(layout.bytes(), first, bytes, segment, joined.means.problem))
    attempt(NodeMemory(std::move(segment)), "");
  return joined;
}

}  // namespace swapmeet
