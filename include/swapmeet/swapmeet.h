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

/** Allocate memory that the ranks of a node share, for the buffers of exchanges: blocks that are sent from it are copied by
 *  their receiver straight, once and without a system call. Usable as any other memory (but a forked
 *  child shares it, rather than has a copy), and zero at first. Where memory
 *  cannot be shared (no /dev/shm, or it is full) it is memory of this process alone, and all works as before. Collective
 *  over `comm`; not while another thread uses `comm`.
 *  @param comm   an intracommunicator; ranks of a node that exchange with one another over any communicator benefit if they
 *                allocated over one that has them all
 *  @param bytes  of this rank, any number; ranks may differ
 *  @param base   where to store the address, a void** (as of MPI_Alloc_mem); page-aligned. Unchanged on an error.
 *  @return MPI_SUCCESS; MPI_ERR_ARG if `bytes` is negative or `base` NULL (on this rank; the others get memory of their
 *          own); MPI_ERR_COMM if `comm` is no intracommunicator; MPI_ERR_NO_MEM. Errors are not raised on `comm`.
 *  @since 0.1 */
int swapmeet_memory_allocate(MPI_Comm comm, MPI_Aint bytes, void* base);

/** Free memory of swapmeet_memory_allocate(). Local; before or after MPI_Finalize; not while an exchange uses it.
 *  @param base  its address, or NULL
 *  @return MPI_SUCCESS; MPI_ERR_ARG if it is not such an address
 *  @since 0.1 */
int swapmeet_memory_free(void* base);
#endif

#ifdef __cplusplus
}
#endif

#endif
