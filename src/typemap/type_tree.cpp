#include "typemap/type_tree.hpp"

namespace swapmeet {

TypeTree TypeTree::repeated(std::int64_t count, std::int64_t stride) && {
  if (count <= 0 || empty()) return {};
  if (count == 1) return std::move(*this);
  if (is_one_run() && stride == loop_.bytes) {
    loop_.bytes *= count;
  } else if (loop_.count == 1) {
    loop_.count = count;
    loop_.stride = stride;
  } else if (stride == loop_.count * loop_.stride) {
    loop_.count *= count;
  } else {
    TypeTree around;
    around.loop_ = {loop_.offset, count, stride, loop_.total()};
    around.loops_ = loops_ + 1;
    loop_.offset = 0;
    around.parts_.push_back(std::move(*this));
    return around;
  }
  return std::move(*this);
}

bool TypeTree::joins(const TypeTree& next) {
  if (!is_run() || !next.is_run()) return false;
  const std::int64_t apart = next.loop_.offset - loop_.offset;
  if (is_one_run() && next.is_one_run() && apart == loop_.bytes) return loop_.bytes += next.loop_.bytes, true;
  if (loop_.bytes != next.loop_.bytes) return false;
  const std::int64_t stride = loop_.count > 1 ? loop_.stride : next.loop_.count > 1 ? next.loop_.stride : apart;
  if (apart != loop_.count * stride || (next.loop_.count > 1 && next.loop_.stride != stride)) return false;
  loop_.stride = stride;
  loop_.count += next.loop_.count;
  return true;
}

void TypeSequence::append(TypeTree part) {
  if (!joined_.empty() && joined_.back().joins(part)) return;
  loops_ += part.loops_;
  joined_.push_back(std::move(part));
}

void TypeSequence::add(TypeTree part) {
  if (part.empty()) return;
  if (part.is_run() || part.loop_.count > 1) return append(std::move(part));
  for (TypeTree& inner : part.parts_) append(std::move(inner).moved(part.loop_.offset));
}

TypeTree TypeSequence::tree() && {
  if (joined_.empty()) return {};
  if (joined_.size() == 1) return std::move(joined_.front());
  TypeTree all;
  for (TypeTree& part : joined_) {
    part.loop_.before = all.loop_.bytes;
    all.loop_.bytes += part.size();
  }
  all.loops_ += loops_;
  all.parts_ = std::move(joined_);
  return all;
}

std::unique_ptr<const TypeMap> TypeTree::map(std::int64_t extent) const {
  std::vector<TypeLoop> loops;
  std::vector<const TypeTree*> trees{this};
  loops.reserve(loops_);
  loops.push_back(loop_);
  loops.front().before = 0;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const std::vector<TypeTree>& parts = trees[i]->parts_;
    loops[i].first = static_cast<std::uint32_t>(loops.size());
    loops[i].parts = static_cast<std::uint32_t>(parts.size());
    for (const TypeTree& part : parts) {
      trees.push_back(&part);
      loops.push_back(part.loop_);
      if (parts.size() == 1) loops.back().before = 0;
    }
  }
  return std::make_unique<const TypeMap>(std::move(loops), extent);
}

}  // namespace swapmeet
