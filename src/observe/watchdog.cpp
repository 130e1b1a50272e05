#include "observe/watchdog.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "mpi/report.hpp"
#include "mpi/thread.hpp"
#include "observe/json.hpp"
#include "observe/statistics.hpp"
#include "schedule/kernel_file.hpp"
#include "schedule/names.hpp"
#include "schedule/output_file.hpp"
#include "schedule/text_hash.hpp"

namespace swapmeet {

namespace {

constexpr std::chrono::duration<double> longest_pause{1}, least_pause{0.02};
constexpr double looks_each_limit = 10;

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// Returns the state of a process as in /proc/PID/stat, where it follows the name of the program, which may contain any
/// character; 'X' if there is no such process.
char state_of(int process) {
  const std::string text = first_line_of_kernel_file("/proc/" + std::to_string(process) + "/stat");
  if (text.empty()) return 'X';
  const std::size_t mark = text.rfind(')');
  return mark == text.npos || mark + 2 >= text.size() ? '?' : text[mark + 2];
}

/// Reads `bytes` bytes at `address` of another process.
bool read_process(const NodeRecord& process, std::uint64_t address, void* to, std::size_t bytes) {
  const RemotePiece from{address, bytes};
  const Piece piece{static_cast<char*>(to), bytes};
  return read_from(static_cast<pid_t>(process.process), {&from, 1}, {&piece, 1});
}

/// Reads the posts of another process that are in use. Returns false if they cannot be read.
bool read_board(const NodeRecord& process, OtherRank& other) {
  ProcessIdentity known{};
  if (!read_process(process, process.address, &known, sizeof known)) return false;
  if (known.value != process.value || known.board == 0) return false;
  const auto board = std::make_unique<BoardCopy>();
  if (!read_process(process, known.board, board.get(), sizeof *board)) return false;
  other.finalizes = board->finalizes != 0;
  for (const PostCopy& post : board->posts)
    if (post.party != 0) other.posts.push_back(post);
  return true;
}

/// Returns each line as a JSON string.
std::string json_lines(const std::string& text) {
  std::string json;
  for (std::size_t begin = 0, end = 0; end != text.npos; begin = end + 1) {
    end = text.find('\n', begin);
    json += (begin == 0 ? "" : ", ") + json_text(std::string_view(text).substr(begin, end - begin));
  }
  return json;
}

/// Returns the number of a communicator that all its ranks share, and its number in this process. The latter exists
/// before the communicator is set up; blocking and non-blocking calls have one each.
std::string communicator_json(std::int64_t number, std::int64_t party) {
  return "\"communicator\": " + std::to_string(number) + ", \"local_communicator\": " + std::to_string(party);
}

std::int64_t hash_of(const Party& party) {
  TextHash hash;
  hash.add(std::to_string(party.ranks));
  for (const int rank : party.world_ranks) hash.add(' ' + std::to_string(rank));
  return static_cast<std::int64_t>(hash.value() >> 1);
}

std::int64_t hash_of(const std::string& name) {
  TextHash hash;
  hash.add(name);
  return name.empty() ? 0 : static_cast<std::int64_t>(hash.value() >> 1);
}

/// Returns the kernel's number of the namespace of process numbers; 0: unknown.
std::uint64_t process_namespace() {
  struct stat of{};
  return stat("/proc/self/ns/pid", &of) == 0 ? of.st_ino : 0;
}

}  // namespace

std::string Watchdog::start(Setting setting) {
  setting_ = std::move(setting);
  process_ = getpid();
  board_ = std::make_unique<Board>();
  tracks_.resize(Board::most);
  file_ = setting_.file;
  const std::string rank = std::to_string(setting_.rank);
  for (std::size_t mark = file_.find("%r"); mark != file_.npos; mark = file_.find("%r", mark + rank.size()))
    file_.replace(mark, 2, rank);
  if (const int error = make_thread(thread_, [this] { return watch(), MPI_SUCCESS; })) {
    board_.reset();
    return std::string("no thread can be made: ") + std::strerror(error);
  }
  NodePeers::publish(board_.get());
  return "";
}

void Watchdog::finalizes() {
  if (on()) board_->finalizes.store(1, std::memory_order_relaxed);
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

Post* Watchdog::take(Party party) {
  if (!on()) return nullptr;
  const std::int64_t members = hash_of(party);
  const std::lock_guard lock(mutex_);
  for (Post& post : board_->posts) {
    if (Post::get(post.party) != 0) continue;
    Post::set(post.number, PostCopy::no_number);
    Post::set(post.members, members);
    Post::set(post.name, hash_of(party.name));
    Post::set(post.entered, 0);
    Post::set(post.left, 0);
    Post::set(post.background, party.background);
    post.does(Doing::nothing);
    parties_.emplace(++parties_made_, std::make_shared<const Party>(std::move(party)));
    Post::set(post.party, parties_made_);
    return &post;
  }
  if (!std::exchange(full_, true))
    warn("SWAPMEET_WATCHDOG watches " + std::to_string(Board::most) +
         " communicators of a rank at a time, and no more");
  return nullptr;
}

void Watchdog::give_back(Post* post) {
  // The state of a rank in MPI_Finalize remains readable for ranks that still wait.
  if (!post || board_->finalizes.load(std::memory_order_relaxed) != 0) return;
  const std::lock_guard lock(mutex_);
  parties_.erase(Post::get(post->party));
  Post::set(post->party, 0);
}

void Watchdog::knows_process(int world_rank, const NodeRecord& process) {
  if (!on() || world_rank < 0 || world_rank == setting_.rank) return;
  const std::lock_guard lock(mutex_);
  processes_[world_rank] = process;
}

void Watchdog::watch() {
  const std::chrono::duration<double> wanted{setting_.seconds / looks_each_limit};
  const auto interval = std::clamp(wanted, least_pause, longest_pause);
  write("\"event\": \"watches\", \"ranks\": " + std::to_string(setting_.ranks) +
        ", \"host\": " + json_text(host_name()) + ", \"process_namespace\": " + std::to_string(process_namespace()) +
        ", \"threads\": " + (setting_.threads ? "true" : "false") +
        ", \"seconds\": " + short_text(setting_.seconds, 6));
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
  write("\"event\": \"ends\"");
}

/// Copies a post word by word, since the calling thread may be writing to it.
PostCopy Watchdog::read(const Post& post) const {
  constexpr std::size_t words = sizeof(PostWords<Plain>) / sizeof(std::int64_t);
  std::int64_t values[words];
  const auto* const from = reinterpret_cast<const std::atomic<std::int64_t>*>(&post);
  for (std::size_t i = 0; i < words; ++i) values[i] = from[i].load(std::memory_order_relaxed);
  PostCopy seen;
  std::memcpy(&seen, values, sizeof values);
  return seen;
}

void Watchdog::look(std::chrono::duration<double> passed) {
  bool in_call = false;
  std::int64_t moves = 0;
  for (std::size_t i = 0; i < Board::most; ++i) {
    const PostCopy seen = read(board_->posts[i]);
    Track& track = tracks_[i];
    moves += seen.moves;
    const bool busy = seen.party != 0 && seen.does() != Doing::nothing;
    in_call |= busy;
    if (seen.party != track.party || seen.moves != track.moves || !busy) {
      if (track.reported)
        tell("watchdog: rank " + std::to_string(setting_.rank) + " goes on",
             "\"event\": \"goes on\", " + communicator_json(track.number, track.party));
      track = {seen.party, seen.moves};
      continue;
    }
    if (seen.background != 0 && std::exchange(track.looks, seen.looks) == seen.looks) continue;
    track.still += passed;
    if (track.reported || track.still.count() < setting_.seconds) continue;
    track.reported = true;
    track.number = seen.number;
    report(seen, track.still.count());
  }
  if (in_call || moves != moves_of_all_) no_call_ = {}, no_call_reported_ = false;
  else no_call_ += passed;
  moves_of_all_ = moves;
  if (no_call_.count() < setting_.seconds || no_call_reported_) return;
  no_call_reported_ = true;
  report_no_call();
}

std::shared_ptr<const Party> Watchdog::party_of(const PostCopy& seen) {
  const std::lock_guard lock(mutex_);
  const auto found = parties_.find(seen.party);
  return found == parties_.end() ? nullptr : found->second;
}

void Watchdog::report(const PostCopy& seen, double seconds) {
  const std::shared_ptr<const Party> party = party_of(seen);
  if (!party) return;  // it has just been freed
  const auto* const tally = reinterpret_cast<const Tally*>(static_cast<std::uintptr_t>(seen.tally));
  const auto name_of = [this](std::int64_t number) -> std::string {
    for (const Post& post : board_->posts)
      if (Post::get(post.number) == number)
        if (const std::shared_ptr<const Party> named = party_of(read(post))) return named->name;
    return "";
  };
  std::vector<std::int64_t> numbers;
  for (const Post& post : board_->posts)
    if (Post::get(post.party) != 0) numbers.push_back(Post::get(post.number));
  std::erase(numbers, PostCopy::no_number);
  const Stall stall{setting_.rank,      seconds, *party, seen, tally ? tally->algorithm : "", neighbours_of(*party),
                    std::move(numbers), name_of};
  const std::string text = text_of(stall);
  tell("watchdog: " + text, "\"event\": \"waits\", " + communicator_json(seen.number, seen.party) + ", " +
                                json_of(stall) + ", \"text\": [" + json_lines(text) + ']');
}

std::vector<OtherRank> Watchdog::neighbours_of(const Party& party) {
  std::vector<std::pair<Rank, NodeRecord>> known;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t rank = 0; rank < party.world_ranks.size(); ++rank)
      if (const auto found = processes_.find(party.world_ranks[rank]); found != processes_.end())
        known.emplace_back(static_cast<Rank>(rank), found->second);
  }
  std::vector<OtherRank> all;
  for (const auto& [rank, process] : known) {
    OtherRank& other = all.emplace_back(OtherRank{rank, static_cast<int>(process.process), '?'});
    other.state = state_of(other.process);
    other.read = other.state != 'X' && other.state != 'Z' && read_board(process, other);
  }
  return all;
}

/// Reports to the file only that this rank is in no call: it may be computing, but other ranks may wait for it.
void Watchdog::report_no_call() {
  std::string all;
  for (const Post& post : board_->posts) {
    const PostCopy seen = read(post);
    const std::shared_ptr<const Party> party = seen.party != 0 ? party_of(seen) : nullptr;
    if (!party) continue;
    all += all.empty() ? "" : ", ";
    all += "{\"communicator\": " + std::to_string(seen.number) + ", " + json_of(*party) +
           ", \"calls\": " + std::to_string(seen.left) + '}';
  }
  const bool finalizes = board_->finalizes.load(std::memory_order_relaxed) != 0;
  write("\"event\": \"no call\", \"seconds\": " + fixed_text(no_call_.count(), 1) +
        ", \"finalizes\": " + (finalizes ? "true" : "false") + ", \"communicators\": [" + all + ']');
}

void Watchdog::tell(const std::string& text, const std::string& record) { file_.empty() ? say(text) : write(record); }

void Watchdog::write(const std::string& record) {
  if (file_.empty() || file_failed_) return;
  const std::string line = "{\"swapmeet_watchdog\": 1, \"rank\": " + std::to_string(setting_.rank) +
                           ", \"process\": " + std::to_string(process_) + ", " + record + "}\n";
  const Result<int> file = open_output(file_, O_APPEND);
  const std::string problem = file ? write_all(*file, line) : file.problem().text();
  file_failed_ = !problem.empty();
  if (file_failed_) warn("SWAPMEET_WATCHDOG: cannot write " + file_ + ": " + problem);
  if (file) close(*file);
}

}  // namespace swapmeet
