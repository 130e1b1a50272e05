#include "team/job.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "mpi/outcome.hpp"
#include "mpi/progress.hpp"
#include "mpi/simulation.hpp"
#include "mpi/slow_wait.hpp"
#include "mpi/world_ranks.hpp"
#include "schedule/text_hash.hpp"
#include "team/agreement.hpp"
#include "team/messages.hpp"
#include "team/team.hpp"

namespace swapmeet {

namespace {

/// Makes the communicator of the job by MPI_Comm_create_group. Its messages have a tag of their own, so that calls of
/// ranks without the library do not match it, as they might match any other collective call. In contrast to
/// MPI_Comm_dup, it calls no attribute callbacks.
MPI_Comm make_comm() {
  constexpr int tag = 25367;  // MPI separates these tags from the tags of point-to-point messages
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  const int error = simulated ? PMPI_Comm_create(MPI_COMM_WORLD, all, &comm)
                              : again(PMPI_Comm_create_group, MPI_COMM_WORLD, all, tag, &comm);
  PMPI_Group_free(&all);
  if (error) return MPI_COMM_NULL;
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

// The error handler of MPI_COMM_SELF is not changed, not even to be restored: once it has been set, MPICH raises the
// errors of MPI_Waitall on MPI_COMM_SELF.
MPI_Comm this_rank_alone(MPI_Errhandler handler) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_group(MPI_COMM_SELF, &group);
  PMPI_Comm_create(MPI_COMM_SELF, group, &comm);
  PMPI_Group_free(&group);
  if (comm != MPI_COMM_NULL) PMPI_Comm_set_errhandler(comm, handler);
  return comm;
}

}  // namespace

void Job::begin(double patience_s, bool late) {
  if (exists()) return;
  const MPI_Comm made = [&] {
    const SlowWait watched(MPI_COMM_WORLD, "MPI_Init", patience_s);
    return make_comm();
  }();
  if (made == MPI_COMM_NULL) return;
  late_ = late;
  comm_.store(made, std::memory_order_release);
  look_for_messages_on(made);
  SlowWait::all_ranks_came();
  const std::lock_guard lock(mutex_);  // last: a team that has a number has the communicator, too
  tags_ = Tags(most_tag());
  taken_.assign(static_cast<std::size_t>(tags_.teams()), false);
}

// Messages of the library are used, because the host MPI's first MPI_Allreduce can take milliseconds (MPICH).
bool Job::largest(std::span<std::int64_t, agreed_values> values) {
  static std::array<std::int64_t, 2 * agreed_values> room;  // only one thread calls MPI_Init
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Team all(*this, std::make_shared<const std::vector<int>>(world_ranks_of(MPI_COMM_WORLD)), rank, MPI_COMM_NULL, true);
  all.use_common_number();  // the number is the same on all ranks, since it is the only team of each
  return largest_of_all(all, values, room) == MPI_SUCCESS;
}

const JobFacts& Job::agree(const JobFacts& mine, std::uint64_t fingerprint) {
  constexpr auto unwanted = static_cast<std::int64_t>(JobThread::unwanted);
  const auto options = static_cast<std::int64_t>(fingerprint >> 1);
  const auto version = static_cast<std::int64_t>(hash_of(SWAPMEET_VERSION) >> 1);
  std::array<std::int64_t, agreed_values> most{static_cast<std::int64_t>(mine.thread),
                                               mine.locked,
                                               mine.starts_on_host,
                                               mine.native,
                                               !mine.algorithm,
                                               mine.thread != JobThread::unwanted,
                                               mine.threaded,
                                               options,
                                               -options,
                                               version,
                                               -version,
                                               -mine.gathered.ranks,
                                               -mine.gathered.with_blocks};
  const Options::Gathered usual;
  if (exists() && !largest(most))
    most = {unwanted, true, true, true, true, true, true, 1, 1, version, -version, -usual.ranks, -usual.with_blocks};
  facts_.thread = exists() ? static_cast<JobThread>(most[0]) : JobThread::unwanted;
  facts_.locked = most[1] != 0 && facts_.thread != JobThread::able;
  facts_.same_version = most[9] == -most[10];
  facts_.starts_on_host = most[2] != 0 || (most[5] != 0 && facts_.thread != JobThread::able) || !facts_.same_version;
  facts_.native = most[3] != 0;
  facts_.algorithm = most[4] == 0;
  facts_.threaded = most[6] != 0;
  facts_.alike = most[7] == -most[8];
  facts_.gathered = exists() ? Options::Gathered{static_cast<Rank>(-most[11]), static_cast<Rank>(-most[12])} : usual;
  return facts_;
}

void Job::make_alone() {
  if (alone_[0] != MPI_COMM_NULL) return;
  alone_[0] = this_rank_alone(MPI_ERRORS_RETURN);
  alone_[1] = this_rank_alone(MPI_ERRORS_ARE_FATAL);
}

void Job::end() {
  look_for_messages_on(MPI_COMM_NULL);
  for (MPI_Comm ended : {comm_.exchange(MPI_COMM_NULL), alone_[0], alone_[1]})
    if (ended != MPI_COMM_NULL) PMPI_Comm_free(&ended);
  alone_[0] = alone_[1] = MPI_COMM_NULL;
}

int Job::take_number() {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(taken_.begin() + static_cast<std::ptrdiff_t>(first_free_), taken_.end(), false);
  if (found == taken_.end()) return -1;
  *found = true;
  const auto number = found - taken_.begin();
  first_free_ = static_cast<std::size_t>(number) + 1;
  return static_cast<int>(number);
}

void Job::give_back(int number) {
  const std::lock_guard lock(mutex_);
  taken_[static_cast<std::size_t>(number)] = false;
  first_free_ = std::min(first_free_, static_cast<std::size_t>(number));
}

}  // namespace swapmeet
