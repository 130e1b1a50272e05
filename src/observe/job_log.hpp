/// The file of statistics that a rank writes (SWAPMEET_STATS), and the log of jobs of a site: a file to which each job
/// appends one line of JSON (SWAPMEET_STATS_LOG).
#pragma once

#include <string>

#include "observe/statistics.hpp"

namespace swapmeet {

/// The job whose statistics are written.
struct JobOfStatistics {
  int rank = 0, ranks = 1;  ///< in MPI_COMM_WORLD
  std::string version;      ///< of this library
  std::string mpi;          ///< mpi_signature() of the host MPI
  double seconds = 0;       ///< time that it has run
};

/// Writes the file that `pattern` names for the rank: with each %r replaced by the rank, or else the file of rank 0.
/// Warns of a problem.
void write_statistics(const Statistics& statistics, const JobOfStatistics& job, const std::string& pattern);

/// Appends a line for the job to the log, in one write. A file that is full is renamed first: ".1" is appended to its
/// name, and replaces an older file of that name. Only rank 0 appends. Warns of a problem.
void append_to_job_log(const Statistics& statistics, const JobOfStatistics& job, const std::string& file);

}  // namespace swapmeet
