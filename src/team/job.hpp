/// The job: all ranks of MPI_COMM_WORLD, with the one communicator on which the library sends its messages, and
/// communicators of this rank alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"
#include "options/options.hpp"
#include "team/tags.hpp"

namespace swapmeet {

/// The state of a rank's progress thread. The largest value of any rank is the value of the job.
enum class JobThread : std::uint8_t { able, unable, unwanted };

/// Facts on which the ranks of a job agree once. Non-blocking calls need them before the ranks of their communicator
/// have exchanged any parameters.
struct JobFacts {
  bool locked = false;  ///< progress_is_locked() is true on some rank
  /// some rank leaves non-blocking and persistent calls to the host MPI, or ranks have different versions of the library
  bool starts_on_host = false;
  bool same_version = true;                ///< all ranks have the same version of the library
  bool native = false;                     ///< some rank leaves all calls to the host MPI
  bool algorithm = false;                  ///< all ranks have set an algorithm
  bool alike = false;                      ///< all ranks have the same options
  bool threaded = true;                    ///< several threads may call MPI on some rank
  JobThread thread = JobThread::unwanted;  ///< whether progress threads advance started exchanges
  /// The least of any rank. The way in which ranks compare their options cannot depend on these options themselves.
  Options::Gathered gathered{};
};

class Job {
 public:
  /// Makes the communicator, unless it exists. Collective over all ranks of MPI_COMM_WORLD. It is called in MPI_Init,
  /// or later in a call that all ranks make and in which no rank makes another communicator. If a rank lacks the
  /// library, the others wait for it, and after `patience_s` seconds a line on stderr names it. If MPI cannot make the
  /// communicator, the job has none, on all ranks. `late`: MPI_Init is over. Other threads may then be using the job,
  /// but only one may call begin().
  void begin(double patience_s, bool late = false);

  /// Agrees on the facts of the job and returns them: facts(). `mine` are the facts of this rank. `mine.locked` must be
  /// the value without a progress thread; facts().locked is false if all ranks have one. `fingerprint` is that of this
  /// rank's options, by which `alike` is found. Collective over the job, after begin(), while no other thread uses the
  /// job.
  const JobFacts& agree(const JobFacts& mine, std::uint64_t fingerprint);

  /// Frees all communicators. Collective over the job. Requires that no message is in flight.
  void end();

  /// The communicator; MPI_COMM_NULL if there is none, so that the library cannot send messages.
  MPI_Comm comm() const { return comm_.load(std::memory_order_acquire); }
  bool exists() const { return comm() != MPI_COMM_NULL; }
  /// Whether the communicator was made in MPI_Init. Otherwise some ranks may have it in a call in which others do not
  /// have it yet.
  bool made_in_init() const { return exists() && !late_; }
  const JobFacts& facts() const { return facts_; }

  /// Communicators of this rank alone. On the first, errors are returned; the library also packs on it. On the second,
  /// errors end the program. MPI_COMM_SELF before make_alone().
  enum class Errors : std::uint8_t { returned, fatal };
  MPI_Comm alone(Errors errors = Errors::returned) const {
    const MPI_Comm made = alone_[static_cast<std::size_t>(errors)];
    return made == MPI_COMM_NULL ? MPI_COMM_SELF : made;
  }
  /// Makes these communicators, unless they exist. Called in MPI_Init, or when the communicator of the job is made:
  /// Open MPI makes one communicator at a time, and would wait for the one that another thread makes. Local.
  void make_alone();

  const Tags& tags() const { return tags_; }

  /// take_number() returns a number that no other team of this rank has, or a negative value if none is left.
  /// give_back() returns the number of a team that has ended. Any thread; local.
  int take_number();
  void give_back(int number);

 private:
  static constexpr std::size_t agreed_values = 13;  ///< count of numbers by which the ranks agree
  /// Replaces each value by the largest of any rank. Collective. Returns whether it has succeeded.
  bool largest(std::span<std::int64_t, agreed_values> values);

  std::atomic<MPI_Comm> comm_{MPI_COMM_NULL};
  MPI_Comm alone_[2] = {MPI_COMM_NULL, MPI_COMM_NULL};  ///< by Errors
  bool late_ = false;                                   ///< set before comm_
  JobFacts facts_;
  Tags tags_{32767};
  std::mutex mutex_;            ///< guards taken_ and first_free_. tags_ is set before a number can be taken
  std::vector<bool> taken_;     ///< whether a team has the number, by number
  std::size_t first_free_ = 0;  ///< all smaller numbers are taken
};

}  // namespace swapmeet
