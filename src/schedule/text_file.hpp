/// Reads text files written by people or other programs.
#pragma once

#include <cstddef>
#include <string>

#include "schedule/result.hpp"

namespace swapmeet {

/// Returns the contents of a regular file. Devices and pipes, which might never end, are a problem, and so are more
/// than `most_bytes` bytes. `line` of the problem is -1 if there is no file.
Result<std::string> text_of_file(const std::string& file, std::size_t most_bytes);

}  // namespace swapmeet
