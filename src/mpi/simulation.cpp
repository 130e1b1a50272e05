#include "mpi/simulation.hpp"

#ifdef SMPI_H

#include <simgrid/actor.h>
#include <simgrid/host.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "mpi/mpi.hpp"
#include "mpi/charge.hpp"

namespace swapmeet {

namespace {

double property(const char* name) {
  const char* const text = sg_host_get_property_value(sg_host_self(), name);
  return text ? std::strtod(text, nullptr) : 0;
}

/// The costs of copies on the host of a simulated rank, by the host's properties in the platform file. There are costs
/// of copies in the rank's own memory, of copies that the MPI makes for derived datatypes, and of copies through shared
/// memory.
struct Fibre {
  double byte_s = 1e-9 * property("copy_byte_ns"), piece_s = 1e-6 * property("copy_piece_us");
  double typed_s = 1e-6 * property("typed_message_us"), typed_byte_s = 1e-9 * property("typed_byte_ns"),
         typed_piece_s = 1e-6 * property("typed_piece_us");
  double shared_byte_s = 1e-9 * property("shared_byte_ns"), flag_s = 1e-6 * property("shared_latency_us");
  double shared_overhead_s = 1e-6 * property("shared_overhead_us");
  double owed_s = 0, waited_s = 0;
};

Fibre& this_fibre() {
  static auto* const all = new std::vector<std::unique_ptr<Fibre>>;
  const std::size_t me = fibre();
  if (all->size() <= me) all->resize(me + 1);
  std::unique_ptr<Fibre>& mine = (*all)[me];
  if (!mine) mine = std::make_unique<Fibre>();
  return *mine;
}

/// A message that was found by a probe. It is still there later, because no other code receives on a communicator of
/// the library.
struct Found {
  int source, tag;
  MPI_Comm comm;
};

int find(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  *message = new Found{from, tag, comm};
  return ::PMPI_Probe(from, tag, comm, status);
}

int find_now(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  const int error = ::PMPI_Iprobe(from, tag, comm, flag, status);
  if (!error && *flag) *message = new Found{from == MPI_ANY_SOURCE ? status->MPI_SOURCE : from, tag, comm};
  return error;
}

int receive_found(void* address, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  const std::unique_ptr<Found> found(static_cast<Found*>(*message));
  *message = MPI_MESSAGE_NULL;
  return ::PMPI_Irecv(address, count, type, found->source, found->tag, found->comm, request);
}

/// Replacement for SimGrid's PMPI_Testany, which waits for ever for requests that were complete when they were made.
int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  *index = MPI_UNDEFINED;
  *flag = 1;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    const int error = ::PMPI_Test(&requests[i], flag, status);
    if (!error && !*flag) continue;
    *index = i;
    return error;
  }
  return MPI_SUCCESS;
}

/// Replacement for PMPI_Get_elements_x, for messages of bytes only, which is sufficient for the library.
int count_elements(MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  int elements = 0;
  const int error = ::PMPI_Get_count(status, type, &elements);
  *count = elements;
  return error;
}

/// Replacement for PMPI_Comm_get_errhandler. SimGrid returns MPI_ERRHANDLER_NULL if no handler was set, which could not
/// be set again.
int error_handler(MPI_Comm comm, MPI_Errhandler* handler) {
  const int error = ::PMPI_Comm_get_errhandler(comm, handler);
  if (!error && *handler == MPI_ERRHANDLER_NULL) *handler = MPI_ERRORS_ARE_FATAL;
  return error;
}

/// Charges one of the two copies of a transfer through shared memory: into a cell, or out of it.
void charge_shared(std::size_t bytes, ChargeTo end) {
  Fibre& mine = this_fibre();
  mine.owed_s += mine.shared_overhead_s + (end == ChargeTo::receiver ? mine.flag_s : 0) +
                 mine.shared_byte_s / 2 * static_cast<double>(bytes);
  settle();
}

int no_parent(MPI_Comm* parent) {
  *parent = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

}  // namespace

std::size_t fibre() { return static_cast<std::size_t>(sg_actor_self_get_pid()); }

void copied(std::int64_t bytes, std::int64_t pieces) {
  Fibre& mine = this_fibre();
  mine.owed_s += mine.byte_s * static_cast<double>(bytes) + mine.piece_s * static_cast<double>(pieces);
}

void typed(std::int64_t bytes, std::int64_t pieces) {
  Fibre& mine = this_fibre();
  mine.owed_s +=
      mine.typed_s + mine.typed_byte_s * static_cast<double>(bytes) + mine.typed_piece_s * static_cast<double>(pieces);
}

void settle() {
  Fibre& mine = this_fibre();
  if (mine.owed_s == 0) return;
  const double owed_s = mine.owed_s;
  mine.owed_s = 0;
  smpi_execute(owed_s);
}

void pass_time(bool moved) {
  constexpr double least_s = 1e-7, share = 1.0 / 32;
  settle();
  Fibre& mine = this_fibre();
  if (moved) return void(mine.waited_s = 0);
  const double pause_s = std::max(least_s, share * mine.waited_s);
  mine.waited_s += pause_s;
  sg_actor_sleep_for(pause_s);
}

void replace_missing_functions() {
  charge = charge_shared;
  PMPI_Mprobe = find;
  PMPI_Improbe = find_now;
  PMPI_Imrecv = receive_found;
  PMPI_Testany = test_any;
  PMPI_Get_elements_x = count_elements;
  PMPI_Comm_get_parent = no_parent;
  PMPI_Comm_get_errhandler = error_handler;
}

}  // namespace swapmeet

#endif
