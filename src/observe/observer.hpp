/// The observation of calls on one communicator: the clock of their phases, and its uses (times, trace, watchdog).
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

  /// Must be called around each call. call_ends() returns the time of the call by phase.
  void call_begins();
  PhaseTimes call_ends();

  /// Publishes the calls in `post`, a post of `watchdog`, from now on. The previous post is given back to its watchdog.
  void publish(Watchdog* watchdog, Post* post);
  Post* post() const { return clock_.post(); }

  /// Must be called around a sequence of calls. end() returns their time by phase; nullopt without begin().
  void begin() { begun_ = clock_.times(); }
  std::optional<PhaseTimes> end();
  bool begun() const { return begun_.has_value(); }

  /// Records the next call, or the current one, in `trace`, which will be written to `file` (on rank 0; nullptr
  /// elsewhere). The observer owns both until written().
  void record(std::unique_ptr<Trace> trace, std::FILE* file);
  const std::unique_ptr<Trace>& trace() const { return trace_; }
  std::FILE* file() const { return file_.get(); }
  /// Stops recording, and closes the file. Returns "" or the problem.
  std::string written();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  PhaseClock clock_;
  Watchdog* watchdog_ = nullptr;
  PhaseTimes before_{};  ///< clock at the beginning of the call
  std::optional<PhaseTimes> begun_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace swapmeet
