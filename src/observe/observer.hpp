/// Who wants to know of the calls on one communicator: the clock of their phases, and what is to become of it.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>

#include "observe/phases.hpp"
#include "observe/watchdog.hpp"

namespace swapmeet {

class Observer {
 public:
  Observer() = default;
  ~Observer() { publish(nullptr, nullptr); }
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  PhaseClock& clock() { return clock_; }

  /// Around each call; the latter returns the time of the call, by phase.
  void call_begins();
  PhaseTimes call_ends();

  /// Calls are published in `post` of `watchdog` from now on, to which it is given back at the end.
  void publish(Watchdog* watchdog, Post* post);
  Post* post() const { return clock_.post(); }

  /// The time of the calls between the two; nothing if it was not begun.
  void begin() { begun_ = clock_.times(); }
  std::optional<PhaseTimes> end();
  bool begun() const { return begun_.has_value(); }

  /// The next call, or the one under way, is recorded in `trace`, for `file` (of rank 0, else nullptr), which are given
  /// up when it is written.
  void record(std::unique_ptr<Trace> trace, std::FILE* file);
  const std::unique_ptr<Trace>& trace() const { return trace_; }
  std::FILE* file() const { return file_.get(); }
  /// Closes the file. "", or what was wrong with it.
  std::string written();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  PhaseClock clock_;
  Watchdog* watchdog_ = nullptr;
  PhaseTimes before_{};  ///< the call
  std::optional<PhaseTimes> begun_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace swapmeet
