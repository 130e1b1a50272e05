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

std::optional<Options> options_by(const char* spec, const char* from, std::string& problem) {
  if (!spec) return std::nullopt;
  std::optional<Options> options = context().options;
  options->algorithm_from = from;
  const std::string wrong = read_algorithm(spec, *options);
  if (!wrong.empty()) problem = '"' + std::string(spec) + "\": " + wrong;
  return options;
}

}  // namespace swapmeet

SWAPMEET_EXPORT const char* swapmeet_error_message(void) { return swapmeet::message().c_str(); }
