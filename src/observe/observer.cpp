#include "observe/observer.hpp"

#include <cerrno>
#include <cstring>

namespace swapmeet {

namespace {

PhaseTimes since(const PhaseTimes& before, PhaseTimes times) {
  for (std::size_t phase = 0; phase < times.size(); ++phase) times[phase] -= before[phase];
  return times;
}

}  // namespace

void Observer::call_begins() {
  before_ = clock_.times();
  clock_.begin();
}

PhaseTimes Observer::call_ends() {
  clock_.end();
  return since(before_, clock_.times());
}

void Observer::publish(Watchdog* watchdog, Post* post) {
  if (watchdog_) watchdog_->give_back(clock_.post());
  watchdog_ = watchdog;
  clock_.publish(post);
}

std::optional<PhaseTimes> Observer::end() {
  if (!begun_) return std::nullopt;
  return since(*std::exchange(begun_, std::nullopt), clock_.times());
}

void Observer::record(std::unique_ptr<Trace> trace, std::FILE* file) {
  trace_ = std::move(trace);
  file_.reset(file);
  clock_.record(trace_.get());
}

std::string Observer::written() {
  clock_.record(nullptr);
  trace_.reset();
  if (!file_) return "";
  const bool failed = std::ferror(file_.get()) != 0;
  const bool closed = std::fclose(file_.release()) == 0;
  return failed || !closed ? std::strerror(errno) : "";
}

}  // namespace swapmeet
