#include "observe/watchdog.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "mpi/report.hpp"
#include "mpi/thread.hpp"
#include "observe/json.hpp"
#include "observe/process.hpp"
#include "observe/statistics.hpp"
#include "schedule/kernel_file.hpp"
#include "schedule/names.hpp"
#include "schedule/text_hash.hpp"

namespace swapmeet {

namespace {

constexpr std::chrono::duration<double> longest_pause{1}, least_pause{0.02};
constexpr double looks_each_limit = 10;

/// Returns a function that reads the memory of another process.
ReadMemory reader_of(const NodeRecord& process) {
  return [pid = static_cast<pid_t>(process.process)](std::uint64_t address, void* to, std::size_t bytes) {
    const RemotePiece from{address, bytes};
    const Piece piece{static_cast<char*>(to), bytes};
    return read_from(pid, {&from, 1}, {&piece, 1});
  };
}

/// Reads the call states of another process that are in use. Returns false if they cannot be read.
bool read_call_states(const NodeRecord& process, OtherRank& other) {
  const ReadMemory read = reader_of(process);
  ProcessIdentity known{};
  if (!read(process.address, &known, sizeof known)) return false;
  if (known.value != process.value || known.board == 0) return false;
  const auto all = std::make_unique<CallStates>();
  if (!read(known.board, all.get(), sizeof *all)) return false;
  other.finalizes = all->finalizes != 0;
  for (std::size_t i = 0; i < CallStates::most; ++i)
    if (all->states[i].communicator != 0)
      if (CallStateCopy copy =
              copy_of_call_state(known.board + offsetof(CallStates, states) + i * sizeof(CallState), read);
          copy.communicator != 0)
        other.states.push_back(std::move(copy));
  return true;
}

/// Returns the beginning of the record of an `event` on a communicator: the number that all its ranks share, and its
/// number in this process. The latter exists before the communicator is set up; blocking and non-blocking calls have
/// one each.
JsonMembers event_of(const char* event, std::int64_t number, std::int64_t communicator) {
  return JsonMembers().add("event", event).add("communicator", number).add("local_communicator", communicator);
}

std::int64_t hash_of_members(const WatchedCommunicator& communicator) {
  TextHash hash;
  hash.add(std::to_string(communicator.ranks));
  for (const int rank : communicator.world_ranks) hash.add(' ' + std::to_string(rank));
  return static_cast<std::int64_t>(hash.value() >> 1);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines{""};
  for (const char c : text) c == '\n' ? void(lines.emplace_back()) : lines.back().push_back(c);
  return lines;
}

}  // namespace

std::string Watchdog::start(Setting setting) {
  setting_ = std::move(setting);
  process_ = getpid();
  published_ = std::make_unique<CallStates>();
  tracks_.resize(CallStates::most);
  file_ = with_rank(setting_.file, number(setting_.rank));
  if (const int error = make_thread(thread_, [this] { return watch(), MPI_SUCCESS; })) {
    published_.reset();
    return std::string("no thread can be made: ") + std::strerror(error);
  }
  NodePeers::publish(published_.get());
  return "";
}

void Watchdog::finalizes() {
  if (on()) CallState::set(published_->finalizes, 1);
}

void Watchdog::stop() {
  if (!thread_.joinable() || process_ != getpid()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wakes_.notify_one();
  thread_.join();
}

OwnCallState Watchdog::take(WatchedCommunicator communicator) {
  if (!on()) return nullptr;
  const std::int64_t members = hash_of_members(communicator);
  const std::lock_guard lock(mutex_);
  for (CallState& state : published_->states) {
    if (CallState::get(state.communicator) != 0) continue;
    if (const CallState::Word room = CallState::room_for(communicator.ranks); state.room < room) {
      const std::size_t entries = std::bit_ceil(static_cast<std::size_t>(room));
      const std::size_t words = entries * sizeof(CallEvent) / sizeof(CallState::Word);
      lists_.push_back(
          std::make_unique_for_overwrite<CallState::Word[]>(words));  // pages that are not used take no memory
      CallState::set(state.list, static_cast<CallState::Word>(reinterpret_cast<std::uintptr_t>(lists_.back().get())));
      CallState::set(state.room, static_cast<CallState::Word>(entries));
    }
    CallState::set(state.number, CallState::no_number);
    CallState::set(state.members, members);
    const std::string& name = communicator.name;
    CallState::set(state.name, name.empty() ? 0 : static_cast<CallState::Word>(hash_of(name) >> 1));
    CallState::set(state.entered, 0);
    CallState::set(state.background, communicator.background);
    state.call_ends();  // forgets the call in which an earlier communicator may have been freed
    communicators_.emplace(++communicators_made_, std::make_shared<const WatchedCommunicator>(std::move(communicator)));
    CallState::set(state.communicator, communicators_made_);
    return OwnCallState(&state, [this](CallState* given) { give_back(given); });
  }
  if (!std::exchange(full_, true))
    warn("SWAPMEET_WATCHDOG watches " + std::to_string(CallStates::most) +
         " communicators of a rank at a time, and no more");
  return nullptr;
}

void Watchdog::give_back(CallState* state) {
  // The state of a rank in MPI_Finalize remains readable for ranks that still wait.
  if (CallState::get(published_->finalizes) != 0) return;
  const std::lock_guard lock(mutex_);
  communicators_.erase(CallState::get(state->communicator));
  CallState::set(state->communicator, 0);
}

void Watchdog::knows_process(int world_rank, const NodeRecord& process) {
  if (!on() || world_rank < 0 || world_rank == setting_.rank) return;
  const std::lock_guard lock(mutex_);
  processes_[world_rank] = process;
}

void Watchdog::watch() {
  const std::chrono::duration<double> wanted{setting_.seconds / looks_each_limit};
  const auto interval = std::clamp(wanted, least_pause, longest_pause);
  JsonMembers begin;
  begin.add("event", "watches").add("ranks", setting_.ranks).add("host", host_name());
  begin.add("process_namespace", process_namespace()).add("threads", setting_.threads);
  write(begin.add("seconds", Json{short_text(setting_.seconds, 6)}));
  Clock::time_point last = Clock::now();
  std::unique_lock lock(mutex_);
  while (!wakes_.wait_for(lock, interval, [this] { return ends_; })) {
    lock.unlock();
    const Clock::time_point now = Clock::now();
    // A process that was stopped, or a machine that slept, has not waited.
    look(std::min<std::chrono::duration<double>>(now - std::exchange(last, now), 2 * interval));
    lock.lock();
  }
  lock.unlock();
  look({});
  write(JsonMembers().add("event", "ends"));
}

void Watchdog::look(std::chrono::duration<double> passed) {
  bool in_call = false;
  std::int64_t moves = 0;
  for (std::size_t i = 0; i < CallStates::most; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(&published_->states[i]);
    CallState seen;
    read_here(address, &seen, sizeof seen);
    Track& track = tracks_[i];
    moves += seen.moves;
    const bool busy = seen.communicator != 0 && seen.does() != Doing::nothing;
    in_call |= busy;
    if (seen.communicator != track.communicator || seen.moves != track.moves || !busy) {
      if (track.reported)
        tell("rank " + number(setting_.rank) + " goes on", event_of("goes on", track.number, track.communicator));
      track = {seen.communicator, seen.moves};
      continue;
    }
    if (seen.background != 0 && std::exchange(track.looks, seen.looks) == seen.looks) continue;
    track.still += passed;
    if (track.reported || track.still.count() < setting_.seconds) continue;
    const CallStateCopy all = copy_of_call_state(address, read_here);
    if (all.moves != seen.moves) continue;
    track.reported = true;
    track.number = seen.number;
    report(all, track.still.count());
  }
  if (in_call || moves != moves_of_all_) no_call_ = {}, no_call_reported_ = false;
  else no_call_ += passed;
  moves_of_all_ = moves;
  if (no_call_.count() < setting_.seconds || no_call_reported_) return;
  no_call_reported_ = true;
  report_no_call();
}

std::shared_ptr<const WatchedCommunicator> Watchdog::watched_communicator(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = communicators_.find(number);
  return found == communicators_.end() ? nullptr : found->second;
}

void Watchdog::report(const CallStateCopy& seen, double seconds) {
  const std::shared_ptr<const WatchedCommunicator> communicator = watched_communicator(seen.communicator);
  if (!communicator) return;  // it has just been freed
  const auto* const tally = reinterpret_cast<const Tally*>(static_cast<std::uintptr_t>(seen.tally));
  std::vector<NamedNumber> known;
  for (const CallState& state : published_->states)
    if (const auto named = watched_communicator(CallState::get(state.communicator)))
      if (const std::int64_t number = CallState::get(state.number); number != CallState::no_number)
        known.push_back({number, named->name});
  const Stall stall{
      setting_.rank,   seconds, *communicator, seen, tally ? tally->algorithm : "", node_peers_of(*communicator),
      std::move(known)};
  const std::string text = text_of(stall);
  tell(text,
       event_of("waits", seen.number, seen.communicator).add(json_of(stall)).add("text", json_list(lines_of(text))));
}

std::vector<OtherRank> Watchdog::node_peers_of(const WatchedCommunicator& communicator) {
  std::vector<std::pair<Rank, NodeRecord>> known;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t rank = 0; rank < communicator.world_ranks.size(); ++rank)
      if (const auto found = processes_.find(communicator.world_ranks[rank]); found != processes_.end())
        known.emplace_back(static_cast<Rank>(rank), found->second);
  }
  std::vector<OtherRank> all;
  for (const auto& [rank, process] : known) {
    OtherRank& other = all.emplace_back(OtherRank{rank, static_cast<int>(process.process), '?'});
    const std::string state = state_and_parent(other.process);
    other.process_state = state.empty() ? 'X' : state[0];
    other.read = other.process_state != 'X' && other.process_state != 'Z' && read_call_states(process, other);
  }
  return all;
}

/// Reports to the file only that this rank is in no call: it may be computing, but other ranks may wait for it.
void Watchdog::report_no_call() {
  std::vector<Json> communicators;
  for (const CallState& state : published_->states)
    if (const auto communicator = watched_communicator(CallState::get(state.communicator))) {
      JsonMembers one = JsonMembers().add("communicator", CallState::get(state.number)).add(json_of(*communicator));
      communicators.push_back(one.add("calls", CallState::get(state.left)).object());
    }
  JsonMembers record = JsonMembers().add("event", "no call").add("seconds", Json{fixed_text(no_call_.count(), 1)});
  record.add("finalizes", CallState::get(published_->finalizes) != 0).add("communicators", json_list(communicators));
  write(record);
}

void Watchdog::tell(const std::string& text, const JsonMembers& record) {
  file_.empty() ? say("watchdog: " + text) : write(record);
}

void Watchdog::write(const JsonMembers& record) {
  if (file_.empty() || file_failed_) return;
  JsonMembers line = JsonMembers().add("swapmeet_watchdog", 1).add("rank", setting_.rank).add("process", process_);
  const std::string problem = write_file(file_, O_APPEND, line.add(record).object().text + '\n');
  file_failed_ = !problem.empty();
  if (file_failed_) warn("SWAPMEET_WATCHDOG: cannot write " + file_ + ": " + problem);
}

}  // namespace swapmeet
