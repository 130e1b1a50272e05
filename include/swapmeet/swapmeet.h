/** Swapmeet's public interface, C99. Preloading or linking libswapmeet replaces MPI_Alltoall and MPI_Alltoallv; nothing has
 *  to be called. Include mpi.h first for what is said of communicators. */
#ifndef SWAPMEET_SWAPMEET_H
#define SWAPMEET_SWAPMEET_H

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the library that is loaded, such as "0.1.0". Not collective, thread-safe, callable at any time, also
 *  before MPI_Init and after MPI_Finalize.
 *  @return a static string; never NULL.
 *  @since 0.1 */
const char* swapmeet_version(void);

/** The MPI that the library was built for, as its header names itself, such as "MPICH 5.0.2". Not collective,
 *  thread-safe, callable at any time.
 *  @return a static string; never NULL.
 *  @since 0.1 */
const char* swapmeet_built_for(void);

#ifdef MPI_VERSION
/** Makes `spec` the algorithm of all later all-to-alls on `comm`, instead of what SWAPMEET_ALGORITHM says. Collective over
 *  `comm`: all ranks must give the same spec. Not while another thread uses `comm`.
 *  @param spec  as for SWAPMEET_ALGORITHM, such as "pairwise", "radix(r=8)" or "auto"; NULL: what the variable says
 *  @return MPI_SUCCESS; MPI_ERR_ARG on all ranks if a spec is malformed or they differ (nothing is changed then);
 *          MPI_ERR_COMM if `comm` is no communicator. Errors are not raised on `comm`. What Swapmeet never serves
 *          (intercommunicators, single ranks, ranks whose SWAPMEET_ variables differ) stays with the MPI underneath.
 *  @since 0.1 */
int swapmeet_set_algorithm(MPI_Comm comm, const char* spec);
#endif

#ifdef __cplusplus
}
#endif

#endif
