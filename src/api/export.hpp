/// A function that programs call.
#pragma once

#define SWAPMEET_EXPORT extern "C" __attribute__((visibility("default")))
