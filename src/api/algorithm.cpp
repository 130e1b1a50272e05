/// swapmeet_set_algorithm().
#include <swapmeet/swapmeet.h>

#include "api/export.hpp"
#include "execute/context.hpp"

SWAPMEET_EXPORT int swapmeet_set_algorithm(MPI_Comm comm, const char* spec) {
  if (comm == MPI_COMM_NULL) return MPI_ERR_COMM;
  swapmeet::Communicator* const communicator = swapmeet::communicator_of(comm);
  if (!communicator) return MPI_ERR_COMM;
  std::optional<swapmeet::Options> options;
  bool valid = true;
  if (spec) {
    options = swapmeet::context().options;
    valid = swapmeet::read_algorithm(spec, *options).empty();
    options->algorithm_from = "swapmeet_set_algorithm";
  }
  return communicator->set_algorithm(options, valid) ? MPI_SUCCESS : MPI_ERR_ARG;
}
