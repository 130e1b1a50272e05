/// Conversion of exceptions to MPI errors. No exception of the library leaves it, because C programs, MPI and threads
/// cannot handle one. This costs nothing unless an exception is thrown.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "mpi/mpi.hpp"
#include "mpi/report.hpp"

namespace swapmeet {

inline constexpr const char* out_of_memory = "out of memory";

/// An MPI error as an exception, for functions that cannot return an error code.
class MpiError : public std::exception {
 public:
  explicit MpiError(int error) : error_(error) {}
  int error() const { return error_; }
  const char* what() const noexcept override { return "an error of MPI"; }

 private:
  int error_;
};

/// Sets `text` to `what`. If there is no memory for that, sets it to out_of_memory, which a string holds without
/// allocation.
inline void set_text(std::string& text, const char* what) noexcept {
  try {
    text = what;
  } catch (const std::bad_alloc&) { text = out_of_memory; }
}

/// Prints `what` as an error, once, and returns `error`.
int reported(int error, const char* what) noexcept;

/// Calls `body`, which returns an MPI error code, and returns its result. If `body` throws, returns `failed(error,
/// why)`.
///
/// `body` must not call the application's error handler, nor the host MPI on the application's communicator. Such a
/// handler may throw, and the application must catch its exceptions.
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
