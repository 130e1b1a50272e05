/// The part of the module that is about networks: python/network_bindings.cpp.
#pragma once

#include <nanobind/nanobind.h>

void bind_networks(nanobind::module_& m);
