#include "heap_program.hpp"

#include <new>

#include "scenarios.hpp"

namespace {

constexpr std::size_t heap_bytes = 1 << 20;

}  // namespace

HeapProgram::HeapProgram() : pages_(*new (shared_memory()) swapmeet::heap::PageFile) {}

HeapProgram::~HeapProgram() {
  if (pages_.made()) pages_.remove();
}

void HeapProgram::run(std::size_t thread) {
  Explorer& explorer = *Explorer::here();
  if (thread == 0) {
    explorer.must(pages_.make(heap_bytes), "has no memory for a heap");
    return;
  }
  // An address that the heap would hold if it began at address 0.
  const bool held = pages_.holds(reinterpret_cast<const void*>(heap_bytes / 2));
  explorer.must(!held, "takes the address of another for one of the heap");
}

std::string HeapProgram::name(std::size_t offset) const {
  const auto is = [offset](const auto& word) {
    return reinterpret_cast<const char*>(&word) == shared_memory() + offset;
  };
  return is(pages_.base_) ? "base of the heap" : is(pages_.bytes_) ? "bytes of the heap" : "";
}
