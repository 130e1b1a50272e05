/// No exception of ours leaves the library: C programs, MPI and threads cannot take one. Costs nothing unless one is
/// thrown.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "mpi/mpi.hpp"
#include "mpi/report.hpp"

namespace swapmeet {

inline constexpr const char* out_of_memory = "out of memory";

/// An error of MPI, where nothing can be returned.
class MpiError : public std::exception {
 public:
  explicit MpiError(int error) : error_(error) {}
  int error() const { return error_; }
  const char* what() const noexcept override { return "an error of MPI"; }

 private:
  int error_;
};

/// Sets `text` to `what`, or to what fits into a string without memory of its own.
inline void set_text(std::string& text, const char* what) noexcept {
  try {
    text = what;
  } catch (const std::bad_alloc&) { text = out_of_memory; }
}

/// Prints what went wrong, once, and returns `error`.
int reported(int error, const char* what) noexcept;

/// Calls `body`, which returns an error of MPI. For what it throws, returns `failed(error, why)`.
///
/// Whatever calls the error handler of the application, or anything of the host MPI on its communicator, belongs outside:
/// such a handler may throw, and its exceptions are the application's to catch.
template <class Body, class Failed>
[[gnu::always_inline]] inline int guarded(Body&& body, Failed&& failed) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) { return failed(MPI_ERR_NO_MEM, out_of_memory); } catch (const MpiError& error) {
    return failed(error.error(), error.what());
  } catch (const std::exception& why) { return failed(MPI_ERR_OTHER, why.what()); }
}

template <class Body>
[[gnu::always_inline]] inline int guarded(Body&& body) {
  return guarded(std::forward<Body>(body), reported);
}

}  // namespace swapmeet
