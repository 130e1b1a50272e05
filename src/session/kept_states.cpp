#include "session/kept_states.hpp"

#include <algorithm>
#include <utility>

#include "session/communicator.hpp"

namespace swapmeet {

namespace {

/// An address that stands for the calling thread while it runs.
const void* this_thread() { return &recent_of_thread; }

}  // namespace

KeptStates::KeptStates() { kept_.reserve(most + 1); }

KeptStates::~KeptStates() = default;

void KeptStates::keep(std::unique_ptr<Communicator> state) {
  {
    const std::lock_guard lock(mutex_);
    kept_.push_back({std::move(state), this_thread()});
    if (kept_.size() <= most) return;
  }
  drop_first();
}

bool KeptStates::drop_first() {
  std::unique_ptr<Communicator> first;  // deleted without the lock
  const std::lock_guard lock(mutex_);
  if (kept_.empty()) return false;
  first = std::move(kept_.front().state);
  kept_.erase(kept_.begin());
  return true;
}

std::unique_ptr<Communicator> KeptStates::take(std::span<const int> job_ranks) {
  const std::lock_guard lock(mutex_);
  auto found = kept_.end();
  for (auto one = kept_.begin(); one != kept_.end(); ++one) {
    const Members& members = one->state->members();
    if (one->thread == this_thread() && std::ranges::equal(*members.team->job_ranks(), job_ranks) &&
        (found == kept_.end() || members.number < found->state->members().number))
      found = one;
  }
  if (found == kept_.end()) return nullptr;
  std::unique_ptr<Communicator> state = std::move(found->state);
  kept_.erase(found);
  return state;
}

std::vector<std::unique_ptr<Communicator>> KeptStates::take_all() {
  const std::lock_guard lock(mutex_);
  std::vector<std::unique_ptr<Communicator>> all;
  for (Kept& one : kept_) all.push_back(std::move(one.state));
  kept_.clear();
  return all;
}

bool KeptStates::empty() const {
  const std::lock_guard lock(mutex_);
  return kept_.empty();
}

}  // namespace swapmeet
