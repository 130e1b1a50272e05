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

/// Returns a name such as "0 B", "64-127 B" or "1-2 KiB".
std::string class_name(std::size_t size_class) {
  if (size_class == 0) return "0 B";
  const std::uint64_t least = std::uint64_t{1} << (size_class - 1);
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  const std::size_t unit = (size_class - 1) / 10;
  const auto first = static_cast<unsigned long long>(least >> (10 * unit));
  if (size_class == 1) return "1 B";
  return unit == 0 ? formatted("%llu-%llu B", first, 2 * first - 1)
                   : formatted("%llu-%llu %s", first, 2 * first, units[unit]);
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

/// Returns the part of an entry that exists for unequal blocks only.
std::string traffic(const Tally& tally) {
  if (tally.working_bytes == 0 && tally.messages == 0) return "";
  return ", \"messages_sent\": " + std::to_string(tally.messages) +
         ", \"message_bytes\": " + std::to_string(tally.message_bytes) +
         ", \"working_bytes\": " + std::to_string(tally.working_bytes);
}

/// Returns the part of an entry that exists for choices by online tuning only.
std::string evidence(const Tally& tally) {
  if (tally.trials == 0) return "";
  return ", \"trials\": " + std::to_string(tally.trials) + ", \"trial_seconds\": " + short_text(tally.trial_s, 9) +
         ", \"host_trial_seconds\": " + short_text(tally.host_trial_s, 9);
}

/// Returns the part of an entry that exists only if phases were measured.
std::string phases(const Tally& tally) {
  if (std::ranges::all_of(tally.phase_nanoseconds, [](const auto& time) { return time == 0; })) return "";
  std::string text = ", \"phase_nanoseconds\": {";
  for (std::size_t phase = 0; phase < phase_names.size(); ++phase)
    text += (phase ? ", " : "") + json_text(phase_names[phase]) + ": " + std::to_string(tally.phase_nanoseconds[phase]);
  return text + "}";
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

std::string Statistics::json(int rank, int world_ranks, const std::string& more) const {
  const std::lock_guard lock(mutex_);
  std::string text = "{\"swapmeet_statistics\": 1, \"rank\": " + std::to_string(rank) +
                     ", \"ranks\": " + std::to_string(world_ranks) + more + ", \"calls\": [";
  const char* separator = "\n";
  for (const auto& t : tallies_) {
    if (t->calls == 0) continue;
    text += separator;
    separator = ",\n";
    text += "  {\"collective\": " + json_text(std::string(name_of(t->collective))) +
            ", \"communicator_ranks\": " + std::to_string(t->ranks) + ", \"algorithm\": " + json_text(t->algorithm) +
            ", \"reason\": " + json_text(t->reason) + ", \"calls\": " + std::to_string(t->calls) +
            ", \"bytes_sent\": " + std::to_string(t->bytes) + traffic(*t) +
            ", \"nanoseconds\": " + std::to_string(t->nanoseconds) + evidence(*t) + phases(*t) +
            ", \"calls_by_mean_block\": {";
    const char* comma = "";
    for (std::size_t k = 0; k < Tally::classes; ++k) {
      if (t->histogram[k] == 0) continue;
      const std::uint64_t least = k == 0 ? 0 : std::uint64_t{1} << (k - 1);
      text += comma + json_text(std::to_string(least)) + ": " + std::to_string(t->histogram[k]);
      comma = ", ";
    }
    text += "}}";
  }
  return text + "\n]}\n";
}

}  // namespace swapmeet
