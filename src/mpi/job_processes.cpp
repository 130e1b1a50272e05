#include "mpi/job_processes.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>

#include "schedule/kernel_file.hpp"

namespace swapmeet {

namespace {

using Environment = std::map<std::string, std::string, std::less<>>;

/// Environment variables in which launchers pass a process its rank (PRRTE and Slurm's PMIx, Hydra and Intel MPI, PALS,
/// Slurm). The most specific one is first, because a launcher inherits the variables of the launcher that started it.
constexpr const char* rank_variables[] = {"PMIX_RANK", "PMI_RANK", "PALS_RANKID", "SLURM_PROCID"};
/// Environment variables that are equal in all ranks of a job.
constexpr const char* job_variables[] = {"PMIX_NAMESPACE", "PMI_JOBID", "PALS_APID", "SLURM_JOB_ID", "SLURM_STEP_ID"};

std::string read_proc(int process, const char* name) {
  return read_kernel_file("/proc/" + std::to_string(process) + '/' + name);
}

/// Calls `take` with each part of `text` that ends with `mark`.
template <class Take>
void each_part(std::string_view text, char mark, Take take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(mark), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The environment that the process had at its start.
Environment environment_of(int process) {
  Environment environment;
  each_part(read_proc(process, "environ"), '\0', [&](std::string_view entry) {
    const std::size_t equals = entry.find('=');
    if (equals != entry.npos) environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  });
  return environment;
}

std::optional<std::string> value_of(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::nullopt : std::optional(found->second);
}

/// The parent of `process`; 0 if it is not known.
int parent_of(int process) {
  const std::string text = state_and_parent(process);  // "S 123 ..."
  return text.size() > 2 ? std::atoi(text.c_str() + 2) : 0;
}

/// The process that launched a rank on this node. It is the nearest ancestor whose rank variable differs: shells
/// between the launcher and the rank have the same variable.
int launcher_of(int process, const char* rank_variable, const std::string& rank) {
  do process = parent_of(process);
  while (process > 1 && value_of(environment_of(process), rank_variable) == rank);
  return process;
}

std::vector<int> all_processes() {
  std::vector<int> all;
  DIR* const folder = opendir("/proc");
  if (!folder) return all;
  while (const dirent* const entry = readdir(folder))
    if (const int process = std::atoi(entry->d_name); process > 0) all.push_back(process);
  closedir(folder);
  return all;
}

/// The relevant files that a process has mapped.
struct Loaded {
  bool mpi = false;                ///< a dynamic MPI library
  bool shares = false;             ///< a shared-memory segment of this library
  std::vector<std::string> files;  ///< files of this library
};

Loaded loaded_by(int process) {
  Loaded loaded;
  each_part(read_proc(process, "maps"), '\n', [&](std::string_view line) {
    const std::size_t slash = line.find('/');
    if (slash == line.npos) return;
    const std::string_view path = line.substr(slash);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    loaded.shares |= path.starts_with("/memfd:swapmeet");
    loaded.mpi |= name.starts_with("libmpi");
    if (name.starts_with("libswapmeet.so") && std::ranges::count(loaded.files, path) == 0)
      loaded.files.emplace_back(path);
  });
  return loaded;
}

JobProcess described(int world_rank, int process, const Loaded& loaded, const Loaded& mine) {
  const auto lacks = [&](const std::string& file) { return std::ranges::count(loaded.files, file) == 0; };
  const auto missing = std::ranges::find_if(mine.files, lacks);
  JobProcess one{world_rank, process, missing == mine.files.end(), ""};
  if (mine.files.empty()) one.has_ours = loaded.shares;  // the library is linked statically, or has another name
  if (missing != mine.files.end() && !loaded.files.empty()) one.instead = loaded.files.front() + " but not " + *missing;
  return one;
}

}  // namespace

std::vector<JobProcess> job_processes(int world_rank) {
  const Environment own = environment_of(getpid());
  const std::string own_rank = std::to_string(world_rank);
  const auto* const variable =
      std::ranges::find_if(rank_variables, [&](const char* name) { return value_of(own, name) == own_rank; });
  if (variable == std::end(rank_variables)) return {};
  const int launcher = launcher_of(getpid(), *variable, own_rank);
  const Loaded mine = loaded_by(getpid());
  std::map<int, JobProcess> by_rank;
  for (const int process : all_processes()) {
    const Environment environment = environment_of(process);
    const std::optional<std::string> rank = value_of(environment, *variable);
    if (!rank) continue;
    const bool of_job = std::ranges::all_of(
        job_variables, [&](const char* name) { return value_of(own, name) == value_of(environment, name); });
    if (!of_job || launcher_of(process, *variable, *rank) != launcher) continue;
    const Loaded loaded = loaded_by(process);
    if (!loaded.mpi) continue;
    JobProcess one = described(std::atoi(rank->c_str()), process, loaded, mine);
    const auto [known, added] = by_rank.emplace(one.world_rank, one);
    // Of several processes with the same rank, one with the library is kept: programs that a rank starts are not ranks.
    if (!added && one.has_ours) known->second = std::move(one);
  }
  std::vector<JobProcess> all;
  for (auto& [rank, one] : by_rank) all.push_back(std::move(one));
  return all;
}

}  // namespace swapmeet
