/// Reads text files: those that the user names, and those that the library finds or writes by itself. The latter are
/// read and replaced safely even in folders where others may write. Files of other users are refused, unless the caller
/// reads with Owner::anybody. Symbolic links are not followed. A file is replaced as a whole or not at all.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "schedule/result.hpp"

namespace swapmeet {

/// Returns the contents of a regular file that the user names. Devices and pipes, which might never end, are a problem,
/// and so are more than `most_bytes` bytes. `line` of the problem is -1 if there is no file.
Result<std::string> text_of_file(const std::string& file, std::size_t most_bytes);

/// Accepted owners of a file that the library finds by itself.
enum class Owner : bool { user, anybody };

/// Returns the contents of such a file. It is also a problem if users other than its owner may write to the file or replace it in
/// its folder. `line` of the problem is -1 if there is no file.
Result<std::string> read_owned(const std::string& file, std::size_t most_bytes, Owner owner);

/// Replaces the contents of a file of the user by the result of `change`, which gets the present contents ("" if there
/// is no file). Processes that do so at the same time take turns, on any file system: the process that creates FILE.new
/// has the turn, and later renames it to FILE. If that process is killed, FILE.new remains and is removed by another
/// process after a minute. A process that has waited for half a second gives up. After any problem the file is
/// unchanged. Returns "" or the problem.
std::string replace_owned(const std::string& file, std::size_t most_bytes,
                          const std::function<Result<std::string>(const std::string& present)>& change);

/// Makes a folder and its missing parents, with access for the user only. Returns "" or the problem, for example that
/// the folder is another user's.
std::string make_folders(const std::string& folder);

/// Returns the absolute path in an environment variable. Returns "" if it is unset or not absolute, or if
/// has_elevated_rights().
std::string folder_of(const char* variable);

/// Whether the process has more rights than its user (setuid), so that paths in the environment must not be trusted.
bool has_elevated_rights();

}  // namespace swapmeet
