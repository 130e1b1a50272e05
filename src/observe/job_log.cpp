#include "observe/job_log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>

#include "evidence/line.hpp"
#include "mpi/report.hpp"
#include "observe/json.hpp"
#include "observe/process.hpp"
#include "schedule/names.hpp"

namespace swapmeet {

namespace {

constexpr off_t full_bytes = off_t{16} << 20;

/// The variables with the number of a job, by batch system: Slurm, PBS, LSF, Flux, Fujitsu's, Grid Engine.
constexpr std::array numbers_of_jobs{"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "PJM_JOBID", "JOB_ID"};

std::string number_of_job() {
  for (const char* const name : numbers_of_jobs)
    if (const char* const value = std::getenv(name)) return value;
  return "";
}

std::string program() {
  std::array<char, 4096> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

/// Renames a full log. If several processes find it full, only one of them renames it.
void set_aside(int opened, const std::string& file) {
  struct stat ours{}, named{};
  if (flock(opened, LOCK_EX | LOCK_NB) != 0 || fstat(opened, &ours) != 0 || lstat(file.c_str(), &named) != 0) return;
  if (ours.st_dev == named.st_dev && ours.st_ino == named.st_ino) std::rename(file.c_str(), (file + ".1").c_str());
}

void make_room(const std::string& file) {
  const Result<int> opened = open_output(file, O_APPEND);
  struct stat status{};
  if (!opened) return;
  if (fstat(*opened, &status) == 0 && status.st_size >= full_bytes) set_aside(*opened, file);
  close(*opened);
}

/// Returns the members that describe the job: time of its end, seconds it has run, user, job number of the batch
/// system, host, program, version of this library, and MPI.
JsonMembers members_of(const JobOfStatistics& job) {
  JsonMembers all =
      JsonMembers().add("ended", date_text(std::time(nullptr))).add("seconds", Json{fixed_text(job.seconds, 3)});
  all.add("user", geteuid()).add("job", number_of_job()).add("host", host_name()).add("program", program());
  return all.add("version", job.version).add("mpi", job.mpi);
}

}  // namespace

void write_statistics(const Statistics& statistics, const JobOfStatistics& job, const std::string& pattern) {
  if (job.rank != 0 && pattern.find("%r") == pattern.npos) return;
  const std::string name = with_rank(pattern, number(job.rank));
  const std::string problem = write_file(name, O_TRUNC, statistics.json(job.rank, job.ranks));
  if (!problem.empty()) warn("SWAPMEET_STATS=\"" + pattern + "\": cannot write " + name + ": " + problem);
}

void append_to_job_log(const Statistics& statistics, const JobOfStatistics& job, const std::string& file) {
  if (job.rank != 0) return;
  const JsonMembers members = members_of(job);
  std::string line = statistics.json(job.rank, job.ranks, &members);
  std::erase(line, '\n');
  line += '\n';
  make_room(file);
  const std::string problem = write_file(file, O_APPEND, line);
  if (!problem.empty()) warn("SWAPMEET_STATS_LOG=\"" + file + "\": cannot write it: " + problem);
}

}  // namespace swapmeet
