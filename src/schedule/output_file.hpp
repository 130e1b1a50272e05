/// Files that the user names, for us to write to, also in folders where other users may write.
#pragma once

#include <cstdio>
#include <string>

#include "schedule/result.hpp"

namespace swapmeet {

/// A descriptor of a file to write to, which is made if there is none. `how`: O_TRUNC or O_APPEND. Where everybody may
/// write to its folder, as in /tmp, what another user has put in its place is refused: a link, a pipe, a file, or a
/// second name of a file. A pipe that nobody reads is refused, not waited for.
Result<int> open_output(const std::string& file, int how);

/// The same as a stream, to an empty file; the caller closes it.
Result<std::FILE*> open_output_stream(const std::string& file);

}  // namespace swapmeet
