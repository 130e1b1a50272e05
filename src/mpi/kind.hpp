/// Of which kind an MPI is, that is, what its handles are made of: by the symbols that it has. Knows no mpi.h.
#pragma once

#include <cstring>
#include <initializer_list>

namespace swapmeet {

struct MpiKind {
  const char* name;
  const char* folder;  ///< where a site has the library for it (docs/howto/site.md); nullptr: nowhere
};

inline constexpr MpiKind open_mpi_kind{"Open MPI", "openmpi"};
inline constexpr MpiKind mpich_kind{"MPICH", "mpich"};  ///< with all that descend from it
inline constexpr MpiKind standard_kind{"the MPI-5 ABI", "standard"};
inline constexpr MpiKind simgrid_kind{"SimGrid's MPI", nullptr};
/// Its handles are wider than those of the MPI behind it.
inline constexpr MpiKind trampoline_kind{"MPItrampoline", nullptr};

/// Whether an MPI that says this of itself has MPICH's handles.
inline bool descends_from_mpich(const char* library_version) {
  for (const char* const name : {"MPICH", "MVAPICH", "Intel(R) MPI"})
    if (std::strstr(library_version, name)) return true;
  return false;
}

/// The kind of the MPI in which `symbol(name)` looks; nullptr: of none that we know. May be asked before MPI_Init.
template <class Symbol>
const MpiKind* kind_of_mpi(Symbol symbol) {
  if (symbol("ompi_mpi_comm_world")) return &open_mpi_kind;
  if (symbol("smpi_process_comm_self")) return &simgrid_kind;
  int major = 0, minor = 0;
  const auto abi = reinterpret_cast<int (*)(int*, int*)>(symbol("PMPI_Abi_get_version"));
  if (abi && abi(&major, &minor) == 0 && major > 0) return &standard_kind;
  char text[1 << 14] = "";  // twice what any of them writes
  int length = 0;
  const auto version = reinterpret_cast<int (*)(char*, int*)>(symbol("PMPI_Get_library_version"));
  if (!version || version(text, &length) != 0) return nullptr;
  if (std::strstr(text, "MPItrampoline") || std::strstr(text, "MPIwrapper"))
    return &trampoline_kind;  // before what it wraps
  return descends_from_mpich(text) ? &mpich_kind : nullptr;
}

}  // namespace swapmeet
