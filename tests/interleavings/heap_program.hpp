/// A thread makes the heap while another asks whether an address lies in it.
#pragma once

#include "explorer.hpp"
#include "heap/page_file.hpp"

class HeapProgram : public Program {
 public:
  HeapProgram();
  ~HeapProgram() override;
  HeapProgram(const HeapProgram&) = delete;
  HeapProgram& operator=(const HeapProgram&) = delete;

  void run(std::size_t thread) override;
  bool matters(std::size_t offset) const override { return !name(offset).empty(); }
  std::string name(std::size_t offset) const override;

 private:
  swapmeet::heap::PageFile& pages_;
};
