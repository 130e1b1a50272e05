#include "session/started_tuning.hpp"

#include <new>
#include <utility>

#include "mpi/report.hpp"
#include "session/decision.hpp"
#include "session/explain.hpp"

namespace swapmeet {

Spec single_step() {
  Spec spec;
  spec.family = Family::direct;
  return spec;
}

bool is_single_step(const Spec& spec) {
  return spec.family == Family::native || (spec.family == Family::direct && spec.window == 0);
}

StartedTuning::StartedTuning(const Members& members, Team& team, const std::string& name, Decision& usual,
                             std::function<Decision*()> make_single)
    : team_(team), calls_(members.options().explain && members.rank() == 0 ? name + on_ranks(members) : ""),
      usual_(usual), arms_(expectations_of_starts(usual.spec(), single_step())), make_single_(std::move(make_single)),
      trials_(members.options().trials_share, arms_, Trials::reference, doubt_of_starts, {0, TrialRows::of_starts()}),
      pause_(trials_.pause()) {}

bool StartedTuning::begins(double now_s) {
  const double since_s = now_s - std::exchange(last_s_, now_s);
  if (paused_s_ == 0) paused_s_ = now_s;
  if (std::exchange(tried_, false)) trials_.took(since_s);
  if (trials_.awaits_learning() || lacks_single()) return true;
  if (trials_.left() > 0 || failed_ || --pause_ >= 0) return false;
  trials_.next(0, now_s - paused_s_);
  return lacks_single();
}

void StartedTuning::settle() {
  if (trials_.awaits_learning()) learn();
  if (!lacks_single()) return;
  single_ = make_single_();
  if (single_) return;
  failed_ = true;
  trials_.cut_short();
}

Decision& StartedTuning::next() {
  if (trials_.left() == 0) return chosen();
  trials_.call_begins();
  tried_ = true;
  return by(trials_.coming());
}

/// Learns from a trial that is over. The exchange that starts is the first one in the next pause.
void StartedTuning::learn() {
  const int before = trials_.usual();
  learn_from(trials_, team_);
  pause_ = trials_.pause() - 1;
  paused_s_ = last_s_;
  if (calls_.empty()) return;
  try {
    const Compared compared(trials_, arms_);
    const bool explained = std::exchange(explained_, explained_ || compared);
    if (trials_.usual() == before && (explained || !compared)) return;
    say_once(calls_ + ": " + to_text(chosen().spec()) + " (" +
             compared.text(" by the time from one start to the next") + ")");
  } catch (const std::bad_alloc&) {}  // on this rank only: the exchange continues
}

}  // namespace swapmeet
