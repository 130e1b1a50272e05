/// Files that are the user's own, also in places where others may write: never another user's, never through a link,
/// and whole or not at all.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "schedule/result.hpp"

namespace swapmeet {

/// Whose a file may be.
enum class Owner : bool { user, anybody };

/// What is in a file; nobody but its owner may write to it or, in its folder, put another in its place. A problem, whose
/// `line` is -1 where there is no file.
Result<std::string> read_owned(const std::string& file, std::size_t most_bytes, Owner owner);

/// Replaces what is in a file of the user's, or makes one, by what `change` makes of it ("": there is none). Several who do so at once
/// take turns, on any file system: whoever could make FILE.new has the turn, and renames it. Of one that was killed
/// meanwhile it is left, and taken away a minute later. Who waits for longer than half a second leaves the file as it is,
/// as after any problem. "" or what it is.
std::string replace_owned(const std::string& file, std::size_t most_bytes,
                          const std::function<Result<std::string>(const std::string& present)>& change);

/// Makes a folder, and those that it is in, for the user alone. "" or the problem: it is another user's, say.
std::string make_folders(const std::string& folder);

/// The folder that a variable names from the root on; "": none, or the process has_others_rights().
std::string folder_of(const char* variable);

/// Whether the process has rights that its user has not (setuid), so that what the environment names is not to be
/// trusted.
bool has_others_rights();

}  // namespace swapmeet
