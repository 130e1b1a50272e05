#include "node/neighbours.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mpi/agreement.hpp"
#include "mpi/outcome.hpp"
#include "node/node_group.hpp"

namespace swapmeet {

namespace {

/// Finds out whether all ranks of a node, on all nodes, can read one another's memory. Returns their processes; on all
/// ranks 0, if not, and then `problem` says why. Collective.
std::vector<pid_t> readable_processes(const NodeGroup& group, std::string& problem) {
  struct Probe {
    std::int64_t process;
    std::uint64_t address, value;
  };
  std::uint64_t value = 0;  // random: in PID namespaces of their own, processes may have the same number, and addresses
  const bool random = getrandom(&value, sizeof value, GRND_NONBLOCK) == sizeof value;
  const Probe own{getpid(), reinterpret_cast<std::uintptr_t>(&value), value};
  std::vector<Probe> all(static_cast<std::size_t>(group.count()));
  again(PMPI_Allgather, &own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, group.comm());
  std::vector<pid_t> processes(all.size(), 0);
  std::string mine = random ? "" : "no random number to tell processes apart";
  for (std::size_t other = 0; other < all.size() && mine.empty(); ++other) {
    if (static_cast<std::int32_t>(other) == group.me()) continue;
    std::uint64_t read = ~all[other].value;
    const RemotePiece from{all[other].address, sizeof read};
    const Piece to{reinterpret_cast<char*>(&read), sizeof read};
    processes[other] = static_cast<pid_t>(all[other].process);
    if (!read_from(processes[other], {&from, 1}, {&to, 1}))
      mine = std::string("process_vm_readv is refused: ") + std::strerror(errno);
    else if (read != all[other].value)
      mine = "process_vm_readv reads another process: ranks of a node are in different PID namespaces";
  }
  if (!group.agreed(mine, problem)) processes.assign(all.size(), 0);  // and from here on nobody reads `value`
  return processes;
}

}  // namespace

std::unique_ptr<Neighbours> Neighbours::join(MPI_Comm comm, const std::vector<std::int32_t>& nodes,
                                             std::int64_t share_bytes, const Regions& regions, Means& means) {
  const NodeGroup group(comm, nodes);
  std::string mine;
  if (!group.made()) return means.problem = "MPI has no communicator left for the ranks of a node", nullptr;
  reduce(std::span(&share_bytes, 1), MPI_INT64_T, MPI_MIN, group.comm());
  const auto count = static_cast<std::size_t>(group.count());
  const NodeLayout layout = NodeLayout::within(
      static_cast<std::uint32_t>(count), count * static_cast<std::size_t>(std::max<std::int64_t>(share_bytes, 0)));
  if (layout.channel.cells == 0 && count > 1)
    mine = "SWAPMEET_SHM_LIMIT leaves too little shared memory for the " + std::to_string(count) + " ranks of a node";
  Segment segment;
  const auto me = static_cast<std::uint32_t>(group.me());
  const std::size_t first = me == 0 ? 0 : layout.bulk(me);  // what is common to all is of the first
  means.shared_memory = group.agreed(mine, means.problem) &&
                        group.share(layout.bytes(), first, layout.bulk(me + 1) - first, segment, means.problem);
  if (!means.shared_memory) return nullptr;
  const std::vector<pid_t> processes = readable_processes(group, means.problem);
  means.single_copy = means.problem.empty();
  Node node(std::move(segment), layout, me, processes, regions);
  return std::make_unique<Neighbours>(std::move(node), group.members(), comm);
}

}  // namespace swapmeet
