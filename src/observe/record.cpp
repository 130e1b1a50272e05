#include "observe/record.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <ctime>
#include <utility>

#include "observe/json.hpp"
#include "mpi/report.hpp"
#include "mpi/world_ranks.hpp"
#include "observe/process.hpp"
#include "schedule/kernel_file.hpp"
#include "schedule/output_file.hpp"
#include "schedule/random.hpp"

namespace swapmeet {

namespace {

using Clock = Recorder::Clock;

constexpr std::size_t most_text_bytes = std::size_t{1} << 16;
constexpr std::size_t most_line_samples = 64;

/// The times of checkpoints. The first one is at the end of the first call. The next ones follow at least 20 ms apart,
/// when a fifth of the time since the first call has passed without one, and at least every ten minutes. These are
/// about a hundred a day, and a killed process loses little in comparison with what it has written.
constexpr std::chrono::milliseconds least_interval{20};
constexpr std::chrono::minutes longest_interval{10};
constexpr int interval_part = 4;

/// The time at which this library was loaded, which is close to the start of the process, and the process that loaded
/// it.
struct Load {
  Clock::time_point time = Clock::now();
  int process = getpid();
};
Load& load() {
  static Load* const loaded = new Load;
  return *loaded;
}
__attribute__((constructor)) void at_load() { load(); }

std::int64_t nanoseconds(std::chrono::nanoseconds time) { return time.count(); }

/// Returns the nanoseconds since this process was started.
std::int64_t since_load(Clock::time_point time) { return nanoseconds(time - load().time); }

/// Returns the beginning of a line of the file.
JsonMembers line_of(const char* type) { return JsonMembers(true).add("type", type); }

/// Returns how many calls of a communicator the given one represents in the samples; 0: it is no sample. All of the
/// first 2048 calls are samples, then about 1024 in each doubling. The choice is the same on all ranks, and
/// pseudo-random, so that it does not coincide with a pattern in the calls.
std::uint64_t weight(std::uint64_t call) {
  const std::uint64_t every = std::uint64_t{1} << std::bit_width(call >> 11);
  return mixed(call + 1) % every == 0 ? every : 0;
}

/// Returns the name of the file of `rank`, which replaces each %r of the pattern or is appended to it. In a folder the
/// name is that of the rank.
std::string file_name(std::string pattern, const std::string& rank) {
  struct stat there{};
  if (::stat(pattern.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) pattern += "/%r.jsonl";
  return pattern.find("%r") == pattern.npos ? pattern + '.' + rank : with_rank(std::move(pattern), rank);
}

constexpr std::size_t most_words = 512;  ///< of the command line

/// Returns the command line of this process, truncated to most_words bytes.
std::string command_line() {
  std::string words = read_kernel_file("/proc/self/cmdline", 1).substr(0, most_words);
  while (words.ends_with('\0')) words.pop_back();
  for (char& c : words)
    if (static_cast<unsigned char>(c) > 126) c = '?';
  for (char& c : words)
    if (c == '\0') c = ' ';
  return words;
}

/// Returns the beginning of the first line. Clocks of processes with the same `boot` can be compared.
JsonMembers heading() {
  JsonMembers line = line_of("recording").add("schema", 1).add("swapmeet", SWAPMEET_VERSION).add("host", host_name());
  line.add("boot", first_line_of_kernel_file("/proc/sys/kernel/random/boot_id")).add("process", load().process);
  line.add("clock", nanoseconds(load().time.time_since_epoch()));
  return line.add("started", std::int64_t{std::time(nullptr)}).add("command", command_line());
}

std::string mpi_version() {
  const std::string version = library_version();
  return version.substr(0, std::min(version.find('\n'), version.find(", package")));
}

/// Returns the bytes for each destination, or one number if all are equal.
std::string json_sizes(const Blocks& sent, Rank ranks, bool alike) {
  if (alike) return number(ranks == 0 ? std::int64_t{0} : sent.bytes(0));
  std::string text = "[";
  for (Rank i = 0; i < ranks; ++i) text += (i == 0 ? "" : ",") + number(sent.bytes(i));
  return text + ']';
}

JsonMembers end_of(const char* ended) {
  return line_of("end").add("ended", ended).add("nanoseconds", since_load(Clock::now()));
}

/// Returns a name for an intercommunicator that is the same on all ranks of its local group: the first ranks of both
/// groups.
std::string groups_of(MPI_Comm comm) {
  MPI_Group remote = MPI_GROUP_NULL;
  PMPI_Comm_remote_group(comm, &remote);
  const std::vector<int> here = world_ranks_of(comm), there = ranks_of_group(remote, MPI_COMM_WORLD);
  PMPI_Group_free(&remote);
  return number(here.front()) + '-' + number(there.front());
}

}  // namespace

void RecordedCall::ends() const {
  if (communicator) recorder().call_ends(*this);
}

void Recorder::open(const std::string& pattern, int rank, int ranks, const std::string& algorithm) {
  const std::lock_guard lock(mutex_);
  if (getpid() != load().process) return;
  process_ = load().process;
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);  // spawned ranks have a world of their own, with ranks from 0 on
  name_ = file_name(pattern,
                    std::to_string(rank) + (parent == MPI_COMM_NULL ? "" : "-spawned-" + std::to_string(process_)));
  const Result<int> file = open_output(name_, O_TRUNC);
  if (!file) return warn("SWAPMEET_RECORD=\"" + pattern + "\": cannot write " + name_ + ": " + file.problem().text());
  file_ = *file;
  opened_ = Clock::now();
  next_checkpoint_ = opened_;
  JsonMembers first = heading().add("rank", rank).add("ranks", ranks).add("mpi", mpi_version());
  add(first.add("algorithm", algorithm).add("first_call", since_load(opened_)));
  write();
}

RecordedCommunicator* Recorder::add(MPI_Comm comm, Rank ranks, bool inter, std::uint64_t number, bool shared) {
  const std::string groups = inter ? groups_of(comm) : "";
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Comm_get_name(comm, name, &length);
  const std::lock_guard lock(mutex_);
  if (file_ < 0) return nullptr;
  if (communicators_.size() == most_communicators) {
    if (!beyond_) {
      beyond_ = std::make_unique<RecordedCommunicator>();
      beyond_->index = -1;
    }
    return beyond_.get();
  }
  communicators_.push_back(std::make_unique<RecordedCommunicator>());
  RecordedCommunicator& added = *communicators_.back();
  added.index = static_cast<int>(communicators_.size()) - 1;
  added.ranks = ranks;
  const std::string id = inter ? groups + '.' + swapmeet::number(inter_identities_[groups]++)
                               : swapmeet::number(number >> 32) + '.' + swapmeet::number(number & UINT32_MAX);
  const auto member = [](int rank) { return Json{rank == MPI_UNDEFINED ? "null" : swapmeet::number(rank)}; };
  JsonMembers line = line_of("communicator").add("communicator", added.index).add("id", id).add("inter", inter);
  line.add("shared", shared).add("name", name).add("blocks", ranks);
  add(line.add("members", json_list(world_ranks_of(comm), ",", member)));
  return &added;
}

std::uint32_t Recorder::describe(const RecordedCommunicator& communicator, Collective collective, bool in_place,
                                 bool derived, const std::string& sizes) {
  const auto exchange = static_cast<std::uint32_t>(exchanges_.size());
  exchanges_.emplace_back();
  std::string name(name_of(collective));
  name.front() = static_cast<char>(std::tolower(name.front()));  // lower case in files
  JsonMembers line = line_of("exchange").add("exchange", exchange);
  line.add("communicator", Json{communicator.index < 0 ? "null" : number(communicator.index)});
  line.add("collective", name).add("in_place", in_place).add("derived", derived);
  add(line.add("bytes", Json{sizes}));
  return exchange;
}

std::uint32_t Recorder::exchange_of(RecordedCommunicator& communicator, Collective collective, bool in_place,
                                    bool derived, const Blocks& sent) {
  const Rank ranks = communicator.ranks;
  const auto kind = static_cast<std::uint64_t>(communicator.index) * 16 + static_cast<std::uint64_t>(collective) * 4 +
                    (in_place ? 2 : 0) + (derived ? 1 : 0);
  bool alike = true;
  // Two independent hashes of 64 bits make it negligible that two different exchanges count as one.
  Key key{mixed(kind + 1), mixed(~kind)};
  if (communicator.index >= 0 && !of_neighbours(collective)) {
    if (of_unequal_blocks(collective))
      for (Rank i = 1; i < ranks; ++i) alike = alike && sent.bytes(i) == sent.bytes(0);
    for (Rank i = 0; i < (alike ? std::min(ranks, 1) : ranks); ++i) {
      const auto bytes = static_cast<std::uint64_t>(sent.bytes(i));
      key.first = mixed(key.first + golden_gamma + bytes);
      key.second = mixed((key.second ^ bytes) * 0xd6e8feb86659fd93u + 1);
    }
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    const std::size_t sizes = alike ? 1 : static_cast<std::size_t>(ranks);
    if (known_.size() < most_exchanges && sizes_ + sizes <= most_sizes) {
      sizes_ += sizes;
      const std::uint32_t exchange =
          describe(communicator, collective, in_place, derived, json_sizes(sent, ranks, alike));
      known_.emplace(key, exchange);
      return exchange;
    }
  }
  int& undescribed = communicator.undescribed[static_cast<std::size_t>(collective)];
  if (undescribed < 0) undescribed = static_cast<int>(describe(communicator, collective, false, false, "null"));
  return static_cast<std::uint32_t>(undescribed);
}

RecordedCall Recorder::call_begins(RecordedCommunicator& communicator, Collective collective, bool in_place,
                                   bool derived, const Blocks& sent) {
  const std::lock_guard lock(mutex_);
  if (file_ < 0) return {};
  const std::uint32_t exchange = exchange_of(communicator, collective, in_place, derived, sent);
  return {&communicator, exchange, communicator.calls++, Clock::now()};
}

void Recorder::call_ends(const RecordedCall& call) {
  const Clock::time_point end = Clock::now();
  const std::chrono::nanoseconds time = end - call.begin;
  const std::lock_guard lock(mutex_);
  if (file_ < 0) return;
  Exchange& exchange = exchanges_[call.exchange];
  if (exchange.calls++ == 0) {
    exchange.first = call.number;
    exchange.shortest = exchange.longest = time;
  }
  exchange.last = call.number;
  exchange.total += time;
  exchange.shortest = std::min(exchange.shortest, time);
  exchange.longest = std::max(exchange.longest, time);
  exchange.changed = true;
  const std::uint64_t stands_for = weight(call.number);
  if (stands_for > 0 && call.communicator->index >= 0 && sampled_++ < most_samples)
    samples_.push_back({call.communicator->index,
                        {static_cast<std::int64_t>(call.number), call.exchange, since_load(call.begin),
                         nanoseconds(time), static_cast<std::int64_t>(stands_for)}});
  if (samples_.size() == most_line_samples) add_samples();
  if (end >= next_checkpoint_) checkpoint(end);
}

/// Writes the totals of the exchanges that have changed, and the time of the totals.
void Recorder::checkpoint(Clock::time_point now) {
  for (std::size_t i = 0; i < exchanges_.size(); ++i) {
    Exchange& exchange = exchanges_[i];
    if (!std::exchange(exchange.changed, false)) continue;
    JsonMembers line = line_of("total").add("exchange", i).add("calls", exchange.calls);
    line.add("nanoseconds", exchange.total.count()).add("shortest", exchange.shortest.count());
    add(line.add("longest", exchange.longest.count()).add("first", exchange.first).add("last", exchange.last));
  }
  add(line_of("until").add("nanoseconds", since_load(now)));
  write();
  const auto interval = std::clamp<Clock::duration>((now - opened_) / interval_part, least_interval, longest_interval);
  next_checkpoint_ = Clock::now() + interval;
}

void Recorder::add(const JsonMembers& line) {
  text_ += line.object().text + '\n';
  if (text_.size() > most_text_bytes) write();
}

void Recorder::add_samples() {
  std::vector<Sample> samples;
  samples.swap(samples_);
  for (std::size_t begin = 0, end = 0; begin < samples.size(); begin = end) {
    std::vector<Json> rows;  // of one communicator
    for (; end < samples.size() && samples[end].communicator == samples[begin].communicator; ++end)
      rows.push_back(json_list(samples[end].row, ","));
    add(line_of("calls").add("communicator", samples[begin].communicator).add("calls", json_list(rows, ",")));
  }
}

void Recorder::write() {
  add_samples();
  const std::string problem = file_ >= 0 && getpid() == process_ ? write_all(file_, text_) : "";
  if (!problem.empty()) {
    warn("SWAPMEET_RECORD: cannot write " + name_ + ": " + problem + "; what follows is not recorded");
    ::close(file_);
    file_ = -1;
  }
  text_.clear();
}

void Recorder::close(const char* ended) {
  const std::unique_lock lock(mutex_, std::chrono::milliseconds(100));
  if (!lock || file_ < 0 || getpid() != process_) return;
  checkpoint(Clock::now());
  add(end_of(ended));
  write();
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void Recorder::leave_unused(const std::string& pattern) {
  int initialised = 0;
  if (find_mpi()) PMPI_Initialized(&initialised);
  if (!initialised || getpid() != load().process) return;
  const Result<int> file = open_output(file_name(pattern, "unused-" + std::to_string(load().process)), O_TRUNC);
  if (!file) return;
  const JsonMembers first = heading().add("rank", Json{"null"}).add("ranks", Json{"null"}).add("mpi", mpi_version());
  write_all(*file, first.object().text + '\n' + end_of("exit").object().text + '\n');
  ::close(*file);
}

}  // namespace swapmeet
