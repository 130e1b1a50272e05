/// The log of jobs of a site: a file to which each job appends one line of JSON (SWAPMEET_STATS_LOG).
#pragma once

#include <string>

namespace swapmeet {

/// Returns members for Statistics::json() that describe the job: time of its end, seconds it has run, user, job number
/// of the batch system, host, program, version of this library, and MPI (`mpi`: mpi_signature()).
std::string job_members(const std::string& version, const std::string& mpi, double seconds);

/// Appends `record` as one line, in one write. A file that is full is renamed first: ".1" is appended to its name, and
/// replaces an older file of that name. Returns "" or the problem.
std::string append_to_job_log(const std::string& file, std::string record);

}  // namespace swapmeet
