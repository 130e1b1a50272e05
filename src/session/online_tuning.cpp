#include "session/online_tuning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "choose/first_calls.hpp"
#include "team/agreement.hpp"
#include "schedule/names.hpp"
#include "session/communicator.hpp"

namespace swapmeet {

namespace {

constexpr int most_unlike = 4;    ///< after so many calls of another size, trials are made of calls of that size
constexpr int most_changes = 16;  ///< after so many changes of size, trials are made of no other sizes

}  // namespace

void learn_from(Trials& trials, Team& team) {
  const std::span<double> times = trials.times();
  if (allreduce(times, MPI_DOUBLE, MPI_MAX, team) != MPI_SUCCESS) std::ranges::fill(times, 0.0);
  trials.learn();
}

OnlineTuning::OnlineTuning(Communicator& communicator, Collective collective, std::int64_t block_bytes, Decision& usual,
                           bool others, bool& now_direct)
    : communicator_(communicator), collective_(collective), usual_(usual), others_(others), direct_(now_direct),
      now_direct_(now_direct),
      first_calls_(first_calls(collective, communicator.ranks(), communicator.members().nodes(), block_bytes,
                               communicator.options(), !usual.exchange)),
      pause_(others ? first_calls_ : 2), paused_s_(PMPI_Wtime()) {}

/// Lets calls go by the usual decision from now on, for the pause that the trials ask for.
void OnlineTuning::pause() {
  pause_ = paused_for_ = trials_ ? trials_->pause() : 1;
  paused_s_ = PMPI_Wtime();
}

Decision& OnlineTuning::next(std::int64_t block_bytes, std::uint64_t sent_bytes, bool direct) {
  pause_ = 0;
  under_way_ = false;  // still set if an error handler has thrown
  if (!others_) return timed();
  if (trials_ && trials_->left() > 0) {
    if (static_cast<double>(block_bytes) == reference_bytes_) return tried();
    if (++unlike_ < most_unlike) return pause_ = 1, usual();
    trials_->cut_short();
  }
  if (trials_ && trials_->awaits_learning()) learn();
  if (pause_ > 0) return usual();
  if (!begin(static_cast<double>(block_bytes), static_cast<double>(sent_bytes), direct)) {
    pause();
    // The usual decision was chosen for blocks of other sizes.
    if (of_unequal_blocks(collective_) && unlike_ > 0) pause_ = 1;
    return usual();
  }
  if (!trials_) return prepare(), usual();
  trials_->next(waiting_s_, since_s_);
  paused_for_ = 0;  // trials_->next() has counted the pause
  return tried();
}

std::int64_t OnlineTuning::calls() const {
  if (!others_) return static_cast<std::int64_t>(timed_s_.size()) + 1;  // the first call was not timed
  if (!trials_) return first_calls_ - std::max<std::int64_t>(pause_, 0);
  return trials_->calls() + std::max<std::int64_t>(paused_for_ - std::max<std::int64_t>(pause_, 0), 0);
}

/// The decision for a call that is timed, without trials.
Decision& OnlineTuning::timed() {
  constexpr std::size_t enough = 8;
  if (timed_s_.size() == enough) return pause_ = INT64_MAX, usual_;
  pause_ = 1;
  under_way_ = true;
  began_s_ = PMPI_Wtime();
  return usual_;
}

/// The decision for the next call of the current trial.
Decision& OnlineTuning::tried() {
  trials_->call_begins();
  pause_ = 1;
  under_way_ = true;
  Decision& tried = arm(trials_->coming());
  began_s_ = PMPI_Wtime();
  return tried;
}

Decision& OnlineTuning::arm(int number) {
  Decision*& made = arms_[static_cast<std::size_t>(number)];
  if (!made) made = &communicator_.decisions().on_trial(collective_, known_[static_cast<std::size_t>(number)].spec);
  return *made;
}

/// Prepares a trial, and waits for the other ranks. Returns false if the call is not to be a trial. Collective.
bool OnlineTuning::begin(double block_bytes, double sent_bytes, bool direct) {
  const bool equal = collective_ == Collective::alltoall;
  if (equal && !like_others(block_bytes)) return false;
  if (trials_) arm(trials_->coming());  // prepare the arm before the ranks wait for each other
  else if (equal) return true;
  const double before_s = PMPI_Wtime();
  since_s_ = before_s - paused_s_;
  std::array<double, 2> all{sent_bytes, direct ? 1.0 : 0.0};
  const bool summed = allreduce(all, MPI_DOUBLE, MPI_SUM, *communicator_.members().team) == MPI_SUCCESS;
  waiting_s_ = PMPI_Wtime() - before_s;
  const bool all_direct = all.back() == communicator_.ranks() && communicator_.members().nodes() == 1;
  if (summed && all_direct != direct_) {  // the other OnlineTuning of Tunings continues with the next call
    now_direct_ = all_direct;
    communicator_.fast_paths().clear();
    return false;
  }
  return equal || like_others(all.front());
}

CallKind OnlineTuning::kind_of_calls() const {
  CallKind kind = communicator_.decisions().kind_of_calls(collective_, mean_bytes());
  kind.direct = direct_;
  return kind;
}

/// Whether a call of `bytes` bytes is like those of earlier trials: equal blocks of the same size, or unequal blocks
/// within a factor of two. After several calls of another size in a row, trials are made of that size instead, and it
/// returns true.
bool OnlineTuning::like_others(double bytes) {
  const double factor = collective_ == Collective::alltoall ? 1 : 2;
  const bool like = bytes <= factor * reference_bytes_ && factor * bytes >= reference_bytes_;
  if (!like && trials_ && changes_ == most_changes) return false;
  if (!like && reference_bytes_ >= 0 && ++unlike_ < most_unlike) return false;
  if (!like) change_reference(bytes);
  unlike_ = 0;
  return true;
}

/// Changes the size of the calls that trials are made of. Results for unequal blocks hold for no other sizes, so trials
/// restart from the first decision.
void OnlineTuning::change_reference(double bytes) {
  reference_bytes_ = bytes;
  if (!of_unequal_blocks(collective_) || !trials_) return;
  ++changes_;
  trials_.reset();
  communicator_.fast_paths().clear();
}

void OnlineTuning::ends() {
  under_way_ = false;
  paused_s_ = PMPI_Wtime();
  if (others_) trials_->took(paused_s_ - began_s_);
  else timed_s_.push_back(paused_s_ - began_s_);
}

std::int64_t OnlineTuning::mean_bytes() const {
  const double ranks = communicator_.ranks();
  const double blocks = collective_ == Collective::alltoall ? 1
                        : of_neighbours(collective_)        ? std::max(1.0, communicator_.neighbours().blocks())
                                                            : ranks * ranks;
  return static_cast<std::int64_t>(reference_bytes_ / blocks);
}

/// Parameters of the trials. On one node the model is seldom far off, so no early trials are allowed. There the times
/// of unequal calls so far are unknown and may be near zero, so these calls are not counted. A trial has several calls
/// between nodes where ranks share cores, but not for unequal blocks: the next ones may be far larger.
Trials::Pace OnlineTuning::pace() const {
  constexpr int where_cores_are_shared = 4;
  const bool one_node = communicator_.members().nodes() == 1;
  const bool unknown = one_node && of_unequal_blocks(collective_);
  const bool shared =
      communicator_.decisions().knowledge().ranks_per_core > 1 && communicator_.options().trials_share < 1;
  const bool several = shared && !one_node && collective_ == Collective::alltoall;
  return {unknown ? 0 : first_calls_, TrialRows::of_calls(several ? where_cores_are_shared : 1),
          one_node ? 0 : Trials::early_calls};
}

/// Begins trials after enough calls: determines the candidates, and the time that each is expected to take.
void OnlineTuning::prepare() {
  const bool neighbours = of_neighbours(collective_);
  const Spec& spec = usual_.spec();
  if (neighbours) communicator_.neighbours().count_work();
  const bool waits = first_calls_ == first_by_host || (neighbours && first_calls_ > first_by_host);
  if (waits && communicator_.members().nodes() > 1 &&
      !promise_much(communicator_.decisions().candidates_beside(kind_of_calls(), mean_bytes(), spec))) {
    const std::int64_t longer = std::max(first_unpromising, first_calls_ * (first_unpromising / first_by_host));
    pause_ = longer - std::exchange(first_calls_, longer);
    paused_s_ = PMPI_Wtime();
    return;
  }
  communicator_.decisions().measure_network();
  known_ = communicator_.decisions().candidates_beside(kind_of_calls(), mean_bytes(), spec);
  const auto arm_of = [&](const Spec& one) {
    return static_cast<int>(std::ranges::find(known_, one, &Expectation::spec) - known_.begin());
  };
  arms_.assign(known_.size(), nullptr);
  arms_[static_cast<std::size_t>(arm_of(spec))] = &usual_;
  const Expectation& best = known_[decide(known_)];
  const bool found = best.calls > 0 && (neighbours || changes_ > 0);  // measured on such calls before
  trials_.emplace(communicator_.options().trials_share, known_, arm_of(found ? best.spec : spec),
                  communicator_.decisions().knowledge().doubt, pace());
  pause();
}

/// Learns from a trial that is over. Collective.
void OnlineTuning::learn() {
  const int before = trials_->usual(), tried = trials_->coming();
  learn_from(*trials_, *communicator_.members().team);
  pause();
  if (trials_->samples(tried) > 0)  // of the host MPI if the arm could not be made
    communicator_.decisions().note({kind_of_calls(), arm(tried).spec(), trials_->samples(tried),
                                    trials_->seconds(tried), trials_->spread_s(tried)});
  if (trials_->usual() != before) communicator_.fast_paths().clear();
  const Compared compared(*trials_, known_);
  const bool explained = std::exchange(explained_, explained_ || compared);
  if (trials_->usual() == before && (explained || !compared)) return;
  Decision& chosen = usual();
  chosen.reason = compared.text(direct_ ? " in memory that ranks copy directly" : "");
  chosen.explained(Begun::now) = !communicator_.options().explain;
  chosen.tally_ = &statistics().tally(collective_, communicator_.ranks(), to_text(chosen.spec()), "online choice");
  if (!compared) return;
  chosen.tally_->trial_s = compared.usual_s;
  chosen.tally_->host_trial_s = trials_->usual() == Trials::reference ? compared.usual_s : compared.other_s;
  chosen.tally_->trials = trials_->trials();
}

}  // namespace swapmeet
