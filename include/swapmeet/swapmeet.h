/** Swapmeet's public interface, C99. Preloading or linking libswapmeet replaces MPI_Alltoall, MPI_Alltoallv and
 *  MPI_Alltoallw; nothing has to be called. Include mpi.h first for functions of communicators. */
#ifndef SWAPMEET_SWAPMEET_H
#define SWAPMEET_SWAPMEET_H

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the library that is loaded, such as "0.2.0". Not collective, thread-safe, callable at any time, also
 *  before MPI_Init and after MPI_Finalize.
 *  @return a static string; never NULL.
 *  @since 0.1 */
const char* swapmeet_version(void);

/** The MPI that the library was built for, as its header names itself, such as "MPICH 5.0.2". Not collective,
 *  thread-safe, callable at any time.
 *  @return a static string; never NULL.
 *  @since 0.1 */
const char* swapmeet_built_for(void);

/** Where the time of an all-to-all goes. At any moment a call is in one phase. See docs/traces.md.
 *  @since 0.1 */
enum {
  SWAPMEET_PHASE_PACK,     /**< gathering blocks that leave in one message */
  SWAPMEET_PHASE_TRANSFER, /**< handing messages to the host MPI; moving them within the node; MPI_Sendrecv */
  SWAPMEET_PHASE_WAIT,     /**< for messages, and nothing moves that this rank would have to move */
  SWAPMEET_PHASE_UNPACK,   /**< scattering blocks that came in one message */
  SWAPMEET_PHASE_COPY,     /**< the own block, rotations, copies of derived types and for MPI_IN_PLACE */
  SWAPMEET_PHASE_METADATA, /**< sizes that travel ahead of blocks, and agreements on sizes, waiting included */
  SWAPMEET_PHASE_NATIVE,   /**< in an all-to-all of the host MPI */
  SWAPMEET_PHASE_OTHER,    /**< the rest: choosing; the first time also planning and setting up shared memory */
  SWAPMEET_PHASES          /**< how many phases there are */
};

/** The name of a phase, such as "pack". Not collective, thread-safe, callable at any time.
 *  @return a static string; NULL if there is no such phase.
 *  @since 0.1 */
const char* swapmeet_phase_name(int phase);

#ifdef MPI_VERSION
/** Measure the phases of all all-to-alls on `comm` from now on; again: from here on. What it costs: two readings of the
 *  clock for each phase that a call goes through, and the short cut of repeated calls. Local, except where Swapmeet has
 *  not met `comm` yet, for no all-to-all was called on it: it does so now, which is collective. On a duplicate of a
 *  communicator calls on its other duplicates may count as well. Not while another thread uses `comm`.
 *  @return MPI_SUCCESS; MPI_ERR_COMM if `comm` is no communicator. Errors are not raised on `comm`.
 *  @since 0.1 */
int swapmeet_phases_begin(MPI_Comm comm);

/** Stop measuring phases on `comm`. Local. Not while another thread uses `comm`.
 *  @param seconds  gets what this rank has spent in each phase, in seconds, in all calls since swapmeet_phases_begin();
 *                  the sum is the time in these calls. Unchanged on an error.
 *  @return MPI_SUCCESS; MPI_ERR_ARG if `seconds` is NULL (nothing is measured any more) or phases were not measured;
 *          MPI_ERR_COMM if `comm` is no communicator. Errors are not raised on `comm`.
 *  @since 0.1 */
int swapmeet_phases_end(MPI_Comm comm, double seconds[SWAPMEET_PHASES]);

/** Trace the next all-to-all on `comm`: rank 0 of `comm` writes what each rank did when, and all messages, in the
 *  Chrome trace format (docs/traces.md). That call takes longer, for after its exchange all ranks bring their records
 *  together; the records take up to 6 MiB a rank from here until then. Collective over `comm`. Not while another thread
 *  uses `comm`. It may make a communicator, as MPI_Comm_dup does, and waits where that would.
 *  @param file  the name of the file, on rank 0; elsewhere anything. It is emptied now, and stays so if no call
 *               follows.
 *  @return MPI_SUCCESS; on all ranks MPI_ERR_ARG if `file` is NULL on rank 0, MPI_ERR_FILE if it cannot be written
 *          (rank 0 prints why on standard error), MPI_ERR_NO_MEM, or MPI_ERR_OTHER if MPI has no communicator left;
 *          MPI_ERR_COMM if `comm` is no intracommunicator. Errors are not raised on `comm`. Later errors in writing
 *          are printed on standard error, and the call itself is served as usual.
 *  @since 0.1 */
int swapmeet_trace(MPI_Comm comm, const char* file);

/** Makes `spec` the algorithm of all later all-to-alls on `comm`, instead of the value of SWAPMEET_ALGORITHM. Collective
 *  over `comm`: all ranks must give the same spec. Not while another thread uses `comm`.
 *  @param spec  as for SWAPMEET_ALGORITHM, such as "pairwise", "radix(r=8)" or "auto"; NULL: the value of the variable.
 *               "auto" is the automatic choice from the first call on: many are to come (docs/tuning.md, "Set-up")
 *  @return MPI_SUCCESS; MPI_ERR_ARG on all ranks if a spec is malformed or they differ (nothing is changed then);
 *          MPI_ERR_COMM if `comm` is no communicator. Errors are not raised on `comm`. What Swapmeet never serves
 *          (intercommunicators, single ranks, ranks whose SWAPMEET_ variables differ) stays with the host MPI.
 *  @since 0.1 */
int swapmeet_set_algorithm(MPI_Comm comm, const char* spec);

/** As MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw of the MPI standard, in arguments, collectiveness, errors and
 *  thread-safety; for programs that rather name Swapmeet than have it replace the MPI functions, which the linker does
 *  only if libswapmeet comes before the MPI. The forms ending in _c take large counts, where the MPI is of version 4.
 *  In a process that loads the library after MPI_Init, the first of all calls of Swapmeet's functions on a communicator
 *  of all ranks makes a communicator, as MPI_Comm_dup does: no other thread may make one then. It makes none where an
 *  all-to-all of MPI was called on that communicator before and a rank has MPI_THREAD_MULTIPLE.
 *  @return what the MPI function returns; errors are raised on `comm`.
 *  @since 0.1 */
int swapmeet_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm);
int swapmeet_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                       void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                       MPI_Comm comm);
int swapmeet_alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                       void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                       MPI_Comm comm);
#if MPI_VERSION >= 4
int swapmeet_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int swapmeet_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                         MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         MPI_Datatype recvtype, MPI_Comm comm);
int swapmeet_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                         const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
#endif

/** The messages that a rank has received in a sparse exchange. Memory of the library until swapmeet_sparse_free(); the data
 *  may be changed until then.
 *  @since 0.1 */
typedef struct swapmeet_sparse_messages {
  /** How many there are. */
  int count;
  /** The source of each, in ascending order; those of one rank in the order of its call. */
  const int* sources;
  /** Of each, in bytes. */
  const MPI_Count* sizes;
  /** Of each: its data side by side, without the gaps of the type that they were sent from. Aligned for any type; no two
   *  overlap. NULL if it has no bytes. */
  void* const* data;
} swapmeet_sparse_messages;

/** Exchange the messages that there are: each rank gives those that it has, and gets those for it, also where no rank
 *  knows how many that are (docs/howto/sparse.md). Any number may go to one rank, the calling one too, and they may be
 *  empty. Collective over `comm`: ranks without messages call it with 0. Not while another thread uses `comm`.
 *
 *  How they travel is chosen by the number of ranks, or by `sparse=` in the spec of SWAPMEET_ALGORITHM or
 *  swapmeet_set_algorithm(), such as "nbx", "census" or "sparse-bruck(r=4)". Where the library was loaded after
 *  MPI_Init, the first call on a communicator of all ranks makes one of its own, as MPI_Comm_dup does, and waits where
 *  that would: on Open MPI for an MPI_Comm_idup that is under way.
 *  @param sendbuf       where displacements count from, or MPI_BOTTOM; unchanged until the call returns
 *  @param messages      how many this rank sends
 *  @param destinations  of each, a rank of `comm`
 *  @param sendcounts    of each, in elements
 *  @param sdispls       of each, in elements; NULL: one begins where the one before it ends
 *  @param sendtype      of the elements, committed
 *  @param received      gets the messages, which the caller frees. Unchanged on an error.
 *  @return MPI_SUCCESS; of wrong arguments, on the rank that gave them, MPI_ERR_ARG, MPI_ERR_COUNT, MPI_ERR_RANK,
 *          MPI_ERR_TYPE or MPI_ERR_BUFFER: it has then taken part without messages, and the others got those of the other
 *          ranks; MPI_ERR_COMM if `comm` is no intracommunicator; MPI_ERR_NO_MEM, and MPI_ERR_OTHER where another rank
 *          lacked memory for messages that it passed on to this one. swapmeet_error_message() has the reason. Errors are not
 *          raised on `comm`.
 *  @since 0.1 */
int swapmeet_sparse_alltoallv(const void* sendbuf, int messages, const int destinations[], const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, MPI_Comm comm,
                              swapmeet_sparse_messages** received);

/** Free what swapmeet_sparse_alltoallv() gave. Local, thread-safe; before or after MPI_Finalize.
 *  @param received  its address; *received becomes NULL. If it is NULL, nothing is done.
 *  @return MPI_SUCCESS; MPI_ERR_ARG if `received` is NULL
 *  @since 0.1 */
int swapmeet_sparse_free(swapmeet_sparse_messages** received);

/** An exchange that is planned once and then made again and again, with the same buffers and whatever they hold then.
 *  While it is under way the program goes on.
 *
 *  Started plans advance in swapmeet_plan_test() and swapmeet_plan_wait() of any plan of the process. With Open MPI, and
 *  with MPICH from 4.3 on, they also advance in other MPI calls that make progress; with other MPIs they do not. So
 *  between starting a plan and its completion a portable program must not wait in any other way (a blocking receive, a
 *  barrier, an all-to-all) for a rank that may be waiting for that plan.
 *
 *  Plans of one communicator must be started in the same order on all its ranks. Any number may be under way at a time,
 *  and other calls may use the communicator meanwhile; where the host MPI executes a plan ("native"), its starts must come in
 *  the same order as the other collective calls on the communicator. A plan whose spec uses shared memory (`intra=`) has a separate
 *  segment. No plan may be used by two threads at a time; several threads may each use other plans under
 *  MPI_THREAD_MULTIPLE.
 *  @since 0.1 */
typedef struct swapmeet_plan swapmeet_plan;

/** Plan what swapmeet_alltoall(), swapmeet_alltoallv() and swapmeet_alltoallw() do, with the same arguments. Collective
 *  over `comm`, and may wait for the other ranks. Neither buffer is touched. Counts, displacements and types are
 *  copied, and may be changed or freed afterwards. Not while another thread uses `comm`.
 *  @param spec  the algorithm, such as "radix(r=8)", the same on all ranks; NULL: that of later calls on `comm` (see
 *               swapmeet_set_algorithm()). What Swapmeet never serves (see there) is planned as "native".
 *  @param plan  gets the plan, which the caller frees with swapmeet_plan_free(), before `comm`. Unchanged on an error.
 *  @return MPI_SUCCESS; on all ranks MPI_ERR_ARG if a spec is malformed, cannot serve `comm` or is not the same on all
 *          ranks, or if the arguments of any rank cannot be right (between groups: on those ranks whose arguments
 *          cannot be); MPI_ERR_OTHER if the ranks have no tags left for its messages; MPI_ERR_COMM if `comm` is no
 *          communicator. swapmeet_error_message() has the reason. Errors are not raised on `comm`.
 *  @since 0.1 */
int swapmeet_plan_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, const char* spec, swapmeet_plan** plan);
int swapmeet_plan_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPI_Comm comm, const char* spec, swapmeet_plan** plan);
int swapmeet_plan_alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
                            const MPI_Datatype recvtypes[], MPI_Comm comm, const char* spec, swapmeet_plan** plan);
#if MPI_VERSION >= 4
int swapmeet_plan_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* spec,
                             swapmeet_plan** plan);
int swapmeet_plan_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, const char* spec,
                              swapmeet_plan** plan);
int swapmeet_plan_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, const char* spec,
                              swapmeet_plan** plan);
#endif

/** Start the exchange of a plan. Collective over the plan's communicator, but does not wait for the other ranks. Which
 *  calls move it on, and where a rank must not wait in others meanwhile: docs/plans.md.
 *  The send buffer must not change, and the receive buffer not be looked at, until the exchange is complete.
 *  @return MPI_SUCCESS; MPI_ERR_REQUEST if the plan is under way already (nothing is changed) or `plan` is NULL; else
 *          an error of MPI, in which case the plan is not under way. Errors are not raised on the communicator.
 *  @since 0.1 */
int swapmeet_plan_start(swapmeet_plan* plan);

/** Whether the exchange is complete: of this rank, so that its buffers are its own again. Local. One that was not
 *  started is complete.
 *  @param done  gets 1 or 0; 1 too if the exchange ends with an error
 *  @return MPI_SUCCESS; MPI_ERR_REQUEST if `plan` is NULL; MPI_ERR_ARG if `done` is; or the error that the exchange
 *          ended with, once, such as MPI_ERR_TRUNCATE. Errors are not raised on the communicator.
 *  @since 0.1 */
int swapmeet_plan_test(swapmeet_plan* plan, int* done);

/** Wait until the exchange is complete. Returns as swapmeet_plan_test() does.
 *  @since 0.1 */
int swapmeet_plan_wait(swapmeet_plan* plan);

/** Free a plan that is not under way. Local; all ranks free their plans, before MPI_Finalize.
 *  @param plan  its address; *plan becomes NULL. If it is NULL, nothing is done.
 *  @return MPI_SUCCESS; MPI_ERR_REQUEST if it is under way (nothing is freed) or `plan` is NULL
 *  @since 0.1 */
int swapmeet_plan_free(swapmeet_plan** plan);

/** What a plan does, on this rank. */
typedef struct {
  /** The algorithm with all its parameters, "native": the host MPI. Valid as long as the plan. */
  const char* spec;
  /** Why that was chosen. Valid as long as the plan. */
  const char* reason;
  /** That this rank sends, K; at most, for messages without data are left out. -1: not known, as of the
   *  host MPI. */
  long long messages;
  /** That it sends in these, blocks of other ranks included (D times the size of a block, if all are of one size). -1:
   *  not known; of unequal blocks before the first exchange is complete, then as of the last. */
  long long bytes;
  /** Of working memory that it takes at most; of unequal blocks that are passed on as far as the exchanges so far
   *  needed it. */
  long long scratch_bytes;
  /** The time of one exchange by the model on which automatic choices rest (docs/plans.md). Blocks count by the mean of
   *  those that this rank sends. -1: not known. */
  double expected_seconds;
} swapmeet_plan_description;

/** Describe a plan. Local.
 *  @return MPI_SUCCESS; MPI_ERR_ARG if an argument is NULL
 *  @since 0.1 */
int swapmeet_plan_describe(const swapmeet_plan* plan, swapmeet_plan_description* description);

/** What was wrong in the last call of this thread to a function swapmeet_* of this header that returned an error. Not
 *  collective, thread-safe, callable at any time.
 *  @return a sentence; valid until the thread's next such call. "" if there was none.
 *  @since 0.1 */
const char* swapmeet_error_message(void);

/** Allocate memory that the other ranks of a node can map, for the buffers of exchanges: blocks that are sent from it
 *  are copied by their receiver straight, once and without a system call. Usable as any other memory, and zero at first.
 *  A forked child has a copy, for which its parent waits. Where memory cannot be shared (as without /proc, or with
 *  ulimit -v or -f) it is memory of this process alone, and all works as before.
 *  Collective over `comm`; not while another thread uses `comm`.
 *  @param comm   an intracommunicator; exchanges over any communicator benefit
 *  @param bytes  of this rank, any number; ranks may differ
 *  @param base   where to store the address, a void** (as of MPI_Alloc_mem); page-aligned. Unchanged on an error.
 *  @return MPI_SUCCESS; MPI_ERR_ARG if `bytes` is negative or `base` NULL (on this rank; the others get memory);
 *          MPI_ERR_COMM if `comm` is no intracommunicator; MPI_ERR_NO_MEM. Errors are not raised on `comm`.
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
