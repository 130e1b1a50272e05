/// The function swapmeet_set_algorithm().
#include <mpi.h>

#include <swapmeet/swapmeet.h>

#include "api/export.hpp"
#include "api/failure.hpp"

SWAPMEET_EXPORT int swapmeet_set_algorithm(MPI_Comm comm, const char* spec) {
  return swapmeet::call_on(comm, [&](swapmeet::Communicator& communicator) -> int {
    std::optional<swapmeet::Options> options;
    std::string problem;
    const auto read = [&] { options = swapmeet::options_by(spec, "swapmeet_set_algorithm", problem); };
    const int lacking = swapmeet::prepared(problem, read);
    if (communicator.set_algorithm(options, problem.empty())) return MPI_SUCCESS;
    return swapmeet::failed(lacking ? lacking : MPI_ERR_ARG,
                            problem.empty() ? "other ranks gave another spec, or one that is malformed" : problem);
  });
}
