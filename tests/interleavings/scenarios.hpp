/// What the ranks do whose every order is tried: exchanges of a few calls, over the library's own code.
#pragma once

#include <span>

#include "explorer.hpp"

struct Scenario {
  const char* name;
  std::size_t ranks;
  bool brief;  ///< takes a second at most
  Explorer::Make make;
};

std::span<const Scenario> scenarios();

/// The memory that the ranks share.
char* shared_memory();
std::size_t shared_bytes();
