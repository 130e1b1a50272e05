/// A call some of whose buffers may be memory of a device: these are brought to the host, and back.
#pragma once

#include "interpose/serve.hpp"

namespace swapmeet {

/// `exchange` with copies on the host in place of what is not there. Local, except for `exchange`. `touched`: as of
/// Plan::run(); copies that fail touch, for the other ranks are under way.
int exchange_on_host(const Call& call, Communicator& communicator, const Decision& decision, bool& touched,
                     int (*exchange)(const Call&, Communicator&, const Decision&, bool& touched));

}  // namespace swapmeet
