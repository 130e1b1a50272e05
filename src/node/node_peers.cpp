#include "node/node_peers.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

}  // namespace

void NodePeers::publish(const void* board) { identity.board = reinterpret_cast<std::uintptr_t>(board); }

NodeRecord NodePeers::reserve(std::int64_t used_bytes, Arenas& arenas) {
  static const bool random = getrandom(&identity.value, sizeof identity.value, GRND_NONBLOCK) == sizeof identity.value;
  if (!random) identity.value = 0;
  static const std::uint64_t space = process_namespace();
  const auto address = reinterpret_cast<std::uintptr_t>(&identity);
  return {arenas.take(), used_bytes, getpid(), address, identity.value, space, processors()};
}

namespace {

/// Shared memory that is being set up.
class SettingUp {
 public:
  /// Numbers of a rank. The ranks agree on the largest of each.
  enum : std::size_t { failed, out_of_limit, forbidden, number, all };
  using Numbers = std::array<std::int64_t, all>;

  /// `parts`: number of memories that are set up at once.
  SettingUp(NodePeers::Joining& memory, std::int64_t parts, const NodeGroup& group, Regions& regions)
      : it_(memory), group_(group), regions_(regions), processes_(memory.node_records.size(), 0) {
    const std::span<const NodeRecord> records = memory.node_records;
    const auto members = static_cast<std::uint32_t>(records.size());
    const std::int64_t used = std::ranges::max_element(records, {}, &NodeRecord::used_bytes)->used_bytes;
    records_lost_ = used == NodeRecord::lost;
    const std::int64_t left = std::max<std::int64_t>(memory.most_bytes - used, 0);
    const std::int64_t share = (left - (left >> parts)) / parts;
    layout_ = NodeLayout::within(members, members * static_cast<std::size_t>(share));
    fits_ = members == 1 || layout_.channel.cells > 0;
    unreadable_ = find_readable(records, me(), processes_);
  }

  /// Makes the first attempt, in an arena, before the ranks agree.
  Numbers in_arena(Arenas& arenas) {
    if (me() != 0 || layout_.members == 1) NodePeers::give_back(it_.node_records[me()], arenas);
    char* memory = nullptr;
    std::string problem;
    if (fits_) problem = take_part(it_.node_records.front().part, layout_, me(), arenas, memory);
    else if (records_lost_) problem = "MPI cannot gather the answers of the ranks of a node";
    else
      problem = "SWAPMEET_SHM_LIMIT leaves too little shared memory for the " + std::to_string(layout_.members) +
                " ranks of a node";
    return attempt(NodeMemory(memory), std::move(problem));
  }

  /// Completes the first attempt with the numbers on which the ranks have agreed, and makes another one if that may
  /// succeed. Collective if the attempt has failed.
  void finish(const Numbers& most, Team& everyone, Arenas& arenas) {
    const bool over = is_over(most, everyone);
    if (!it_.node_peers && me() == 0) NodePeers::give_back(it_.node_records[0], arenas);  // no rank uses it any more
    Segment segment;
    const auto [first, bytes] = extent(layout_, me());
    if (!over && group_.share(layout_.bytes(), first, bytes, segment, it_.means.problem)) {
      Numbers again[] = {attempt(NodeMemory(std::move(segment)), "")};
      agree(again, everyone);
      is_over(again[0], everyone);
    }
  }

  /// Replaces each number by the largest of any rank. Collective.
  static void agree(std::span<Numbers> numbers, Team& everyone) {
    const std::span flat(numbers.front().data(), numbers.size() * all);
    if (allreduce(flat, MPI_INT64_T, MPI_MAX, everyone) == MPI_SUCCESS) return;
    for (Numbers& one : numbers) one[failed] = 1;
  }

 private:
  std::uint32_t me() const { return static_cast<std::uint32_t>(group_.me()); }

  Numbers attempt(NodeMemory memory, std::string problem) {
    Numbers mine{0, !fits_, unreadable_, NodePeers::unprepared};
    try {
      if (problem.empty()) {
        Node node(std::move(memory), layout_, me(), processes_, regions_);
        it_.node_peers =
            std::make_unique<NodePeers>(std::move(node), group_.members(), visible(it_.node_records, me()));
        mine[number] = it_.prepare(it_.node_peers.get());
      }
    } catch (const std::bad_alloc&) { problem = "no memory"; }
    problem_ = std::move(problem);
    mine[failed] = !problem_.empty();
    return mine;
  }

  /// Whether no other attempt may succeed. Collective if the attempt has failed.
  bool is_over(const Numbers& most, Team& everyone) {
    const bool works = most[failed] == 0;
    it_.prepared = most[number];
    it_.means = {works, works && most[forbidden] == 0, text_of(most[forbidden])};
    if (works) return true;
    it_.node_peers.reset();
    no_rank_has(problem_, it_.means.problem, everyone);
    return most[out_of_limit] != 0;
  }

  NodePeers::Joining& it_;
  const NodeGroup& group_;
  Regions& regions_;
  NodeLayout layout_;
  bool fits_ = false, records_lost_ = false;
  std::vector<pid_t> processes_;
  std::int64_t unreadable_ = 0;
  std::string problem_;
};

}  // namespace

void NodePeers::join(Team& everyone, const NodeGroup& group, std::span<Joining> all, Regions& regions, Arenas& arenas) {
  std::vector<SettingUp> each;
  std::vector<SettingUp::Numbers> numbers;
  each.reserve(all.size());
  for (Joining& one : all) numbers.push_back(each.emplace_back(one, std::ssize(all), group, regions).in_arena(arenas));
  SettingUp::agree(numbers, everyone);
  for (std::size_t i = 0; i < each.size(); ++i) each[i].finish(numbers[i], everyone, arenas);
}

}  // namespace swapmeet
