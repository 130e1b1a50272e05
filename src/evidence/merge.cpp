#include "evidence/merge.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace swapmeet {

namespace {

/// Adds the times of `more` to those of `one`, which has the same kind, spec and measurer.
void add_times(Evidence& one, const Evidence& more) {
  const auto before = static_cast<double>(std::min(one.calls, most_calls)),
             after = static_cast<double>(std::min(more.calls, most_calls));
  const double calls = before + after, mean_s = (before * one.mean_s + after * more.mean_s) / calls;
  // Sums of squares around the mean of all: within each, as the deviation of its mean says, and between them.
  const auto squares = [&](const Evidence& part, double number) {
    const double apart = part.mean_s - mean_s;
    return part.spread_s * part.spread_s * static_cast<double>(part.calls) * (number - 1) + number * apart * apart;
  };
  const double sum = squares(one, before) + squares(more, after);
  one.spread_s = std::sqrt(sum / (calls - 1) / calls);
  one.mean_s = mean_s;
  one.calls = static_cast<std::int64_t>(calls);
  one.date = std::max(one.date, more.date);
}

/// Evidence with its kind, and with its spec as text, which is made once.
struct Entry {
  CallKind kind;
  std::string spec;
  Evidence evidence;
};

/// All evidence of one kind.
struct Kind {
  CallKind kind;
  std::int64_t last;  ///< latest date
  std::size_t count;
};

/// Drops the slowest specs of each kind, but not the host MPI. Returns the kinds.
std::vector<Kind> drop_slowest(std::vector<Entry>& entries) {
  std::ranges::sort(entries, {}, [](const Entry& one) {
    return std::tuple(one.kind, one.evidence.spec.family != Family::native, one.evidence.mean_s,
                      std::string_view(one.spec), one.evidence.by);
  });
  std::vector<Kind> kinds;
  std::erase_if(entries, [&](const Entry& one) {
    if (kinds.empty() || kinds.back().kind != one.kind) kinds.push_back({one.kind, one.evidence.date, 0});
    kinds.back().last = std::max(kinds.back().last, one.evidence.date);
    return kinds.back().count == most_specs_of_a_kind || (++kinds.back().count, false);
  });
  return kinds;
}

}  // namespace

void merge(std::vector<Evidence>& known, const Evidence& more) {
  Evidence* same = nullptr;
  CallsMade made = more.made;
  std::vector<Evidence*> of_kind;
  for (Evidence& one : known) {
    if (!one.of_same_calls(more)) continue;
    of_kind.push_back(&one);
    if (one.by == more.by && one.spec == more.spec) same = &one;
    if (one.made.calls > 0 && (one.date > more.date || made.calls == 0)) made = one.made;
  }
  for (Evidence* const one : of_kind) one->made = made;
  if (more.calls == 0) return;  // none was measured
  if (same) return add_times(*same, more);
  known.push_back(more);
  known.back().made = made;
}

void keep_within_bounds(std::vector<Evidence>& evidence) {
  std::vector<Entry> entries;
  for (Evidence& one : evidence) {
    const CallKind kind = one.kind();
    entries.push_back({kind, to_text(one.spec), std::move(one)});
  }
  std::vector<Kind> kinds = drop_slowest(entries);
  std::ranges::stable_sort(kinds, std::greater{}, &Kind::last);
  std::size_t count = 0;
  const auto too_many = [&](const Kind& kind) { return (count += kind.count) > most_evidence; };
  kinds.erase(std::ranges::find_if(kinds, too_many), kinds.end());
  std::set<CallKind> kept;
  for (const Kind& one : kinds) kept.insert(one.kind);
  std::ranges::sort(entries, {},
                    [](const Entry& one) { return std::tuple(one.kind, std::string_view(one.spec), one.evidence.by); });
  evidence.clear();
  for (Entry& one : entries)
    if (kept.contains(one.kind)) evidence.push_back(std::move(one.evidence));
}

}  // namespace swapmeet
