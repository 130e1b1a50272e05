#include "observe/job_log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "observe/json.hpp"
#include "schedule/names.hpp"
#include "schedule/output_file.hpp"

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

std::string host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Renames a full log. If several processes find it full, only one of them renames it.
void set_aside(int opened, const std::string& file) {
  struct stat ours{}, named{};
  if (flock(opened, LOCK_EX | LOCK_NB) != 0 || fstat(opened, &ours) != 0 || lstat(file.c_str(), &named) != 0) return;
  if (ours.st_dev == named.st_dev && ours.st_ino == named.st_ino) std::rename(file.c_str(), (file + ".1").c_str());
}

Result<int> open_log(const std::string& file) {
  Result<int> opened = open_output(file, O_APPEND);
  struct stat status{};
  if (!opened || fstat(*opened, &status) != 0 || status.st_size < full_bytes) return opened;
  set_aside(*opened, file);
  close(*opened);
  return open_output(file, O_APPEND);
}

}  // namespace

std::string job_members(const std::string& version, const std::string& mpi, double seconds) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 128> times{};
  std::snprintf(times.data(), times.size(), ", \"ended\": \"%04d-%02d-%02dT%02d:%02d:%02dZ\"", utc.tm_year + 1900,
                utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
  return times.data() + (", \"seconds\": " + fixed_text(seconds, 3)) + ", \"user\": " + std::to_string(geteuid()) +
         ", \"job\": " + json_text(number_of_job()) + ", \"host\": " + json_text(host()) +
         ", \"program\": " + json_text(program()) + ", \"version\": " + json_text(version) +
         ", \"mpi\": " + json_text(mpi);
}

std::string append_to_job_log(const std::string& file, std::string record) {
  std::erase(record, '\n');
  record += '\n';
  const Result<int> opened = open_log(file);
  if (!opened) return opened.problem().text();
  std::string problem = write_all(*opened, record);
  close(*opened);
  return problem;
}

}  // namespace swapmeet
