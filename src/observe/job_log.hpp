/// A site's log of jobs: a file to which each job appends a line of JSON (SWAPMEET_STATS_LOG).
#pragma once

#include <string>

namespace swapmeet {

/// What tells jobs apart, as members for Statistics::json(): when this one ended, in which job of the batch system, on
/// which host, by which program and versions, and how many seconds it has run. `mpi`: mpi_signature().
std::string job_members(const std::string& version, const std::string& mpi, double seconds);

/// Appends `record`, made one line, by one write. A file that is full gets the name with ".1" at its end instead of the
/// one that has it. Returns "" or what is wrong.
std::string append_to_job_log(const std::string& file, std::string record);

}  // namespace swapmeet
