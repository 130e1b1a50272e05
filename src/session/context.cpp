#include "session/context.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <ranges>

#include "buffers/reserve.hpp"
#include "evidence/signatures.hpp"
#include "heap/heap.hpp"
#include "mpi/faults.hpp"
#include "mpi/guard.hpp"
#include "mpi/progress.hpp"
#include "mpi/slow_wait.hpp"
#include "mpi/report.hpp"
#include "mpi/simulation.hpp"
#include "node/oversubscription.hpp"
#include "observe/job_log.hpp"
#include "session/communicator.hpp"
#include "session/duplicates.hpp"
#include "session/lookup.hpp"
#include "session/under_way.hpp"
#include "session/warm_up.hpp"

extern char** environ;

namespace swapmeet {

namespace {

/// The contexts by fibre. Each is made when it is first needed.
std::vector<std::unique_ptr<Context>>& contexts() {
  static auto* const all = new std::vector<std::unique_ptr<Context>>;  // never destroyed: callbacks may come late
  return *all;
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
    forget_handles();  // Open MPI keeps the attributes of MPI_COMM_WORLD
  }
  std::ranges::sort(left, {}, [](const Communicator* one) { return one->members().number; });
  for (Communicator* const communicator : left) communicator->close();
  context().kept_states.take_all();
  guarded([] { return write_memory(context()), MPI_SUCCESS; });
  context().job.end();
  return MPI_SUCCESS;
}

/// Finds the memory that node peers may read directly, as the options ask: that of MPI_Alloc_mem, and that of malloc.
void find_heaps(Context& all) {
  if (all.options.heap_block_bytes == 0 || simulated || all.world_ranks == 1) return;
  all.regions.add(heap::functions);
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
  warm_up(all);
  if (!simulated && all.world_ranks > 1) all.arenas.make(static_cast<std::size_t>(all.options.shm_limit_bytes));
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_kept, &all.keyval, nullptr);
  begin_to_share();
  int exit_keyval = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &exit_keyval, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, exit_keyval, nullptr);
  if (host_is_mpich || simulated) all.job.make_alone();  // other MPIs may have to wait for what another thread makes
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

}  // namespace

void Context::end(Communicator* communicator) {
  {
    const std::lock_guard lock(mutex);
    std::erase(communicators, communicator);
    forget_handles();
  }
  std::unique_ptr<Communicator> state(communicator);
  if (!state->can_be_taken_over()) return;
  state->rest();
  const auto ranks = std::max<std::int64_t>(state->ranks(), std::min<std::int64_t>(world_ranks, processors()));
  kept_states.keep(std::move(state));
  // A quarter of the shared memory of a node remains for communicators of other ranks.
  while (4 * ranks * share_bytes > 3 * options.shm_limit_bytes && kept_states.drop_first()) {}
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

Reports& reports() { return context().reports; }

Statistics& statistics() { return context().statistics; }

Recorder& recorder() { return context().recorder; }

void warn_of_memory_store() {
  const std::string problem = context().memory.take_problem();
  if (!problem.empty()) warn_once(problem);
}

void report_statistics(Context& all) {
  if (all.process != getpid()) return;  // a forked child, in which a missing thread may hold the mutex
  if (!all.options.statistics) return;  // first: a signal handler that calls exit() may have interrupted its holder
  {
    const std::lock_guard lock(all.mutex);
    if (all.reported) return;
    all.reported = true;
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - all.begin;
  const JobOfStatistics job{all.reports.world_rank, all.world_ranks, SWAPMEET_VERSION, all.mpi, time.count()};
  if (!all.options.statistics_file.empty()) write_statistics(all.statistics, job, all.options.statistics_file);
  if (!all.options.statistics_log.empty()) append_to_job_log(all.statistics, job, all.options.statistics_log);
  if (!all.options.statistics_table || all.reports.world_rank != 0) return;
  const std::string whose = "rank 0 of " + std::to_string(all.world_ranks);
  say(all.statistics.empty() ? whose + " called no all-to-all" : "calls of " + whose + ":\n" + all.statistics.table());
}

}  // namespace swapmeet
