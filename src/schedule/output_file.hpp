/// Files that the user names, for us to write to, also in folders where other users may write.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "schedule/result.hpp"

namespace swapmeet {

/// As long as it lives, what this thread writes beyond the limit on the size of files, or to a pipe that is not read any more, is
/// an error (EFBIG, EPIPE), as it is not by default: a signal would end the application.
class WritesWithoutSignals {
 public:
  WritesWithoutSignals();
  ~WritesWithoutSignals();  ///< errno stays as it is
  WritesWithoutSignals(const WritesWithoutSignals&) = delete;
  WritesWithoutSignals& operator=(const WritesWithoutSignals&) = delete;

 private:
  static constexpr std::array signals{SIGXFSZ, SIGPIPE};
  sigset_t before_, pending_;
};

/// Writes all of `text` without a signal. "", or why not.
std::string write_all(int file, std::string_view text);

/// A descriptor of a file to write to, which is made if there is none. `how`: O_TRUNC or O_APPEND. Where everybody may
/// write to its folder, as in /tmp, what another user has put in its place is refused: a link, a pipe, a file, or a
/// second name of a file. A pipe that nobody reads is refused, not waited for.
Result<int> open_output(const std::string& file, int how);

/// The same as a stream, to an empty file, which writes without signals; the caller closes it.
Result<std::FILE*> open_output_stream(const std::string& file);

}  // namespace swapmeet
