/// The function swapmeet_error_message(), and the storage of its text.
#include "api/failure.hpp"

#include <swapmeet/swapmeet.h>

#include "api/export.hpp"
#include "session/context.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

namespace {
thread_local std::string message_of_thread;
std::string& message() { return simulated ? context().failure : message_of_thread; }
}  // namespace

int failed(int error, const std::string& what) {
  message() = what;
  return error;
}

int failed(int error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (find_mpi()) PMPI_Error_string(error, text, &length);
  return failed(error, text);
}

int failed_by_exception(int error, const char* what) noexcept {
  set_text(message(), what);
  return error;
}

int no_communicator() { return failed(MPI_ERR_COMM, "no communicator, or MPI is not initialised"); }

namespace {

Communicator* ready(Communicator* communicator) {
  if (communicator) communicator->be_ready();
  return communicator;
}

}  // namespace

Communicator* known(MPI_Comm comm) { return comm == MPI_COMM_NULL ? nullptr : ready(communicator_of(comm)); }

Communicator* known_to_serve(MPI_Comm comm) {
  return comm == MPI_COMM_NULL ? nullptr : ready(serving_from_now_on(comm));
}

}  // namespace swapmeet

SWAPMEET_EXPORT const char* swapmeet_error_message(void) { return swapmeet::message().c_str(); }
