/// Work that waits for other ranks, in a place that must not wait: the progress of the host MPI. It is executed in
/// steps. Each step ends where the work would wait, and the next one goes on there. The functions that wait for ranks
/// of the team (agreement.hpp, messages.hpp) serve such work as they serve blocking calls.
#pragma once

#include <functional>
#include <utility>

#include "engine/engine.hpp"
#include "mpi/coroutine.hpp"
#include "mpi/guard.hpp"
#include "team/team.hpp"

namespace swapmeet {

class Steps {
 public:
  bool under_way() const { return coroutine_.under_way(); }

  /// Executes the next step of `work`, whose waiting is for ranks of `team`. Returns `unfinished`, also if memory for
  /// the first step is lacking, or the result of `work`. Until then the team must not be used otherwise. `work` is only
  /// read for the first step. Allocates no memory for a function of at most two pointers.
  int advance(Team& team, std::function<int()> work) {
    if (!under_way()) {
      work_ = std::move(work);
      if (!coroutine_.begin([this] { result_ = guarded(work_); })) return unfinished;
    }
    team.executes_in_steps(true);
    const bool over = coroutine_.resume();
    team.executes_in_steps(false);
    return over ? result_ : unfinished;
  }

 private:
  Coroutine coroutine_;
  std::function<int()> work_;
  int result_ = 0;
};

}  // namespace swapmeet
