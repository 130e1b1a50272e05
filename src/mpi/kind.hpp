/// The kind of an MPI, which determines the representation of its handles. It is found by the symbols that the MPI
/// defines. This file does not include mpi.h.
#pragma once

#include <cstring>
#include <initializer_list>

namespace swapmeet {

struct MpiKind {
  const char* name;
  const char* folder;  ///< folder of a site with the library for it (docs/howto/site.md); nullptr if there is none
};

inline constexpr MpiKind open_mpi_kind{"Open MPI", "openmpi"};
inline constexpr MpiKind mpich_kind{"MPICH", "mpich"};  ///< and MPIs that are derived from it
inline constexpr MpiKind standard_kind{"the MPI-5 ABI", "standard"};
inline constexpr MpiKind simgrid_kind{"SimGrid's MPI", nullptr};
/// The handles of MPItrampoline are wider than those of the MPI that it wraps.
inline constexpr MpiKind trampoline_kind{"MPItrampoline", nullptr};

/// Whether the MPI with this library version (MPI_Get_library_version) has MPICH's handles.
inline bool descends_from_mpich(const char* library_version) {
  for (const char* const name : {"MPICH", "MVAPICH", "Intel(R) MPI"})
    if (std::strstr(library_version, name)) return true;
  return false;
}

/// The kind of the MPI whose symbols `symbol(name)` returns, or nullptr if it is unknown. May be called before
/// MPI_Init.
template <class Symbol>
const MpiKind* kind_of_mpi(Symbol symbol) {
  if (symbol("ompi_mpi_comm_world")) return &open_mpi_kind;
  if (symbol("smpi_process_comm_self")) return &simgrid_kind;
  int major = 0, minor = 0;
  const auto abi = reinterpret_cast<int (*)(int*, int*)>(symbol("PMPI_Abi_get_version"));
  if (abi && abi(&major, &minor) == 0 && major > 0) return &standard_kind;
  char text[1 << 14] = "";  // twice as long as the text of any of them
  int length = 0;
  const auto version = reinterpret_cast<int (*)(char*, int*)>(symbol("PMPI_Get_library_version"));
  if (!version || version(text, &length) != 0) return nullptr;
  if (std::strstr(text, "MPItrampoline") || std::strstr(text, "MPIwrapper"))
    return &trampoline_kind;  // is checked first, because the text also names the wrapped MPI
  return descends_from_mpich(text) ? &mpich_kind : nullptr;
}

}  // namespace swapmeet
