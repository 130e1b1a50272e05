/// Communicators that the application makes, by themselves or for windows and files: on Open MPI ours are not made at the same
/// time (mpi/making.hpp).
#include "api/export.hpp"
#include "interpose/foreign.hpp"
#include "mpi/making.hpp"

#ifdef OMPI_MAJOR_VERSION

using swapmeet::Handle;

// Handles, pointers and integers, which are passed on as they came.
#define SWAPMEET_TAKEN_2 Handle a, Handle b
#define SWAPMEET_PASSED_2 a, b
#define SWAPMEET_TAKEN_3 SWAPMEET_TAKEN_2, Handle c
#define SWAPMEET_PASSED_3 SWAPMEET_PASSED_2, c
#define SWAPMEET_TAKEN_4 SWAPMEET_TAKEN_3, Handle d
#define SWAPMEET_PASSED_4 SWAPMEET_PASSED_3, d
#define SWAPMEET_TAKEN_5 SWAPMEET_TAKEN_4, Handle e
#define SWAPMEET_PASSED_5 SWAPMEET_PASSED_4, e
#define SWAPMEET_TAKEN_6 SWAPMEET_TAKEN_5, Handle f
#define SWAPMEET_PASSED_6 SWAPMEET_PASSED_5, f
#define SWAPMEET_TAKEN_7 SWAPMEET_TAKEN_6, Handle g
#define SWAPMEET_PASSED_7 SWAPMEET_PASSED_6, g
#define SWAPMEET_TAKEN_8 SWAPMEET_TAKEN_7, Handle h
#define SWAPMEET_PASSED_8 SWAPMEET_PASSED_7, h
#define SWAPMEET_TAKEN_9 SWAPMEET_TAKEN_8, Handle i
#define SWAPMEET_PASSED_9 SWAPMEET_PASSED_8, i
#define SWAPMEET_TAKEN_10 SWAPMEET_TAKEN_9, Handle j
#define SWAPMEET_PASSED_10 SWAPMEET_PASSED_9, j

#define SWAPMEET_MAKES_BY(name, number)                        \
  SWAPMEET_NAMED(name, (SWAPMEET_TAKEN_##number)) {            \
    const swapmeet::ApplicationMakes makes;                    \
    return swapmeet::pass_on(#name, SWAPMEET_PASSED_##number); \
  }
#define SWAPMEET_MAKES(Name, number) SWAPMEET_MAKES_BY(MPI_##Name, number) SWAPMEET_MAKES_BY(PMPI_##Name, number)

// Begun, while we make none; the rest is made in whatever call completes the request.
#define SWAPMEET_BEGINS_BY(name, number)                       \
  SWAPMEET_NAMED(name, (SWAPMEET_TAKEN_##number)) {            \
    const swapmeet::ApplicationMakes makes;                    \
    swapmeet::makes_in_background();                           \
    return swapmeet::pass_on(#name, SWAPMEET_PASSED_##number); \
  }
#define SWAPMEET_BEGINS(Name, number) SWAPMEET_BEGINS_BY(MPI_##Name, number) SWAPMEET_BEGINS_BY(PMPI_##Name, number)

SWAPMEET_MAKES(Comm_dup, 2)
SWAPMEET_MAKES(Comm_dup_with_info, 3)
SWAPMEET_MAKES(Comm_split, 4)
SWAPMEET_MAKES(Comm_split_type, 5)
SWAPMEET_MAKES(Comm_create, 3)
SWAPMEET_MAKES(Comm_create_group, 4)
SWAPMEET_MAKES(Intercomm_create, 6)
SWAPMEET_MAKES(Intercomm_merge, 3)
SWAPMEET_MAKES(Cart_create, 6)
SWAPMEET_MAKES(Cart_sub, 3)
SWAPMEET_MAKES(Graph_create, 6)
SWAPMEET_MAKES(Dist_graph_create, 9)
SWAPMEET_MAKES(Dist_graph_create_adjacent, 10)
SWAPMEET_MAKES(Comm_spawn, 8)
SWAPMEET_MAKES(Comm_spawn_multiple, 9)
SWAPMEET_MAKES(Comm_accept, 5)
SWAPMEET_MAKES(Comm_connect, 5)
SWAPMEET_MAKES(Comm_join, 2)
SWAPMEET_MAKES(Win_create, 6)
SWAPMEET_MAKES(Win_create_dynamic, 3)
SWAPMEET_MAKES(Win_allocate, 6)
SWAPMEET_MAKES(Win_allocate_shared, 6)
SWAPMEET_MAKES(File_open, 5)
SWAPMEET_BEGINS(Comm_idup, 3)
#if OMPI_MAJOR_VERSION >= 5
SWAPMEET_MAKES(Comm_create_from_group, 5)
SWAPMEET_MAKES(Intercomm_create_from_groups, 7)
SWAPMEET_BEGINS(Comm_idup_with_info, 4)
#endif

#endif
