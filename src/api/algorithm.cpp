/// The function swapmeet_set_algorithm().
#include <mpi.h>

#include <swapmeet/swapmeet.h>

#include "api/export.hpp"
#include "api/failure.hpp"

SWAPMEET_EXPORT int swapmeet_set_algorithm(MPI_Comm comm, const char* spec) {
  return swapmeet::guarded_call([&]() -> int {
    swapmeet::Communicator* const communicator = swapmeet::known(comm);
    if (!communicator) return swapmeet::no_communicator();
    std::optional<swapmeet::Options> options;
    std::string problem;
    const auto read = [&] {
      if (!spec) return MPI_SUCCESS;
      options = swapmeet::context().options;
      options->algorithm_from = "swapmeet_set_algorithm";
      problem = swapmeet::read_algorithm(spec, *options);
      if (!problem.empty()) problem = '"' + std::string(spec) + "\": " + problem;
      return MPI_SUCCESS;
    };
    // The other ranks wait for this one, so it calls the collective function even if it has no memory.
    const auto lacks = [&](int error, const char* what) { return swapmeet::set_text(problem, what), error; };
    const int lacking = swapmeet::guarded(read, lacks);
    if (communicator->set_algorithm(options, problem.empty())) return MPI_SUCCESS;
    return swapmeet::failed(lacking ? lacking : MPI_ERR_ARG,
                            problem.empty() ? "other ranks gave another spec, or one that is malformed" : problem);
  });
}
