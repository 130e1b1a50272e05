/// Names of the MPI, the machine and the program, by which evidence is told apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace swapmeet {

/// Returns a name such as "openmpi 5.0.11" for the text of MPI_Get_library_version(); "" for an unknown MPI.
std::string mpi_signature(std::string_view library_version);

/// Returns the name of the processor and the number of processors. Tuning files of other machines are not used.
std::string machine_signature();

/// Returns a text that is equal on machines whose times are comparable: machine_signature() and the host_class() of
/// this host, which is the same on all nodes of a cluster.
std::string cluster_signature();

/// Returns the name of the host with # for each of its numbers; "container" for the random name of a container.
std::string host_class(std::string_view host);

/// Returns a number for the program of this process, by the first two words of its command line without folders
/// ("python", "fft.py"); 0 if the command line is hidden. Programs share one memory but make different numbers of
/// calls.
std::uint64_t program_number();

}  // namespace swapmeet
