/// Opens and writes output files that the user names, safely even in folders where other users may write.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "schedule/result.hpp"

namespace swapmeet {

/// Guard that turns two signals of this thread into errors while it lives. A write beyond the limit on file sizes fails
/// with EFBIG, and a write to a pipe without readers fails with EPIPE. By default a signal would end the application.
class WritesWithoutSignals {
 public:
  WritesWithoutSignals();
  ~WritesWithoutSignals();  ///< keeps errno
  WritesWithoutSignals(const WritesWithoutSignals&) = delete;
  WritesWithoutSignals& operator=(const WritesWithoutSignals&) = delete;

 private:
  static constexpr std::array signals{SIGXFSZ, SIGPIPE};
  sigset_t before_, pending_;
};

/// Writes all of `text` without raising a signal. Returns "" or the reason of the failure.
std::string write_all(int file, std::string_view text);

/// Opens a file for writing and returns its descriptor. The file is created if it does not exist. `how`: O_TRUNC,
/// O_APPEND or 0. In a folder where everybody may write, such as /tmp, the call refuses objects that another user may
/// have put in place of the file: a link, a pipe, a file, or a second name of a file. A pipe that no process reads is
/// refused at once instead of waiting for a reader.
Result<int> open_output(const std::string& file, int how);

/// Opens an empty file as open_output() does and returns a stream that writes without raising signals. The caller
/// closes it.
Result<std::FILE*> open_output_stream(const std::string& file);

}  // namespace swapmeet
