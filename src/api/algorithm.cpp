/// swapmeet_set_algorithm().
#include <swapmeet/swapmeet.h>

#include "api/export.hpp"
#include "api/failure.hpp"

SWAPMEET_EXPORT int swapmeet_set_algorithm(MPI_Comm comm, const char* spec) {
  swapmeet::Communicator* const communicator = swapmeet::known(comm);
  if (!communicator) return swapmeet::no_communicator();
  std::optional<swapmeet::Options> options;
  std::string problem;
  if (spec) {
    options = swapmeet::context().options;
    problem = swapmeet::read_algorithm(spec, *options);
    if (!problem.empty()) problem = '"' + std::string(spec) + "\": " + problem;
    options->algorithm_from = "swapmeet_set_algorithm";
  }
  if (communicator->set_algorithm(options, problem.empty())) return MPI_SUCCESS;
  return swapmeet::failed(MPI_ERR_ARG,
                          problem.empty() ? "other ranks gave another spec, or one that is malformed" : problem);
}
