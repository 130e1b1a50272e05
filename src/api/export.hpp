/// The mark of functions that the library exports.
#pragma once

#define SWAPMEET_EXPORT extern "C" __attribute__((visibility("default")))
