/* Plans of Swapmeet, looked up at run time: the suite knows nothing of the library, and runs without it. */
#ifndef CONFORMANCE_PLANS_H
#define CONFORMANCE_PLANS_H

#include <mpi.h>
#include <stdbool.h>

typedef struct swapmeet_plan swapmeet_plan;

typedef struct {
  bool found; /* all that follows */
  int (*alltoall)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, const char*, swapmeet_plan**);
  int (*alltoallv)(const void*, const int[], const int[], MPI_Datatype, void*, const int[], const int[], MPI_Datatype,
                   MPI_Comm, const char*, swapmeet_plan**);
  int (*alltoallw)(const void*, const int[], const int[], const MPI_Datatype[], void*, const int[], const int[],
                   const MPI_Datatype[], MPI_Comm, const char*, swapmeet_plan**);
  int (*alltoall_c)(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, MPI_Comm, const char*,
                    swapmeet_plan**);
  int (*alltoallv_c)(const void*, const MPI_Count[], const MPI_Aint[], MPI_Datatype, void*, const MPI_Count[],
                     const MPI_Aint[], MPI_Datatype, MPI_Comm, const char*, swapmeet_plan**);
  int (*alltoallw_c)(const void*, const MPI_Count[], const MPI_Aint[], const MPI_Datatype[], void*, const MPI_Count[],
                     const MPI_Aint[], const MPI_Datatype[], MPI_Comm, const char*, swapmeet_plan**);
  int (*start)(swapmeet_plan*);
  int (*test)(swapmeet_plan*, int*);
  int (*wait)(swapmeet_plan*);
  int (*free)(swapmeet_plan**);
} Plans;

const Plans* plans(void);

/** Set the algorithm of comm. @return false if the library is not there; else its answer in *code. */
bool set_algorithm(MPI_Comm comm, const char* spec, int* code);

#endif
