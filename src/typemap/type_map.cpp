#include "typemap/type_map.hpp"

namespace swapmeet {

namespace {

/// The number of runs of bytes that a loop represents.
std::int64_t runs_in(const std::vector<TypeLoop>& all, const TypeLoop& loop) {
  if (loop.is_run()) return loop.count;
  std::int64_t runs = 0;
  for (std::uint32_t i = 0; i < loop.parts; ++i) runs += runs_in(all, all[loop.first + i]);
  return loop.count * runs;
}

}  // namespace

TypeMap::TypeMap(std::vector<TypeLoop> loops, std::int64_t extent)
    : loops_(std::move(loops)), view_{loops_.data(), loops_.size(), extent, 0, INT64_MAX, INT64_MIN} {
  view_.mean_run_bytes = view_.size() / runs_in(loops_, loops_.front());
  visit(view_, nullptr, 0, view_.size(), [this](char* at, std::int64_t stride, std::int64_t runs, std::int64_t bytes) {
    const auto first = reinterpret_cast<std::intptr_t>(at);
    const std::int64_t last = first + (runs - 1) * stride;
    view_.begin = std::min({view_.begin, std::int64_t{first}, last});
    view_.end = std::max({view_.end, first + bytes, last + bytes});
  });
}

bool TypeMap::contiguous() const {
  const TypeLoop& loop = loops_.front();
  return loop.is_run() && loop.count == 1 && loop.offset == 0 && loop.bytes == view_.extent;
}

}  // namespace swapmeet
