#include "session/record_exchange.hpp"

#include <unistd.h>

#include <mutex>
#include <stdexcept>
#include <string>

#include "buffers/device.hpp"
#include "mpi/guard.hpp"
#include "mpi/outcome.hpp"
#include "mpi/progress.hpp"
#include "mpi/report.hpp"
#include "mpi/simulation.hpp"
#include "mpi/slow_wait.hpp"
#include "node/oversubscription.hpp"
#include "session/context.hpp"
#include "session/disagreement.hpp"
#include "session/duplicates.hpp"
#include "team/agreement.hpp"
#include "team/messages.hpp"

namespace swapmeet {

namespace {

constexpr const char* of_session =
    "all ranks have called MPI_Session_init: the communicator may be a session's, and outlive MPI_Finalize";

/// Returns a scope that watches the next wait for all ranks of `comm`, which ranks without the library would never
/// join: a line is printed after patience_s() seconds. Local.
SlowWait watch_for_absent_ranks(MPI_Comm comm) {
  return {comm, "the first all-to-all of a communicator", patience_s()};
}

}  // namespace

/// The blocks of `first` if they are small and contiguous, to be sent with the records; else nothing. Local.
std::vector<char> RecordExchange::blocks_to_piggyback(const FirstCall& first) {
  constexpr std::int64_t most_bytes = sizeof RankRecord::block;
  if (simulated || members_.ranks() > members_.gathered().with_blocks || may_be_on_device()) return {};
  const bool in_place = first.send == MPI_IN_PLACE;
  const Datatype& in = datatypes_[first.receive_type];
  const Datatype& out = in_place ? in : datatypes_[first.send_type];
  if (!in.predefined || !out.predefined || !in.contiguous || !out.contiguous || in.size == 0) return {};
  if (first.receive_count > most_bytes / in.size) return {};
  const std::int64_t bytes = first.receive_count * in.size;
  if (!in_place && first.send_count * out.size != bytes) return {};
  const char* const blocks = static_cast<const char*>(in_place ? first.receive : first.send);
  return {blocks, blocks + bytes * members_.ranks()};
}

void RecordExchange::run(const FirstCall* first, bool in_own_function) {
  known_ = true;
  share_with_duplicates(members_.user());  // here, since all ranks come here at the same call
  decisions_.setup_policy().setup_begins();
  const auto now = observer_.doing(Doing::setting_up);
  mine_ = make_record();
  GatheredRecords records = exchange(first);
  if (records.states != GatheredRecords::States::none) records = exchange(first);  // no rank proposes a state any more
  if (members_.refusal.empty()) make_job(records, in_own_function);
  if (members_.refusal.empty()) apply(std::move(records), false);
}

GatheredRecords RecordExchange::exchange(const FirstCall* first) {
  piggybacked_.clear();
  if (first) piggybacked_ = blocks_to_piggyback(*first);
  const SlowWait watched = watch_for_absent_ranks(members_.user());
  GatheredRecords records = gather_records(mine_, members_.gathered(), *members_.team, piggybacked_);
  if (records.error) fail(records.error);
  return records;
}

/// Ends the set-up after an MPI error that has persisted in all repetitions. If a rank has died, all ranks soon get an
/// error for it, so none waits. Any other error is this rank's alone: it must not take part in agreements in which the
/// others do not, so it throws.
void RecordExchange::fail(int error) {
  known_ = true;
  members_.refusal = is_fault(error) ? "a rank has died" : "MPI has failed";
  if (!is_fault(error)) throw MpiError(error);
}

bool RecordExchange::take_over(const FirstCall* first) {
  share_with_duplicates(members_.user());
  mine_.state = members_.number;
  const GatheredRecords records = exchange(first);
  if (!records.strangers.empty()) refuse_strangers(records);
  return records.states == GatheredRecords::States::same;
}

bool RecordExchange::still_holds() const {
  const std::uint64_t device = members_.options().devices_through_host ? 0 : device_in_use();
  return known_ && device == mine_.device && sessions_opened == (mine_.sessions != 0);
}

void RecordExchange::begin() {
  share_with_duplicates(members_.user());
  // Here, and not when the records have arrived, because they arrive at different times: all ranks must stop leaving
  // calls to the host MPI at the same call.
  decisions_.setup_policy().setup_begins();
  mine_ = make_record();
  if (const int error = begin_gathering_records(mine_, gathered_, members_.user(), arrival_)) fail(error);
}

void RecordExchange::finish() {
  if (known_) return;
  if (gathered_.empty()) run();
  else end();
  if (!members_.refusal.empty()) observer_.trace_nothing();
  if (members_.options().recording()) observer_.record(context().recorder);
}

/// Completes the exchange that begin() has started. Unlike run() it does not call make_job(): an exchange is begun only
/// where the communicator of the job exists. Collective; waits.
void RecordExchange::end() {
  known_ = true;
  const int error = [&] {
    const SlowWait watched = watch_for_absent_ranks(members_.user());
    return wait();
  }();
  if (error) return fail(error);
  apply(read_records(mine_, gathered_), true);
  gathered_ = {};
}

int RecordExchange::wait() {
  int done = 0;
  while (arrival_ != MPI_REQUEST_NULL && !arrival_error_ && !done)
    if (arrival_error_ = test_again(arrival_, done); !arrival_error_ && !done) pass_time(*members_.team);
  return arrival_error_;
}

/// Makes the record that this rank sends, and reserves its part of shared memory. Local.
RankRecord RecordExchange::make_record() {
  if (members_.rank() == 0) members_.number = context().number_of_communicator();
  const std::uint64_t device = members_.options().devices_through_host ? 0 : device_in_use();
  const NodeRecord& reserved = node_.reserve();
  guarded([&] {  // the other ranks wait for the record, so lack of memory must not end this
    if (members_.rank() == 0 && !members_.options().algorithm) decisions_.earlier_runs().recall(members_.ranks());
    warn_of_memory_store();
    return MPI_SUCCESS;
  });
  RankRecord mine{{},
                  members_.has_own_options() ? members_.options().fingerprint() : context().fingerprint,
                  device,
                  members_.number,
                  host_number(),
                  kernel_number()};
  if (!simulated) mine.launched = static_cast<std::uint32_t>(launched_here());
  if (!simulated) mine.cores = static_cast<std::uint32_t>(processors());
  mine.locked = progress_is_locked();
  mine.threaded = has_several_threads();
  mine.starts_on_host = context().options.nonblocking == Options::Nonblocking::host;
  mine.observed = observer_.observed();
  mine.sessions = sessions_opened;
  if (members_.rank() == 0) {
    mine.recalled = static_cast<std::uint32_t>(decisions_.earlier_runs().own_bytes());
    mine.many = decisions_.earlier_runs().own_many();
  }
  mine.node_record = reserved;
  mine.team = members_.team->number();
  mine.job = context().job.exists();
  return mine;
}

/// Collective if a communicator of the job is made; else local. The job has no communicator yet if the library was
/// loaded after MPI_Init. None is made in a function of MPI if several threads may call MPI on some rank: another thread
/// may then be making a communicator, and wait for a rank that waits here. Open MPI makes one communicator at a time.
/// In a function of this library several threads may come here at once, with communicators of all ranks. There is then
/// no agreement on the facts of the job: ranks would use them at different calls. None is made either where some ranks
/// lack the library or have another version: these would not come.
void RecordExchange::make_job(const GatheredRecords& records, bool in_own_function) {
  if (!records.strangers.empty() || !records.same_version) return;
  if (records.job || members_.ranks() != context().world_ranks) return;
  if (records.threaded && !in_own_function) return;
  {
    static std::mutex making;
    const std::lock_guard alone(making);
    context().job.begin(patience_s(), true);
    context().job.make_alone();
  }
  if (!records.threaded) {
    JobFacts mine = facts_of(context().options);
    mine.threaded = false;
    context().job.agree(mine, context().fingerprint);
  }
  auto numbered = std::make_unique<Team>(*members_.team, members_.user());
  if (const int error = numbered->exchange_numbers()) return fail(error);
  members_.team = std::move(numbered);
}

/// Applies the result of the exchange of records. `begun`: the exchange was begun by begin(), so this may run in the host
/// MPI's progress. Collective: the ranks exchange the numbers of their teams if the records lack them, and look for the
/// difference if their options differ; otherwise it does not communicate.
void RecordExchange::apply(GatheredRecords records, bool begun) {
  members_.number = records.number;
  refuse_strangers(records);
  if (!members_.refusal.empty()) return;
  // Node records are taken only from records of all ranks.
  const bool all_answered = records.agreed || !records.node_records.empty();
  if (all_answered && members_.ranks() == context().world_ranks) SlowWait::all_ranks_came();
  // Without a job there are no messages, or make_job() has made the team and exchanged its numbers.
  if (records.job && !records.teams.empty()) members_.team->set_numbers(records.teams);
  else if (records.job && records.team_everywhere >= 0) members_.team->use_common_number();
  else if (const int error = records.job ? members_.team->exchange_numbers() : MPI_SUCCESS) return fail(error);
  members_.locked |= records.locked;
  members_.threaded = records.threaded;
  if (!context().job.made_in_init()) members_.starts_on_host = !members_.has_messages();
  members_.starts_on_host |= records.starts_on_host || mine_.starts_on_host != 0;
  members_.observed = records.observed;
  members_.hosts = std::move(records.hosts);
  node_.records() = std::move(records.node_records);
  decisions_.knowledge().ranks_per_core = records.ranks_per_core;
  Oversubscription::of_this_process().has_ranks(records.ranks_here);
  observer_.knows_processes(node_.records());
  if (records.device > 0) leave_devices_alone(device_name(records.device));
  decisions_.earlier_runs().announced(records.agreed ? records.recalled : 0, records.many);
  if (records.agreed && records.sessions && members_.user() != MPI_COMM_WORLD) members_.refusal = of_session;
  if (records.agreed) return;
  constexpr const char* disagree = "the ranks disagree on the SWAPMEET_ variables";
  members_.refusal = disagree;
  if (begun && !members_.has_messages()) return;  // further agreements would need messages
  warn_once(disagree, disagreement(members_.options(), *members_.team) +
                          "; using the host MPI. Give every rank the same environment, and the same tuning file.");
  print_problems(members_.options(), *members_.team);
}

/// Handles ranks that sent no record, or records of another version. If a rank has sent no record, the call ends with
/// an error: that rank's all-to-all, and perhaps that of other ranks, has received records in place of data. If
/// versions differ, calls are left to the host MPI. Local.
void RecordExchange::refuse_strangers(const GatheredRecords& records) {
  if (!records.strangers.empty() || !records.same_version) node_.give_back_reserved();
  if (!records.same_version) {
    members_.refusal = different_versions;
    warn_once(different_versions, instead_of_versions);
  }
  if (records.strangers.empty()) return;
  const RankRecord::Version own;
  const auto rank = static_cast<std::size_t>(records.strangers.front());
  const std::string first = "rank " + std::to_string((*members_.team->job_ranks())[rank]);
  if (records.other_version) {
    members_.refusal = different_versions;
    piggybacked_.clear();
    warn_once(different_versions, ": " + first + " has " + records.other_version->text() + ", rank 0 of the job has " +
                                      own.text() + instead_of_versions);
    return;
  }
  // The first rank with a record throws at once, which normally ends the job. The others wait before they throw, so
  // that only one reports.
  constexpr unsigned others_wait_s = 1;
  if (records.first_with_record != members_.rank()) sleep(others_wait_s);
  members_.refusal = "a rank runs without the library";
  throw std::runtime_error(
      first +
      " runs without the library: in an all-to-all it has got parameters of other ranks in place of their data. " +
      how_to_preload());
}

void RecordExchange::leave_devices_alone(std::string_view driver) {
  members_.device = "a rank uses " + std::string(driver) + ", so buffers may be memory of its device";
  if (members_.options().algorithm && members_.options().algorithm->family != Family::native)
    warn_once(members_.device + "; using the host MPI on such communicators. SWAPMEET_DEVICE=host: use " +
              members_.options().algorithm_from + " there too, and bring such buffers to the host.");
}

}  // namespace swapmeet
