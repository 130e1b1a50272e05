/// What the programs of this folder share beside their exchanges: MPI's begin and end, options, the answer in a file.
#pragma once

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "computing.hpp"
#include "exchange.hpp"

/// The numbers of a text such as `grid:8` or `rmat:5:80`: of this kind, with so many of them. Otherwise none.
inline std::vector<unsigned> numbers_of(std::string_view text, std::string_view kind, std::size_t count) {
  if (text.substr(0, kind.size()) != kind) return {};
  std::vector<unsigned> numbers;
  const char *at = text.data() + kind.size(), *const end = text.data() + text.size();
  while (at != end && *at == ':') {
    const auto [next, problem] = std::from_chars(at + 1, end, numbers.emplace_back());
    if (problem != std::errc()) return {};
    at = next;
  }
  return at == end && numbers.size() == count ? numbers : std::vector<unsigned>();
}

class Program {
 public:
  /// `usage`: the options, each --NAME with a value.
  Program(int argc, char** argv, std::string usage) : arguments_(argv + 1, argv + argc), usage_(std::move(usage)) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (std::size_t i = 0; i < arguments_.size(); i += 2)
      if (arguments_[i].rfind("--", 0) != 0 || usage_.find(arguments_[i] + " ") == std::string::npos ||
          i + 1 == arguments_.size())
        refuse("what is " + arguments_[i] + "?");
    begin_ = MPI_Wtime();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { MPI_Finalize(); }

  std::string option(const std::string& name, const std::string& standard) const {
    for (std::size_t i = 0; i + 1 < arguments_.size(); i += 2)
      if (arguments_[i] == name) return arguments_[i + 1];
    return standard;
  }

  /// A whole number from `least` to `most`. All ranks must ask for it.
  long long number(const std::string& name, long long standard, long long least, long long most) const {
    const std::string text = option(name, std::to_string(standard));
    const char* const end = text.data() + text.size();
    long long value = 0;
    const auto [rest, problem] = std::from_chars(text.data(), end, value);
    if (problem != std::errc() || rest != end || value < least || value > most)
      refuse(name + " " + text + ": expected a number from " + std::to_string(least) + " to " + std::to_string(most));
    return value;
  }

  /// Ends the job on all ranks, which must all come here: rank 0 says why.
  [[noreturn]] void refuse(const std::string& why) const {
    if (rank == 0) std::fprintf(stderr, "%s\noptions: %s\n", why.c_str(), usage_.c_str());
    MPI_Finalize();
    std::exit(2);
  }

  /// Gathers `mine` of all ranks, one after the other, on rank 0.
  template <class Element>
  std::vector<Element> gathered(const std::vector<Element>& mine) const {
    long long total = static_cast<long long>(mine.size() * sizeof(Element));
    const int bytes = static_cast<int>(total);
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (total > std::numeric_limits<int>::max())
      refuse("the answer has " + std::to_string(total) + " bytes, more than are gathered here");
    std::vector<int> all(static_cast<std::size_t>(ranks));
    MPI_Gather(&bytes, 1, MPI_INT, all.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    const Shares parts(all);
    std::vector<Element> whole(static_cast<std::size_t>(rank == 0 ? parts.all() : 0) / sizeof(Element));
    MPI_Gatherv(mine.data(), bytes, MPI_BYTE, whole.data(), parts.counts(), parts.begins(), MPI_BYTE, 0,
                MPI_COMM_WORLD);
    return whole;
  }

  /// Writes the answer on rank 0, if --output was given.
  void write(const void* bytes, std::size_t count) const {
    const std::string file = option("--output", "");
    if (rank != 0 || file.empty()) return;
    std::ofstream out(file, std::ios::binary);
    out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
    if (!out.flush()) {
      std::fprintf(stderr, "--output %s: cannot be written\n", file.c_str());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }

  /// Rank 0 says whether the answer is right, and (on standard error, for it differs from run to run) where the time
  /// went; on all ranks: the exit status. `seconds`: in all; negative: since the beginning.
  int end(const std::string& told, bool right, double seconds = -1) const {
    double spent[3] = {seconds < 0 ? MPI_Wtime() - begin_ : seconds, exchange_seconds, operations}, sums[3];
    int all_right = right;
    MPI_Allreduce(MPI_IN_PLACE, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Reduce(spent, sums, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      std::printf("%s: %s\n", told.c_str(), all_right ? "right" : "WRONG");
      std::fprintf(stderr, "time %.9f s, in all-to-alls %.9f s (means of %d ranks): %.0f %%; %.0f operations\n",
                   sums[0] / ranks, sums[1] / ranks, ranks, sums[0] > 0 ? 100 * sums[1] / sums[0] : 0.0,
                   sums[2] / ranks);
    }
    return all_right ? 0 : 1;
  }

  int rank = 0, ranks = 1;

 private:
  std::vector<std::string> arguments_;
  std::string usage_;
  double begin_ = 0;
};
