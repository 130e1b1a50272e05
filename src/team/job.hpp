/// The job: all ranks of MPI_COMM_WORLD, and the one communicator on which the library sends messages.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"
#include "options/options.hpp"
#include "team/tags.hpp"

namespace swapmeet {

/// What the ranks of a job tell one another once, of what non-blocking calls must know before their communicator's ranks have
/// told one another anything.
enum class JobThread : std::uint8_t { able, unable, unwanted };  ///< the last of any rank is that of the job
struct JobFacts {
  bool locked = false;                     ///< some rank has progress_is_locked()
  bool starts_on_host = false;             ///< some rank leaves non-blocking and persistent calls to the host MPI
  bool native = false;                     ///< some rank leaves all calls to the host MPI
  bool algorithm = false;                  ///< all ranks have set an algorithm
  bool alike = false;                      ///< all ranks have the same options
  bool threaded = true;                    ///< on some rank several threads may call MPI
  JobThread thread = JobThread::unwanted;  ///< that advances what is started
  /// The least of any rank: how ranks tell one another of their options cannot depend on what only these say.
  Options::Gathered gathered{};
};

class Job {
 public:
  /// Makes the communicator. Collective over all ranks of MPI_COMM_WORLD: in MPI_Init, or later in a call that all of them make
  /// and in which none makes a communicator. A rank that lacks the library is waited for; after `patience_s` seconds a line on
  /// stderr names it. Nothing where it is there already. Without memory, or a communicator, the job has none, on all ranks.
  void begin(double patience_s);

  /// Agrees on what the ranks tell one another of themselves: facts(). `locked`: without a thread; `alike` is known by
  /// `fingerprint`, that of the options. Collective over the job, after begin().
  const JobFacts& agree(const JobFacts& mine, std::uint64_t fingerprint);

  /// Frees the communicator. Collective over the job; requires that no message is under way.
  void end();

  /// MPI_COMM_NULL: there is none, so no messages can be sent.
  MPI_Comm comm() const { return comm_; }
  bool exists() const { return comm_ != MPI_COMM_NULL; }
  const JobFacts& facts() const { return facts_; }
  const Tags& tags() const { return tags_; }

  /// A number that no other team of this rank has; negative: none is left. And one whose team is no more. Any thread; local.
  int take_number();
  void give_back(int number);

 private:
  static constexpr std::size_t told = 11;  ///< numbers that each rank tells
  bool largest(std::span<std::int64_t, told> values);

  MPI_Comm comm_ = MPI_COMM_NULL;
  JobFacts facts_;
  Tags tags_{32767};
  std::mutex mutex_;            ///< guards what follows
  std::vector<bool> taken_;     ///< by number
  std::size_t first_free_ = 0;  ///< all before are taken
};

}  // namespace swapmeet
