#include "choose/expectation.hpp"

#include <algorithm>
#include <cmath>

#include "schedule/elementary.hpp"

namespace swapmeet {

namespace {

constexpr double sure = 1.96;  ///< half the width of a 95 % interval, in standard deviations
/// The largest plausible |log(time / price)|, a factor of 1000: evidence beyond it is ignored.
constexpr double most_off = 6.91;

/// Returns the least uncertainty of a measured mean, by its origin: times on a machine differ from day to day.
double least_deviation(const Evidence& evidence) {
  constexpr double same_run = 0.03, other_run = 0.1, on_purpose = 0.03, described = 0.2;
  switch (evidence.by) {
    case Measurer::tune: return on_purpose;
    case Measurer::calibration: return described;
    default: return evidence.date == 0 ? same_run : other_run;
  }
}

/// Whether measurements of calls count for a kind of call: they differ in nothing but the size of blocks.
bool akin(const CallKind& kind, const Evidence& measured) {
  return measured.collective == kind.collective && measured.ranks.has(kind.ranks) && measured.nodes.has(kind.nodes) &&
         measured.per_node == Range{kind.least_per_node, kind.most_per_node} && measured.direct == kind.direct;
}

/// Returns the additional uncertainty, as a deviation of the logarithm, if evidence with one block size is used for
/// another. Two sizes whose times are dominated by the same cause, messages or bytes, share about the same error of the
/// model. The host MPI gets a larger uncertainty, since the sizes at which it changes its algorithm are unknown.
double distance(const Spec& spec, std::int32_t size_class, std::int32_t other, const PricedSpecs& family) {
  constexpr double a_doubling = 0.05, of_host = 0.15, messages_to_bytes = 1, unknown = 0.3;
  if (size_class == unknown_class || other == unknown_class) return size_class == other ? 0 : unknown;
  const double empty_s = family.seconds(spec, 0);
  const auto share_of_messages = [&](std::int32_t of) { return empty_s / family.seconds(spec, typical_bytes(of)); };
  return (spec.family == Family::native ? of_host : a_doubling) * std::abs(size_class - other) +
         messages_to_bytes * std::abs(share_of_messages(size_class) - share_of_messages(other));
}

double squared(double x) { return x * x; }

/// Whether the spec of `further` was measured with a size between that of `kind` and its own: then `further` does not
/// count.
bool hidden(const Evidence& further, const CallKind& kind, std::span<const Evidence> evidence) {
  const std::int32_t from = kind.size_class, to = further.size_class();
  if (from == unknown_class || to == unknown_class) return false;
  return std::ranges::any_of(evidence, [&](const Evidence& one) {
    const std::int32_t between = one.size_class();
    const bool nearer = from < to ? from <= between && between < to : to < between && between <= from;
    return nearer && one.spec == further.spec && akin(kind, one) && plausible(one);
  });
}

/// Whether this run has measured a time that differs from a stored one by more than a factor of two: then the stored
/// one does not count.
bool contradicted(const Evidence& stored, std::span<const Evidence> evidence) {
  return stored.date != 0 && std::ranges::any_of(evidence, [&](const Evidence& now) {
           return now.date == 0 && now.of_same_calls(stored) && now.spec == stored.spec && plausible(now) &&
                  (stored.mean_s > 2 * now.mean_s || now.mean_s > 2 * stored.mean_s);
         });
}

}  // namespace

void Measured::add(const Belief& one, std::int64_t of_calls) {
  const double weight = 1 / squared(one.deviation), before = calls > 0 ? 1 / squared(ratio.deviation) : 0;
  ratio = {(before * ratio.log_mean + weight * one.log_mean) / (before + weight), 1 / std::sqrt(before + weight)};
  calls += of_calls;
}

double Expectation::seconds() const { return elementary::exp(time.log_mean); }

namespace {

/// The error that all measured specs share, and how far the specs differ from it. `off` is chi squared: about
/// `measured` - 1 if the assumed deviations are right.
struct Common {
  Belief ratio{};
  double off = 0;
  int measured = 0;
};

Common common_of(std::span<const Measured> measured, double deviation) {
  double weights = 1 / squared(deviation), sum = 0;
  const auto weight_of = [](const Measured& one) { return 1 / (squared(one.own) + squared(one.ratio.deviation)); };
  Common common;
  for (const Measured& one : measured) {
    if (one.calls == 0) continue;
    weights += weight_of(one);
    sum += weight_of(one) * one.ratio.log_mean;
    ++common.measured;
  }
  common.ratio = {sum / weights, 1 / std::sqrt(weights)};
  for (const Measured& one : measured)
    if (one.calls > 0) common.off += weight_of(one) * squared(one.ratio.log_mean - common.ratio.log_mean);
  return common;
}

}  // namespace

void posterior(std::span<Measured> measured, double common_deviation, std::span<Belief> beliefs) {
  Common common = common_of(measured, common_deviation);
  if (common.measured > 1 && common.off > common.measured - 1) {
    for (Measured& one : measured) one.own *= std::sqrt(common.off / (common.measured - 1));
    common = common_of(measured, common_deviation);
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const Measured& one = measured[i];
    const double variance = squared(one.ratio.deviation), own = squared(one.own);
    const double trust = one.calls == 0 ? 0 : own / (own + variance);
    beliefs[i] = {common.ratio.log_mean + trust * (one.ratio.log_mean - common.ratio.log_mean),
                  elementary::hypot(one.calls == 0 ? one.own : std::sqrt(trust * variance),
                                    (1 - trust) * common.ratio.deviation)};
  }
}

std::vector<Expectation> expectations(const CallKind& kind, const PricedSpecs& family,
                                      std::span<const Evidence> evidence, const Doubt& doubt) {
  std::vector<Expectation> all;
  std::vector<Measured> measured;
  const std::int64_t bytes = typical_bytes(kind.size_class);
  const auto place = [&](const Spec& spec, double price_s) {
    all.push_back({spec, {}, price_s});
    measured.push_back({spec.family == Family::native ? doubt.host : doubt.own});
  };
  place(Spec{}, family.seconds(Spec{}, bytes));
  for (std::size_t i = 0; i < family.size(); ++i) place(family.spec(i), family.seconds(i, bytes));
  for (const Evidence& one : evidence) {
    if (!akin(kind, one) || !plausible(one) || contradicted(one, evidence) || hidden(one, kind, evidence)) continue;
    auto found = std::ranges::find(all, one.spec, &Expectation::spec);
    if (found == all.end()) {
      const double price_s = family.seconds(one.spec, bytes);
      if (price_s <= 0) continue;
      place(one.spec, price_s);
      found = all.end() - 1;
    }
    const auto i = static_cast<std::size_t>(found - all.begin());
    const std::int32_t size_class = one.size_class();
    const bool any_size = size_class == unknown_class;  // the sizes of one program are mostly alike
    const double price_s = family.seconds(one.spec, any_size ? bytes : typical_bytes(size_class));
    if (std::abs(elementary::log(one.mean_s / price_s)) > most_off) continue;
    const double far = distance(one.spec, kind.size_class, size_class, family);
    const double spread = std::max(one.spread_s / one.mean_s, least_deviation(one));
    measured[i].add({elementary::log(one.mean_s / price_s), elementary::hypot(spread, far)}, one.calls);
    // evidence with another size corrects the model's time, but is no measurement of this size
    if (far > 0 && !any_size) continue;
    const auto before = static_cast<double>(found->calls), more = static_cast<double>(one.calls);
    found->measured_s = (before * found->measured_s + more * one.mean_s) / (before + more);
    found->calls += one.calls;
    found->by = std::max(found->by, one.by);
    found->date = std::max(found->date, one.date);
  }
  std::vector<Belief> beliefs(all.size());
  posterior(measured, doubt.common, beliefs);
  for (std::size_t i = 0; i < all.size(); ++i) {  // the result is never more certain than the measurement itself
    const double deviation = std::max(beliefs[i].deviation, all[i].calls > 0 ? measured[i].ratio.deviation : 0);
    all[i].time = {elementary::log(all[i].price_s) + beliefs[i].log_mean, deviation};
  }
  return all;
}

std::string basis(const Expectation& expected) {
  if (expected.calls == 0) return "by the model";
  const std::string calls = std::to_string(expected.calls) + (expected.calls == 1 ? " call" : " calls");
  if (expected.by == Measurer::tune) return "by swapmeet tune, " + calls;
  return calls + (expected.date == 0 ? " of this run" : " of other runs");
}

bool trusts_model(const Spec& spec) { return spec.family == Family::native || spec.intra != Transport::mpi; }

std::size_t decide(std::span<const Expectation> expected) {
  constexpr double by_model = 0.9, by_measuring = 0.95;
  const Belief& host = expected.front().time;
  const auto better = [&](const Expectation& one) {
    if (one.calls == 0) return one.time.log_mean < host.log_mean + elementary::log(by_model);
    if (expected.front().calls > 0 && one.measured_s > expected.front().measured_s) return false;
    if (one.date == 0 || trusts_model(one.spec))
      return one.time.log_mean < host.log_mean + elementary::log(by_measuring);
    return one.time.log_mean + sure * elementary::hypot(one.time.deviation, host.deviation) < host.log_mean;
  };
  const auto best = [&](bool measured) {
    std::size_t chosen = 0;
    for (std::size_t i = 1; i < expected.size(); ++i)
      if ((expected[i].calls > 0) == measured && better(expected[i]) &&
          expected[i].time.log_mean < expected[chosen].time.log_mean)
        chosen = i;
    return chosen;
  };
  const std::size_t measured = best(true);
  return measured > 0 ? measured : best(false);
}

}  // namespace swapmeet
