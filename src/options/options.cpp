#include "options/options.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "options/heap_setting.hpp"
#include "schedule/names.hpp"
#include "schedule/owned_file.hpp"
#include "schedule/text_hash.hpp"
#include "topology/node_map.hpp"

namespace swapmeet {

namespace {

constexpr std::string_view prefix = "SWAPMEET_";

std::string read_switch(std::string_view text, bool& value) {
  if (text == "0" || text == "1") return value = text == "1", "";
  return "must be 0 or 1";
}

std::string read_statistics(std::string_view text, Options& options) {
  if (text == "0" || text == "1") return read_switch(text, options.statistics_table);
  if (text.find('/') == text.npos && !text.ends_with(".json"))
    return "must be 0, 1, or a file name that ends in .json or holds a /";
  options.statistics_file = text;
  return "";
}

/// Reads an option whose value is 0 or a file of JSON lines.
std::string read_lines_file(std::string_view text, std::string& file) {
  if (text != "0" && text.find('/') == text.npos && !text.ends_with(".jsonl"))
    return "must be 0, or a file name that ends in .jsonl or holds a /";
  file = text == "0" ? "" : text;
  return "";
}

std::string read_trace(std::string_view text, Options& options) {
  constexpr std::string_view key = ",call=";
  if (text == "0") return options.trace = {}, "";
  Options::TracedCall traced;
  if (const std::size_t mark = text.rfind(key); mark != text.npos) {
    const std::string_view number = text.substr(mark + key.size());
    if (!read_number(number, 1, std::numeric_limits<decltype(traced.call)>::max(), traced.call))
      return "the number of the call must be 1 or more (column " + std::to_string(mark + key.size() + 1) + ")";
    text = text.substr(0, mark);
  }
  if (text.find('/') == text.npos && !text.ends_with(".json"))
    return "must be 0, or a file name that ends in .json or holds a /; then, perhaps, a call, such as ,call=100";
  traced.file = text;
  options.trace = std::move(traced);
  return "";
}

std::string read_watchdog(std::string_view text, Options& options) {
  const std::size_t comma = text.find(',');
  std::string_view time = text.substr(0, comma);
  if (time.ends_with('s')) time.remove_suffix(1);
  double seconds = 0;
  if (!read_number(time, 0, 1e6, seconds)) return "must be seconds, such as 60s or 0.5s; then, perhaps, a file name";
  if (comma != text.npos && text.find('/', comma) == text.npos && !text.ends_with(".jsonl"))
    return "the file name must end in .jsonl or hold a / (column " + std::to_string(comma + 2) + ")";
  options.watchdog.seconds = seconds;
  options.watchdog.file = comma == text.npos ? "" : text.substr(comma + 1);
  return "";
}

std::string read_limit(std::string_view text, std::int64_t& bytes) {
  if (read_bytes(text, std::int64_t{1} << 50, bytes)) return "";
  return "must be bytes, such as 65536, 64KiB or 2GiB";
}

std::string read_request_limit(std::string_view text, Options& options) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  return read_number(text, 2, most, options.request_limit) ? "" : "must be a number from 2 on, such as 4096";
}

std::string read_gathered(std::string_view text, Options& options) {
  constexpr Rank most = std::numeric_limits<Rank>::max();
  const std::size_t comma = text.find(',');
  Options::Gathered gathered;
  if (!read_number(text.substr(0, comma), 0, most, gathered.ranks)) return "must be a number of ranks, such as 512";
  if (comma != text.npos && !read_number(text.substr(comma + 1), 0, most, gathered.with_blocks))
    return "the second number must be one of ranks, such as 64 (column " + std::to_string(comma + 2) + ")";
  options.gathered = gathered;
  return "";
}

std::string read_first_calls(std::string_view text, Options& options) {
  int calls = 0;
  const bool automatic = text == "auto";
  if (!automatic && !read_number(text, 0, std::numeric_limits<int>::max(), calls))
    return "must be auto, or a number of calls, such as 0";
  options.first_calls = automatic ? std::nullopt : std::optional(calls);
  return "";
}

std::string read_nodes(std::string_view text, Options& options) {
  options.nodes = text == "mpi" ? "" : text;
  options.hierarchy = parse_node_map(options.nodes, options.world_ranks);
  return options.hierarchy ? "" : options.hierarchy.problem().text();
}

std::string read_trials(std::string_view text, Options& options) {
  double percent = 0;
  if (!read_number(text, 0, 1e6, percent)) return "must be a percentage, such as 1 or 0.5";
  options.trials_share = percent / 100;
  return "";
}

std::string read_memory(std::string_view text, Options& options) {
  if (text == "auto") return options.memory.clear(), "";
  if (text != "off" && text != "read" && text.find('/') == text.npos && !text.ends_with(".memory"))
    return "must be auto, off, read, or a file name that ends in .memory or holds a /";
  options.memory = text;
  return "";
}

std::string read_device(std::string_view text, Options& options) {
  if (text != "native" && text != "host") return "must be native or host";
  options.devices_through_host = text == "host";
  return "";
}

std::string read_heap(std::string_view text, Options& options) {
  const std::size_t bytes = least_block_bytes(std::string(text).c_str());
  if (bytes == SIZE_MAX && text != "0" && text != "mpi")
    return "must be 0, 1, mpi, or bytes from 4096 on, such as 65536 or 1MiB";
  options.heap_of_malloc = bytes != SIZE_MAX;
  options.heap_block_bytes = text == "0" ? 0
                             : text == "mpi"
                                 ? alloc_mem_block_bytes
                                 : std::min<std::int64_t>(static_cast<std::int64_t>(bytes), alloc_mem_block_bytes);
  return "";
}

std::string read_nonblocking(std::string_view text, Options& options) {
  using Nonblocking = Options::Nonblocking;
  if (text != "auto" && text != "native" && text != "thread") return "must be auto, native or thread";
  options.nonblocking = text == "auto"     ? Nonblocking::in_progress
                        : text == "thread" ? Nonblocking::threads
                                           : Nonblocking::host;
  return "";
}

std::vector<Option> make_table() {
  return {
      {"SWAPMEET_ALGORITHM", "auto, or a spec such as pairwise or direct(order=random,window=8)", "auto",
       "The algorithm of every all-to-all. A spec that cannot serve a communicator leaves it to the host MPI.",
       "using the host MPI", read_algorithm},
      {"SWAPMEET_NODES",
       "mpi, or ranks of each node, such as 8 or 4+2 (the last is repeated), cyclic:3, or each rank's node, such as "
       "0,1,0,2; or several such levels, the innermost first, such as 2/8 (ranks of each socket, ranks of each node)",
       "mpi",
       "Which ranks of MPI_COMM_WORLD share a node; mpi: those that share memory. Algorithms with dims=nodes have a "
       "dimension more for each level; a node for shared memory (intra=, and the automatic choice) and for leaders is "
       "a group of the innermost level.",
       "using the host MPI for algorithms that need nodes", read_nodes},
      {"SWAPMEET_PRELOAD", "0 or 1", "1",
       "Of a site that preloads the file for every MPI (docs/howto/site.md): whether that loads the library for the "
       "MPI "
       "of the process. 0: it loads nothing, and all calls go to the MPI. A library that is preloaded by itself does "
       "not "
       "look at this.",
       "loading it",
       [](std::string_view text, Options&) {
         bool looked_at_by_the_front = true;
         return read_switch(text, looked_at_by_the_front);
       }},
      {"SWAPMEET_LIBRARY", "a libswapmeet.so, or the folder or prefix with one", "the installed one, or built",
       "Which library the commands of `swapmeet` preload (docs/howto/packages.md); modules and packages set it. For an "
       "MPI of another ABI they build one. The library itself ignores it.",
       "ignoring it", [](std::string_view, Options&) { return std::string(); }},
      {"SWAPMEET_EXPLAIN", "0 or 1", "0",
       "Print to standard error, once for each kind of call, which algorithm runs and why.", "not explaining",
       [](std::string_view text, Options& options) { return read_switch(text, options.explain); }},
      {"SWAPMEET_STATS", "0, 1, or a file name", "0",
       "Count calls, bytes, sizes and time. 1: rank 0 prints a table at exit; a file name: it is written as JSON "
       "instead (a %r in it is replaced by the rank, and then every rank writes its own).",
       "no statistics", read_statistics},
      {"SWAPMEET_STATS_LOG", "0, or a file name", "0",
       "Append the same statistics of rank 0 to this file when the job ends, as one line of JSON with the time, the "
       "program and the job's number (docs/statistics.md). A file that has reached 16 MiB is renamed to FILE.1, "
       "which replaces an older one. For sites (docs/howto/site.md).",
       "no log", [](std::string_view text, Options& options) { return read_lines_file(text, options.statistics_log); }},
      {"SWAPMEET_RECORD", "0, or a file or folder", "0",
       "Write down which all-to-alls are called, with their sizes and times, for `swapmeet profile --from`: each rank "
       "a file, its rank in place of a %r in the name, or at the end; or a folder. Set it for all ranks or for none.",
       "not recording",
       [](std::string_view text, Options& options) { return read_lines_file(text, options.record_file); }},
      {"SWAPMEET_PHASES", "0 or 1", "0",
       "Measure how long each call packs, waits and so on, for SWAPMEET_STATS (phases: "
       "docs/traces.md).",
       "not measuring phases",
       [](std::string_view text, Options& options) { return read_switch(text, options.phases); }},
      {"SWAPMEET_TRACE", "0, or a file name, then perhaps the number of a call, such as trace.json,call=100", "0",
       "Trace one all-to-all on all its ranks into a file for https://ui.perfetto.dev (docs/traces.md): the first, or "
       "that of the number given, of its communicator; of the communicator with rank 0 of MPI_COMM_WORLD in it that "
       "gets so far first. Set it for all ranks.",
       "not tracing", read_trace},
      {"SWAPMEET_CHECK", "0 or 1", "0",
       "Before each blocking all-to-all, also of neighbours, compare the arguments of all ranks: the same call, as "
       "many bytes received as sent, the same predefined types, blocks that do not overlap. A mistake is reported "
       "once, with ranks and numbers, and is an error of the call on all ranks (docs/howto/mistakes.md). Slow: for "
       "debugging.",
       "not checking", [](std::string_view text, Options& options) { return read_switch(text, options.check); }},
      {"SWAPMEET_WATCHDOG", "seconds, such as 60s, then perhaps a file name, such as 60s,waits-%r.jsonl; 0: off", "0",
       "Report an all-to-all in which nothing moves on a rank for this long, once: what it waits for, and what the "
       "other ranks of its node do (docs/howto/hangs.md). By a thread of each process, which touches no exchange. To "
       "standard error, or as JSON lines to the file (a %r in it is replaced by the rank). `swapmeet run --watchdog` "
       "makes one page of the reports of all ranks.",
       "not watching", read_watchdog},
      {"SWAPMEET_TUNING_FILE", "a file name, or none", "the usual places",
       "A tuning file, as `swapmeet tune` writes it: what was fastest on this machine (docs/tuning.md). Without it: "
       "swapmeet/openmpi.tuning (mpich, intel) in $XDG_CONFIG_HOME, ~/.config, $XDG_CONFIG_DIRS or /etc/xdg. none: no "
       "file.",
       "trying the others",
       [](std::string_view text, Options& options) { return options.tuning_file = text, std::string(); }},
      {"SWAPMEET_TRIALS", "a percentage, such as 1 or 0.5; 0: none", "1",
       "By the automatic choice, how much of the time of its all-to-alls a communicator may lose by trying other "
       "algorithms now and then, to use what turns out to be fastest here; between nodes, at first, four calls more at "
       "1 % (docs/tuning.md). Kinds of calls for which a tuning file has rules are not tried. 0: the same messages in "
       "each run.",
       "keeping 1", read_trials},
      {"SWAPMEET_MEMORY", "auto, off, read, or a file name", "auto",
       "What trials find on several nodes is written down at MPI_Finalize by the first rank, and the next run begins "
       "with it (docs/tuning.md). auto: in $XDG_STATE_HOME/swapmeet or ~/.local/state/swapmeet; what a site has in "
       "swapmeet in "
       "$XDG_CONFIG_DIRS or /etc/xdg is read, too; where SWAPMEET_TRIALS=0, nothing is read or written. read: these "
       "are read, and nothing is written; a file name: that file instead, for one machine and MPI; off: nothing is "
       "remembered.",
       "remembering as usual", read_memory},
      {"SWAPMEET_ORDER_TIME", "seconds, such as 2 or 0.5", "2",
       "How long commands that need an order=topology(...) of a network may improve a conflict-free order that is not "
       "cached (docs/networks.md). 0: as it comes first. The library itself ignores it.",
       "keeping 2",
       [](std::string_view text, Options&) {
         double read_by_commands = 0;
         return std::string(read_number(text, 0, 1e6, read_by_commands) ? "" : "must be seconds, such as 2 or 0.5");
       }},
      {"SWAPMEET_SCRATCH_LIMIT", "bytes, such as 65536 or 512MiB", "1GiB",
       "Calls that would need more working memory a rank than this go to the host MPI. An Alltoall counts both "
       "sides, which may be staged, and its scratch blocks: 2 P + scratch blocks of `swapmeet show`, unless it sends "
       "all blocks from where they lie. An Alltoallv with direct= sends smaller blocks directly instead. (What derived "
       "types and in place take of an Alltoallv is not limited: "
       "as much as the rank exchanges.)",
       "keeping 1GiB",
       [](std::string_view text, Options& options) { return read_limit(text, options.scratch_limit_bytes); }},
      {"SWAPMEET_SHM_LIMIT", "bytes, such as 65536 or 64MiB", "64MiB",
       "Shared memory that the ranks of a node use together at most, for all communicators; what programs allocate by "
       "swapmeet_memory_allocate is not counted. A communicator takes at most half of the rest. One that gets too "
       "little goes without; 0: all do.",
       "keeping 64MiB",
       [](std::string_view text, Options& options) { return read_limit(text, options.shm_limit_bytes); }},
      {"SWAPMEET_REQUEST_LIMIT", "a number from 2 on, such as 4096", "4096",
       "Sends and receives of a rank that may be outstanding at a time, by the certificate of the schedule "
       "(docs/proofs.md). An algorithm above it gets a narrower window, and a warning if you asked for it; where none "
       "is narrow enough, and among neighbours, calls go to the host MPI.",
       "keeping 4096", read_request_limit},
      {"SWAPMEET_UNEXPECTED_LIMIT", "bytes, such as 65536 or 128MiB", "128MiB",
       "Room that messages which arrive before their receives are posted may take at a rank, by the certificate of the "
       "schedule: 512 B and its data for each, at most 64 KiB (larger messages wait at their sender). An algorithm "
       "above "
       "it gets a narrower window, messages in batches, or messages that their receivers grant (post=granted), and a "
       "warning if you asked for it; where that is not enough, calls go to the host MPI.",
       "keeping 128MiB",
       [](std::string_view text, Options& options) { return read_limit(text, options.unexpected_limit_bytes); }},
      {"SWAPMEET_FIRST_CALLS", "auto, or a number of calls, such as 0", "auto",
       "Blocking calls of a communicator that are left to the host MPI before it is set up, for those that are made "
       "for "
       "few calls. auto: one of MPICH, eight of Open MPI (docs/tuning.md). Nothing is left on MPI_COMM_WORLD, on "
       "duplicates "
       "that share what is set up, and where an algorithm is set. All ranks must have the same value.",
       "keeping auto", read_first_calls},
      {"SWAPMEET_GATHERED_RANKS", "a number of ranks, then perhaps another one, such as 512,64", "512,64",
       "For tests of Swapmeet. When a communicator of at most so many ranks is set up, each of its ranks learns the "
       "parameters of all others. In communicators of at most as many ranks as the second number says, that exchange "
       "carries small blocks of the first call. All ranks must have the same value.",
       "keeping 512,64", read_gathered},
      {"SWAPMEET_HEAP", "0, mpi, 1, or bytes from 4096 on, such as 65536 or 1MiB", "0",
       "Whether programs get memory that the other ranks of the node can map, so that one plain copy moves a block "
       "(docs/howto/heap.md). mpi: by MPI_Alloc_mem, from 16 KiB on; 1: by malloc and its siblings, too, from 256 KiB "
       "on; bytes: from that size on. For malloc, `swapmeet run --heap` preloads libswapmeet-heap.so besides.",
       "using ordinary memory", read_heap},
      {"SWAPMEET_DEVICE", "native or host", "native",
       "What is done on a communicator one of whose ranks uses a device (CUDA, ROCm, Level Zero) when it is first "
       "seen. native: all goes to the host MPI, which may know what to do with the memory of devices; host: all "
       "is served, and what lies in such memory is brought to the host and back (docs/devices.md).",
       "keeping native", read_device},
      {"SWAPMEET_NONBLOCKING", "auto, native or thread", "auto",
       "What serves MPI_Ialltoall, MPI_Alltoall_init and their siblings. auto: we do, in the host MPI's own progress, "
       "where it calls others there (Open MPI, MPICH from 4.3 on), else the host MPI; native: the host MPI, for all "
       "ranks "
       "of a communicator if one asks for it; thread: as auto, and in programs that have MPI_THREAD_MULTIPLE a thread "
       "advances them as well while the program computes (docs/plans.md): for all ranks alike, before MPI_Init.",
       "keeping auto", read_nonblocking},
  };
}

std::string complaint(std::string_view name, std::string_view value, std::string_view problem,
                      std::string_view instead) {
  return std::string(name) + '=' + in_quotes(value, 120) + ": " + std::string(problem) + "; " + std::string(instead);
}

std::string unknown_option(std::string_view name, std::string_view value) {
  std::vector<std::string> names;
  for (const Option& option : option_table()) names.emplace_back(option.name.substr(prefix.size()));
  // without the prefix, which would make all names similar
  const std::string near = nearest(name.substr(prefix.size()), names);
  const bool plain = std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
  return complaint(plain ? std::string(name) : in_quotes(name, 120), value,
                   "no such option" + (near.empty() ? "" : "; did you mean " + std::string(prefix) + near + "?"),
                   "ignoring it (`swapmeet options` lists them)");
}

}  // namespace

std::string read_algorithm(std::string_view text, Options& options) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text == "auto") return options.algorithm.reset(), "";
  const Result<Spec> spec = parse_spec(text);
  options.algorithm = spec ? *spec : Spec{};  // the host MPI if the text is malformed
  return spec ? "" : spec.problem().text();
}

const std::vector<Option>& option_table() {
  static const std::vector<Option> table = make_table();
  return table;
}

std::vector<Options::Shared> Options::shared() const {
  std::string wrong;  // a problem of one rank alone must be reported, too
  for (const std::string& problem : problems) wrong += problem + '\n';
  return {
      {"", std::move(wrong)},
      {"SWAPMEET_ALGORITHM", algorithm ? to_text(*algorithm) : "auto"},
      {"SWAPMEET_NODES", !hierarchy      ? "unusable"
                         : nodes.empty() ? "mpi"
                                         : nodes},
      {"SWAPMEET_SCRATCH_LIMIT", std::to_string(scratch_limit_bytes)},
      {"SWAPMEET_SHM_LIMIT", std::to_string(shm_limit_bytes)},
      {"SWAPMEET_REQUEST_LIMIT", std::to_string(request_limit)},
      {"SWAPMEET_UNEXPECTED_LIMIT", std::to_string(unexpected_limit_bytes)},
      {"SWAPMEET_GATHERED_RANKS", std::to_string(gathered.ranks) + ',' + std::to_string(gathered.with_blocks)},
      {"SWAPMEET_FIRST_CALLS", first_calls ? std::to_string(*first_calls) : "auto"},
      {"SWAPMEET_TRIALS", short_text(100 * trials_share, 6)},
      {"SWAPMEET_DEVICE", devices_through_host ? "host" : "native"},
      {"SWAPMEET_CHECK", check ? "1" : "0"},
      {"SWAPMEET_RECORD", recording() ? "a file" : "0"},  // these two options need all ranks
      {"SWAPMEET_TRACE", trace.file.empty() ? "0" : "a file, call " + std::to_string(trace.call)},
      {"SWAPMEET_TUNING_FILE",
       tuning.evidence.empty() ? "none" : "rules with hash " + std::to_string(tuning.fingerprint())},
  };
}

std::uint64_t Options::fingerprint() const {
  TextHash hash;
  for (const Shared& one : shared()) hash.add(one.text + '\xff');
  return hash.value();
}

Options read_options(const char* const* environment, Rank world_ranks) {
  Options options;
  options.world_ranks = world_ranks;
  if (has_elevated_rights()) return options;
  for (; environment && *environment; ++environment) {
    const std::string_view entry(*environment);
    if (!entry.starts_with(prefix)) continue;
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos) continue;
    const std::string_view name = entry.substr(0, equals), value = entry.substr(equals + 1);
    const auto option = std::ranges::find(option_table(), name, &Option::name);
    if (option == option_table().end()) {
      options.problems.push_back(unknown_option(name, value));
    } else if (!value.empty()) {  // an empty value counts as unset
      const std::string problem = option->read(value, options);
      if (!problem.empty()) options.problems.push_back(complaint(name, value, problem, option->fallback));
    }
  }
  options.statistics = options.statistics_table || !options.statistics_file.empty() || !options.statistics_log.empty();
  return options;
}

void read_tuning_for(const std::string& mpi, Options& options) {
  if (options.tuning_file == "none") return;
  options.tuning = find_tuning(options.tuning_file, mpi, options.problems);
}

}  // namespace swapmeet
