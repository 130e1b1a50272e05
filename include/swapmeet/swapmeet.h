/** Swapmeet's public interface, C99. Today: which library is loaded. Preloading or linking libswapmeet replaces
 *  MPI_Alltoall and MPI_Alltoallv; nothing has to be called. */
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

#ifdef __cplusplus
}
#endif

#endif
