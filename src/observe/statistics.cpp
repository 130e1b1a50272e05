#include "observe/statistics.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string_view>

#include "observe/json.hpp"
#include "schedule/names.hpp"

namespace swapmeet {

namespace {

std::string formatted(const char* format, auto... values) {
  char line[512];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

/// Returns the least size of a block of the class.
std::uint64_t least_of_class(std::size_t size_class) {
  return size_class == 0 ? 0 : std::uint64_t{1} << (size_class - 1);
}

/// Returns a name such as "0 B", "64-127 B" or "1-2 KiB".
std::string class_name(std::size_t size_class) {
  if (size_class < 2) return size_class == 0 ? "0 B" : "1 B";
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  const std::size_t unit = (size_class - 1) / 10;
  const std::uint64_t first = least_of_class(size_class) >> (10 * unit);
  return number(first) + '-' + number(unit == 0 ? 2 * first - 1 : 2 * first) + ' ' + units[unit];
}

/// Removes the numbers before "us" or "call", which differ for each communicator that measures.
std::string without_measurements(std::string_view reason) {
  constexpr std::string_view digits = "0123456789.";
  std::string text;
  while (!reason.empty()) {
    const std::size_t number = std::min(reason.find_first_of(digits), reason.size());
    const std::size_t end = std::min(reason.find_first_not_of(digits, number), reason.size());
    const std::string_view rest = reason.substr(end);
    const bool measured = rest.starts_with(" us") || rest.starts_with(" call");
    text += reason.substr(0, measured ? number : end);
    reason = rest;
  }
  return text;
}

/// Returns one row of the file.
Json json_of(const Tally& tally) {
  JsonMembers row;
  row.add("collective", name_of(tally.collective)).add("communicator_ranks", tally.ranks);
  row.add("algorithm", tally.algorithm).add("reason", tally.reason);
  row.add("calls", tally.calls.load()).add("bytes_sent", tally.bytes.load());
  if (tally.working_bytes != 0 || tally.messages != 0) {  // of unequal blocks
    row.add("messages_sent", tally.messages.load()).add("message_bytes", tally.message_bytes.load());
    row.add("working_bytes", tally.working_bytes.load());
  }
  row.add("nanoseconds", tally.nanoseconds.load());
  if (tally.trials != 0) {  // of a choice by online tuning
    row.add("trials", tally.trials.load()).add("trial_seconds", Json{short_text(tally.trial_s, 9)});
    row.add("host_trial_seconds", Json{short_text(tally.host_trial_s, 9)});
  }
  if (std::ranges::any_of(tally.phase_nanoseconds, [](const auto& time) { return time != 0; })) {
    JsonMembers phases;
    for (std::size_t i = 0; i < phase_names.size(); ++i) phases.add(phase_names[i], tally.phase_nanoseconds[i].load());
    row.add("phase_nanoseconds", phases.object());
  }
  JsonMembers blocks;
  for (std::size_t k = 0; k < Tally::classes; ++k)
    if (tally.histogram[k] != 0) blocks.add(number(least_of_class(k)), tally.histogram[k].load());
  return row.add("calls_by_mean_block", blocks.object()).object();
}

}  // namespace

void Tally::add(std::uint64_t sent_bytes, std::chrono::nanoseconds time, std::int32_t blocks) {
  const std::uint64_t mean = sent_bytes / static_cast<std::uint64_t>(blocks < 0 ? ranks : std::max(blocks, 1));
  const std::size_t size_class = std::min<std::size_t>(std::bit_width(mean), classes - 1);
  histogram[size_class].fetch_add(1, std::memory_order_relaxed);
  calls.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(sent_bytes, std::memory_order_relaxed);
  nanoseconds.fetch_add(static_cast<std::uint64_t>(time.count()), std::memory_order_relaxed);
}

void Tally::add_phases(const PhaseTimes& times) {
  for (std::size_t phase = 0; phase < times.size(); ++phase)
    phase_nanoseconds[phase].fetch_add(static_cast<std::uint64_t>(times[phase].count()), std::memory_order_relaxed);
}

void Tally::add_traffic(const SentTraffic& sent, std::int64_t most_working_bytes) {
  messages.fetch_add(static_cast<std::uint64_t>(sent.messages), std::memory_order_relaxed);
  message_bytes.fetch_add(static_cast<std::uint64_t>(sent.bytes), std::memory_order_relaxed);
  const auto most = static_cast<std::uint64_t>(most_working_bytes);
  std::uint64_t known = working_bytes.load(std::memory_order_relaxed);
  while (known < most && !working_bytes.compare_exchange_weak(known, most, std::memory_order_relaxed)) {}
}

Tally& Statistics::tally(Collective collective, std::int32_t ranks, const std::string& algorithm,
                         const std::string& reason) {
  std::string key = without_measurements(reason);
  const std::lock_guard lock(mutex_);
  for (const auto& tally : tallies_)
    if (tally->collective == collective && tally->ranks == ranks && tally->algorithm == algorithm && tally->key == key)
      return *tally;
  tallies_.push_back(std::make_unique<Tally>(collective, ranks, algorithm, reason, std::move(key)));
  return *tallies_.back();
}

bool Statistics::empty() const {
  const std::lock_guard lock(mutex_);
  return tallies_.empty();
}

std::string Statistics::table() const {
  const std::lock_guard lock(mutex_);
  std::string text = formatted("%-18s %6s %10s %14s %10s  %s\n", "collective", "ranks", "calls", "bytes sent",
                               "seconds", "algorithm (reason)");
  for (const auto& t : tallies_) {
    if (t->calls == 0) continue;
    text += formatted("%-18s %6d %10llu %14llu %10s  ", std::string(name_of(t->collective)).c_str(), t->ranks,
                      static_cast<unsigned long long>(t->calls), static_cast<unsigned long long>(t->bytes),
                      fixed_text(1e-9 * static_cast<double>(t->nanoseconds), 6).c_str());
    text += t->algorithm + " (" + t->reason + ")\n    calls by mean block:";
    for (std::size_t k = 0; k < Tally::classes; ++k)
      if (t->histogram[k] != 0) text += "  " + class_name(k) + ": " + std::to_string(t->histogram[k]);
    text += '\n';
    const char* before = "    seconds by phase:";
    for (std::size_t phase = 0; phase < phase_names.size(); ++phase)
      if (const std::uint64_t time = t->phase_nanoseconds[phase])
        text += std::exchange(before, "") + ("  " + std::string(phase_names[phase])) + ": " +
                fixed_text(1e-9 * static_cast<double>(time), 6);
    if (!*before) text += '\n';
  }
  return text;
}

std::string Statistics::json(int rank, int world_ranks, const JsonMembers* job) const {
  const std::lock_guard lock(mutex_);
  std::string rows;
  for (const auto& tally : tallies_)
    if (tally->calls != 0) rows += (rows.empty() ? "\n  " : ",\n  ") + json_of(*tally).text;
  JsonMembers all = JsonMembers().add("swapmeet_statistics", 1).add("rank", rank).add("ranks", world_ranks);
  if (job) all.add(*job);
  return all.add("calls", Json{'[' + rows + "\n]"}).object().text + '\n';
}

}  // namespace swapmeet
