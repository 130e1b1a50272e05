#include "execute/simulation.hpp"

#ifdef SMPI_H

#include <simgrid/actor.h>
#include <simgrid/host.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "execute/mpi.hpp"

namespace swapmeet {

namespace {

/// What copies cost on a host, by its properties in the platform file.
struct CopyCost {
  double byte_s = 0, piece_s = 0;
};

double property(const char* name) {
  const char* const text = sg_host_get_property_value(sg_host_self(), name);
  return text ? std::strtod(text, nullptr) : 0;
}

struct Fibre {
  CopyCost cost{1e-9 * property("copy_byte_ns"), 1e-6 * property("copy_piece_us")};
  double owed_s = 0;
};

Fibre& this_fibre() {
  static auto* const all = new std::vector<std::unique_ptr<Fibre>>;
  const std::size_t me = fibre();
  if (all->size() <= me) all->resize(me + 1);
  std::unique_ptr<Fibre>& mine = (*all)[me];
  if (!mine) mine = std::make_unique<Fibre>();
  return *mine;
}

/// A message that was found. Nobody else receives on a communicator of ours, so it is still there later.
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
  if (!error && *flag) *message = new Found{from, tag, comm};
  return error;
}

int receive_found(void* address, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  const std::unique_ptr<Found> found(static_cast<Found*>(*message));
  *message = MPI_MESSAGE_NULL;
  return ::PMPI_Irecv(address, count, type, found->source, found->tag, found->comm, request);
}

/// Of bytes, which is all that we ask for.
int count_elements(MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  int elements = 0;
  const int error = ::PMPI_Get_count(status, type, &elements);
  *count = elements;
  return error;
}

/// Nobody has set one: it has none, and could not be set back to that.
int error_handler(MPI_Comm comm, MPI_Errhandler* handler) {
  const int error = ::PMPI_Comm_get_errhandler(comm, handler);
  if (!error && *handler == MPI_ERRHANDLER_NULL) *handler = MPI_ERRORS_ARE_FATAL;
  return error;
}

int no_parent(MPI_Comm* parent) {
  *parent = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

}  // namespace

std::size_t fibre() { return static_cast<std::size_t>(sg_actor_self_get_pid()); }

void copied(std::int64_t bytes, std::int64_t pieces) {
  Fibre& mine = this_fibre();
  mine.owed_s += mine.cost.byte_s * static_cast<double>(bytes) + mine.cost.piece_s * static_cast<double>(pieces);
}

void settle() {
  Fibre& mine = this_fibre();
  if (mine.owed_s == 0) return;
  const double owed_s = mine.owed_s;
  mine.owed_s = 0;
  smpi_execute(owed_s);
}

void take_what_is_missing() {
  PMPI_Mprobe = find;
  PMPI_Improbe = find_now;
  PMPI_Imrecv = receive_found;
  PMPI_Get_elements_x = count_elements;
  PMPI_Comm_get_parent = no_parent;
  PMPI_Comm_get_errhandler = error_handler;
}

}  // namespace swapmeet

#endif
