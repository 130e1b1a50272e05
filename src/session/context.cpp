#include "session/context.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <ranges>
#include <span>

#include "buffers/device.hpp"
#include "buffers/reserve.hpp"
#include "heap/heap.hpp"
#include "mpi/faults.hpp"
#include "mpi/guard.hpp"
#include "mpi/progress.hpp"
#include "mpi/slow_wait.hpp"
#include "mpi/report.hpp"
#include "mpi/simulation.hpp"
#include "observe/job_log.hpp"
#include "schedule/output_file.hpp"
#include "session/rank_records.hpp"
#include "session/communicator.hpp"
#include "mpi/progress.hpp"
#include "mpi/slow_wait.hpp"
#include "session/duplicates.hpp"
#include "session/left_calls.hpp"
#include "session/planned.hpp"

extern char** environ;

namespace swapmeet {

namespace {

constexpr heap::Functions heap_of_alloc_mem{heap::find, nullptr};

/// MADV_POPULATE_READ of Linux 5.14; madvise() fails without effect on earlier kernels.
constexpr int populate_read = 22;

/// The contexts by fibre. Each is made when it is first needed.
std::vector<std::unique_ptr<Context>>& contexts() {
  static auto* const all = new std::vector<std::unique_ptr<Context>>;  // never destroyed: callbacks may come late
  return *all;
}

/// Delete callback of the attribute: MPI calls it when the application frees a communicator with one of our objects.
int delete_communicator(MPI_Comm, int, void* attribute, void*) {
  return guarded([&]() -> int {
    context().end(static_cast<Communicator*>(attribute));
    return MPI_SUCCESS;
  });
}

/// Writes the statistics and closes the recording at the end, as far as memory allows.
void report(Context& all, const char* ended_by) {
  guarded([&] { return report_statistics(all), MPI_SUCCESS; });
  guarded([&] { return all.recorder.close(ended_by), MPI_SUCCESS; });
}

/// Writes the measurements of this run. One rank of the job does so, since all ranks in trials have the same
/// measurements.
void write_memory(Context& all) {
  if (all.reports.world_rank != 0 || all.process != getpid()) return;
  all.memory.write();
  warn_of_memory_store();
}

/// The hook of MPI_Finalize: a delete callback of an attribute of MPI_COMM_SELF. It is the last such callback if our
/// MPI_Init was called, which sets the attribute first. Communicators that still exist, among them MPI_COMM_WORLD, lose
/// our objects here. They do so in the same order on all ranks, even if threads have made these objects in different
/// orders.
int at_finalize(MPI_Comm, int, void*, void*) {
  for (void (*const ending)() : std::views::reverse(context().endings)) guarded([=] { return ending(), MPI_SUCCESS; });
  context().watchdog.finalizes();
  if (context().used) report(context(), "finalize");
  else guarded([] { return report_statistics(context()), MPI_SUCCESS; });
  std::vector<Communicator*> left;
  {
    Context& all = context();
    const std::lock_guard lock(all.mutex);
    left.swap(all.communicators);
    deaths.fetch_add(1, std::memory_order_release);  // Open MPI keeps the attributes of MPI_COMM_WORLD
  }
  std::ranges::sort(left, {}, [](const Communicator* one) { return one->members().number; });
  for (Communicator* const communicator : left) communicator->close();
  guarded([] { return write_memory(context()), MPI_SUCCESS; });
  context().job.end();
  for (MPI_Comm& one : context().alone_)
    if (one != MPI_COMM_NULL) PMPI_Comm_free(&one);
  return MPI_SUCCESS;
}

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  return {text, static_cast<std::size_t>(length)};
}

/// Maps the code of this library at once. Otherwise the kernel maps it page by page in the first calls.
void load_code() {
  const auto load = [](dl_phdr_info* info, std::size_t, void* own) {
    const auto address = reinterpret_cast<std::uintptr_t>(own);
    const auto holds = [&](const ElfW(Phdr) & part) {
      return part.p_type == PT_LOAD && address - info->dlpi_addr - part.p_vaddr < part.p_memsz;
    };
    const std::span parts(info->dlpi_phdr, info->dlpi_phnum);
    if (std::ranges::none_of(parts, holds)) return 0;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (const ElfW(Phdr) & part : parts) {
      if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
      const std::uintptr_t begin = (info->dlpi_addr + part.p_vaddr) / page * page;
      madvise(reinterpret_cast<void*>(begin), info->dlpi_addr + part.p_vaddr + part.p_memsz - begin, populate_read);
    }
    return 1;
  };
  if (!simulated) dl_iterate_phdr(load, reinterpret_cast<void*>(&load_code));
}

/// Throws an exception once, so that exceptions of the application can later pass through our functions. They come from
/// its error handlers and attribute callbacks, and libgcc unwinds them. For our frames libgcc asks the part of it that
/// is linked into this library. This part makes its tables at our first exception; before that it would end the program
/// (GCC 12).
void prepare_for_exceptions() {
  try {
    throw std::bad_alloc();
  } catch (const std::bad_alloc&) {}
}

/// Executes once what the first call of the process will do, so that tables and pages are made before it.
void rehearse(Context& all) {
  const Shape two{2};
  host_number();
  processors();
  device_in_use();
  tries(Collective::alltoall, two, all.options);
  const Spec spec = choose(Collective::alltoall, two, 0, Options{}, {true, true}).spec;
  to_text(spec);
  const Plan plan(spec, all.schedules.generate(spec, two, 0), nullptr, Tags(most_tag()));
  std::uint64_t number = 0;
  const RemotePiece from{reinterpret_cast<std::uintptr_t>(&two), sizeof number};
  const Piece to{reinterpret_cast<char*>(&number), sizeof number};
  read_from(getpid(), {&from, 1}, {&to, 1});
}

void make_alone(Context& all) {
  for (MPI_Comm& one : all.alone_) one = this_rank_alone();
  MPI_Comm& fatal = all.alone_[static_cast<std::size_t>(Context::Errors::fatal)];
  if (fatal != MPI_COMM_NULL) PMPI_Comm_set_errhandler(fatal, MPI_ERRORS_ARE_FATAL);
}

/// Finds the memory that node peers may read directly, as the options ask: that of MPI_Alloc_mem, and that of malloc.
void find_heaps(Context& all) {
  if (all.options.heap_block_bytes == 0 || simulated || all.world_ranks == 1) return;
  all.regions.add(heap_of_alloc_mem);
  if (!all.options.heap_of_malloc) return;
  const auto of_malloc = reinterpret_cast<const heap::Functions* (*)()>(dlsym(RTLD_DEFAULT, heap::functions_name));
  const char* const problem = of_malloc ? of_malloc()->problem() : "libswapmeet-heap.so is not preloaded";
  if (!problem) all.regions.add(*of_malloc());
  else if (all.reports.world_rank == 0)
    warn(std::string("SWAPMEET_HEAP: ") + problem + "; malloc gives ordinary memory");
}

void begin_to_watch(Context& all) {
  const std::string problem = all.watchdog.start({all.options.watchdog.seconds, all.options.watchdog.file,
                                                  all.reports.world_rank, all.world_ranks, has_several_threads()});
  if (!problem.empty()) warn("SWAPMEET_WATCHDOG: " + problem + "; nothing is watched");
}

void attach(Context& all) {
  all.process = getpid();
  all.begin = std::chrono::steady_clock::now();
  PMPI_Comm_rank(MPI_COMM_WORLD, &all.reports.world_rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &all.world_ranks);
  reserve_for(all.world_ranks);
  all.options = read_options(environ, all.world_ranks);
  all.mpi = mpi_signature(library_version());
  read_tuning_for(all.mpi, all.options);
  all.fingerprint = all.options.fingerprint();
  all.memory.begin(all.options, all.mpi, SWAPMEET_VERSION, !simulated);
  find_fault_tolerance();
  load_code();
  prepare_for_exceptions();
  rehearse(all);
  if (!simulated && all.world_ranks > 1) all.arenas.make(static_cast<std::size_t>(all.options.shm_limit_bytes));
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_communicator, &all.keyval, nullptr);
  begin_to_share();
  begin_to_leave_calls();
  int exit_keyval = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &exit_keyval, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, exit_keyval, nullptr);
  make_alone(all);
  find_heaps(all);
  if (all.options.watchdog.seconds > 0 && !simulated) begin_to_watch(all);
  all.attached.store(true, std::memory_order_release);
}

void begin(Context& all) {
  if (all.reports.world_rank == 0)
    for (const std::string& problem : all.options.problems) warn(problem);
  if (all.options.recording())
    all.recorder.open(all.options.record_file, all.reports.world_rank, all.world_ranks,
                      all.options.algorithm ? to_text(*all.options.algorithm) : "auto");
  all.used.store(true, std::memory_order_release);
}

/// Returns the file name with every %r replaced by the rank; "" if this rank writes no file.
std::string statistics_file(const Context& all) {
  std::string name = all.options.statistics_file;
  std::size_t mark = name.find("%r");
  if (mark == name.npos) return all.reports.world_rank == 0 ? name : "";
  for (; mark != name.npos; mark = name.find("%r", mark)) name.replace(mark, 2, std::to_string(all.reports.world_rank));
  return name;
}

void write_statistics(const Context& all) {
  const std::string name = statistics_file(all);
  if (name.empty()) return;
  const std::string text = all.statistics.json(all.reports.world_rank, all.world_ranks);
  const Result<std::FILE*> opened = open_output_stream(name);
  std::FILE* const file = opened ? *opened : nullptr;
  bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file && std::fclose(file) != 0) written = false;
  if (!written)
    warn("SWAPMEET_STATS=\"" + all.options.statistics_file + "\": cannot write " + name + ": " +
         (opened ? std::strerror(errno) : opened.problem().text()));
}

/// Appends a line for the job to the log. Only rank 0 does.
void append_to_log(const Context& all) {
  if (all.options.statistics_log.empty() || all.reports.world_rank != 0) return;
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - all.begin;
  const std::string more = job_members(SWAPMEET_VERSION, all.mpi, time.count());
  const std::string problem =
      append_to_job_log(all.options.statistics_log, all.statistics.json(all.reports.world_rank, all.world_ranks, more));
  if (!problem.empty()) warn("SWAPMEET_STATS_LOG=\"" + all.options.statistics_log + "\": cannot write it: " + problem);
}

/// Writes the output at exit, for applications that end without MPI_Finalize.
__attribute__((destructor)) void at_exit() {
  bool attached = false, used = false;
  for (const auto& one : contexts()) {
    if (!one) continue;
    guarded([&] { return one->watchdog.stop(), MPI_SUCCESS; });
    attached |= one->attached;
    if (!one->used) {
      if (one->attached) guarded([&] { return report_statistics(*one), MPI_SUCCESS; });
      continue;
    }
    report(*one, "exit");
    used = true;
  }
  if (used) return;
  guarded([&] {  // a process without an all-to-all leaves a recording that says so
    const Options options = attached ? context().options : read_options(environ, 1);
    if (options.recording()) Recorder::leave_unused(options.record_file);
    return MPI_SUCCESS;
  });
}

/// Whether this library may call the host MPI. If not (before MPI_Init, after MPI_Finalize, or with sessions only), all
/// calls are left to the host MPI.
bool can_call_host_mpi() {
  if (!find_mpi()) return false;
  int initialised = 0, finalised = 0;
  PMPI_Initialized(&initialised);
  PMPI_Finalized(&finalised);
  return initialised && !finalised;
}

/// Returns what is_communicator() returns. To be called between MPI_Init and MPI_Finalize.
bool is_valid(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return false;
  if constexpr (simulated) return true;
#if defined(OMPI_MAJOR_VERSION)
  return PMPI_Comm_c2f(comm) >= 0;  // negative for the communicators that MPI calls refuse
#else
  if (!host_is_mpich) return true;
  int result = MPI_UNEQUAL;  // MPICH raises an error of the second communicator on the first one
  return PMPI_Comm_compare(context().alone(), comm, &result) == MPI_SUCCESS;
#endif
}

/// The result of kept_for() for a valid communicator. Requires the attribute's key.
Communicator* attribute_of(MPI_Comm comm) {
  void* attribute = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, context().keyval, &attribute, &found) != MPI_SUCCESS || !found) return nullptr;
  return static_cast<Communicator*>(attribute);
}

/// Returns what communicator_of() and serving() do, without the cache of recent communicators.
Communicator* look_up(MPI_Comm comm, Context& all, SetUp set_up, bool shared, const FirstCall* first) {
  if (!can_call_host_mpi()) return nullptr;
  attach_to_mpi();
  if (!is_valid(comm)) return nullptr;
  if (Communicator* const known = attribute_of(comm)) return known;
  Communicator* const of_duplicates = shared_by_duplicates(comm);
  if (shared && of_duplicates) return of_duplicates;
  const bool shares = !all.job.facts().threaded && is_duplicate(comm);
  if (set_up == SetUp::after_first_calls && shares) set_up = SetUp::now;  // what it sets up serves all duplicates
  if (set_up == SetUp::after_first_calls && leaves_unobserved(comm, all.options)) return begin_to_serve(), nullptr;
  share_with_duplicates(comm);
  auto made = std::make_unique<Communicator>(comm, all.options, set_up, first);
  {
    const std::lock_guard lock(all.mutex);  // before MPI has its address, because push_back() may fail
    all.communicators.push_back(made.get());
  }
  Communicator* const kept = made.release();
  if (shared && share_with_duplicates(comm, *kept)) return kept;
  if (PMPI_Comm_set_attr(comm, all.keyval, kept) != MPI_SUCCESS) return all.end(kept), nullptr;
  // Caches still name the shared object, which has served `comm` so far.
  if (of_duplicates) deaths.fetch_add(1, std::memory_order_release);
  return kept;
}

Communicator* find_or_make(MPI_Comm comm, SetUp set_up, bool shared, const FirstCall* first = nullptr) {
  const std::uint64_t deaths_before = deaths.load(std::memory_order_acquire);
  Communicator* const communicator = look_up(comm, context(), set_up, shared, first);
  recent().note(comm, communicator, communicator ? nullptr : left_calls_of(comm), deaths_before);
  return communicator;
}

}  // namespace

Context::Context() : under_way(std::make_unique<UnderWay>()) {}

Context::~Context() = default;

void Context::end(Communicator* communicator) {
  {
    const std::lock_guard lock(mutex);
    std::erase(communicators, communicator);
    deaths.fetch_add(1, std::memory_order_release);
  }
  delete communicator;
}

Context& context() {
  if constexpr (simulated) {
    auto& all = contexts();
    const std::size_t mine = fibre();
    if (all.size() <= mine) all.resize(mine + 1);
    if (!all[mine]) all[mine] = std::make_unique<Context>();
    return *all[mine];
  } else {
    static Context* const only = contexts().emplace_back(std::make_unique<Context>()).get();
    return *only;
  }
}

void attach_to_mpi() {
  Context& all = context();
  if (all.attached.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(all.mutex);
  if (!all.attached) attach(all);
}

double patience_s() {
  const double wanted = context().options.watchdog.seconds;
  return wanted > 0 ? std::min(wanted, SlowWait::usual_limit_s) : SlowWait::usual_limit_s;
}

void at_end(void (*ending)()) {
  Context& all = context();
  const std::lock_guard lock(all.mutex);
  all.endings.push_back(ending);
}

void begin_to_serve() {
  attach_to_mpi();
  Context& all = context();
  if (all.used.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(all.mutex);
  if (!all.used) begin(all);
}

constinit thread_local Recent recent_of_thread{};

Communicator* communicator_of(MPI_Comm comm, SetUp set_up) {
  if (Communicator* const known = recent().find(comm); known && !known->shared()) return known;
  return find_or_make(comm, set_up, false);
}

Communicator* serving(MPI_Comm comm, const FirstCall* first) {
  if (Communicator* const known = recent().find(comm)) return known;
  if (LeftCalls* const left = recent().left_calls(comm); left && left->leaves()) return nullptr;
  return find_or_make(comm, SetUp::after_first_calls, true, first);
}

bool is_communicator(MPI_Comm comm) { return recent().find(comm) || (can_call_host_mpi() && is_valid(comm)); }

Communicator* kept_for(MPI_Comm comm) {
  if (!context().attached.load(std::memory_order_acquire) || !can_call_host_mpi()) return nullptr;
  return is_valid(comm) ? attribute_of(comm) : nullptr;
}

int raise(MPI_Comm comm, int error) {
  Communicator* const own = kept_for(comm);
  if (Communicator* const communicator = own ? own : shared_by_duplicates(comm)) error = communicator->failed(error);
  PMPI_Comm_call_errhandler(comm, error);
  return error;
}

Reports& reports() { return context().reports; }

Statistics& statistics() { return context().statistics; }

Recorder& recorder() { return context().recorder; }

void warn_of_memory_store() {
  const std::string problem = context().memory.take_problem();
  if (!problem.empty()) warn_once(problem);
}

void report_statistics(Context& all) {
  if (all.process != getpid()) return;  // a forked child, in which a missing thread may hold the mutex
  {
    const std::lock_guard lock(all.mutex);
    if (all.reported || !all.options.statistics) return;
    all.reported = true;
  }
  if (!all.options.statistics_file.empty()) write_statistics(all);
  append_to_log(all);
  if (!all.options.statistics_table || all.reports.world_rank != 0) return;
  const std::string whose = "rank 0 of " + std::to_string(all.world_ranks);
  say(all.statistics.empty() ? whose + " called no all-to-all" : "calls of " + whose + ":\n" + all.statistics.table());
}

}  // namespace swapmeet
