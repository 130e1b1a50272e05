/// How functions of the public interface fail: with a class of MPI errors, and a sentence for swapmeet_error_message().
#pragma once

#include <string>

#include "session/context.hpp"

namespace swapmeet {

/// Remembers `what` for this thread and returns `error`. Without `what`: what MPI says of it.
int failed(int error, const std::string& what);
int failed(int error);

/// What we keep for `comm`; nullptr: nothing, for it is no communicator, which no_communicator() says.
Communicator* known(MPI_Comm comm);
int no_communicator();

}  // namespace swapmeet
