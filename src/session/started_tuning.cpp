#include "session/started_tuning.hpp"

#include <new>
#include <utility>

#include "team/agreement.hpp"
#include "mpi/report.hpp"
#include "schedule/names.hpp"

namespace swapmeet {

Spec single_step() {
  Spec spec;
  spec.family = Family::direct;
  return spec;
}

bool is_single_step(const Spec& spec) {
  return spec.family == Family::native || (spec.family == Family::direct && spec.window == 0);
}

bool StartedTuning::begins(double now_s) {
  comparison_.begins(now_s - std::exchange(last_s_, now_s));
  return comparison_.awaits_learning() || lacks_single();
}

void StartedTuning::settle() {
  if (comparison_.awaits_learning()) judge();
  if (!lacks_single()) return;
  made_single_ = make_single_();
  if (!made_single_) comparison_.end();
}

void StartedTuning::judge() {
  std::array<std::int64_t, 2> sums_ns = comparison_.times_ns();
  if (reduce(sums_ns, MPI_INT64_T, MPI_SUM, ranks_.peers) != MPI_SUCCESS) return comparison_.end();
  const auto mean_s = [this](std::int64_t sum_ns) { return 1e-9 * static_cast<double>(sum_ns) / ranks_.number; };
  const double usual_s = mean_s(sums_ns[0]), single_s = mean_s(sums_ns[1]);
  if (comparison_.learn(usual_s, single_s)) report(usual_s, single_s);
}

void StartedTuning::report(double usual_s, double single_s) const {
  if (ranks_.calls.empty()) return;
  const auto takes = [](double time_s, const Spec& spec) {
    return fixed_text(1e6 * time_s, 0) + " us by " + to_text(spec);
  };
  try {
    say_once(ranks_.calls + ": from one to the next the program takes " + takes(usual_s, usual_) + ", " +
             takes(single_s, single_step()) +
             (comparison_.chosen() == Arm::single ? ", which is taken" : ", which is left"));
  } catch (const std::bad_alloc&) {}  // on this rank only: the exchange continues
}

}  // namespace swapmeet
