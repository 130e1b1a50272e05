/// Files that people or other programs wrote, as text.
#pragma once

#include <cstddef>
#include <string>

#include "schedule/result.hpp"

namespace swapmeet {

/// What is in a file of the machine's own, no device or pipe, which might never end. A problem, whose `line` is -1
/// where there is no file.
Result<std::string> text_of_file(const std::string& file, std::size_t most_bytes);

}  // namespace swapmeet
