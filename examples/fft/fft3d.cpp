/// A parallel Fourier transform in three dimensions on pencils: each rank holds one axis whole and a part of the two
/// others, as equal as can be, so that blocks differ (MPI_Alltoallv). Compared with FFTW's own transform of the whole
/// grid.
///
///   x / rows, y / columns, z        transform along z; exchange among the ranks of a row
///   x / rows, y, z / columns        transform along y; exchange among the ranks of a column
///   x, y / rows, z / columns        transform along x
///
/// With --parts K each exchange is made in K parts, cut along the axis that all its ranks share: a part is on its way while
/// the next is transformed, if it was started by a call that does not block (--calls).
///
/// Source:  fft, section 4 (distributed FFTs); L. Dalcin et al., J. Parallel Distrib. Comput. 128 (2019) 137-150
#include <fftw3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <optional>

#include "../exchange/program.hpp"
#include "../exchange/random.hpp"

namespace {

using Complex = std::complex<double>;
using Triple = std::array<int, 3>;

fftw_complex* raw(Complex* numbers) { return reinterpret_cast<fftw_complex*>(numbers); }

/// A part of the grid, kept with z fastest.
struct Box {
  Triple begin{}, end{};

  int extent(int axis) const { return std::max(0, end[axis] - begin[axis]); }
  int size() const { return extent(0) * extent(1) * extent(2); }
  int index(int x, int y, int z) const {
    return ((x - begin[0]) * extent(1) + y - begin[1]) * extent(2) + z - begin[2];
  }

  Box common(const Box& other) const {
    Box both;
    for (int axis = 0; axis < 3; ++axis) {
      both.begin[axis] = std::max(begin[axis], other.begin[axis]);
      both.end[axis] = std::min(end[axis], other.end[axis]);
    }
    return both;
  }

  /// Calls use(x, y, z) for all points, z fastest.
  template <class Use>
  void for_each(Use use) const {
    for (int x = begin[0]; x < end[0]; ++x)
      for (int y = begin[1]; y < end[1]; ++y)
        for (int z = begin[2]; z < end[2]; ++z) use(x, y, z);
  }
};

/// Ranks as a matrix of rows and columns; who has which part of the grid.
struct Pencils {
  Triple grid;
  int rows, columns;

  /// The part of rank (row, column) while `axis` is whole; `others`: which axes are shared out by rows and by columns.
  Box box(int row, int column, int by_rows, int by_columns) const {
    Box all{{0, 0, 0}, grid};
    const auto share = [&](int axis, int part, int parts) {
      all.begin[axis] = static_cast<int>(static_cast<long long>(grid[axis]) * part / parts);
      all.end[axis] = static_cast<int>(static_cast<long long>(grid[axis]) * (part + 1) / parts);
    };
    share(by_rows, row, rows);
    share(by_columns, column, columns);
    return all;
  }
};

/// Transforms the lines of a part of a box along an axis, which it has whole.
void transform_lines(const Box& box, const Box& part, int axis, std::vector<Complex>& numbers) {
  if (part.size() == 0) return;
  const Triple strides{box.extent(1) * box.extent(2), box.extent(2), 1};
  const auto dimension = [&](int a) { return fftw_iodim{part.extent(a), strides[a], strides[a]}; };
  const fftw_iodim line = dimension(axis), others[2] = {dimension(axis == 0 ? 1 : 0), dimension(axis == 2 ? 1 : 2)};
  fftw_complex* const first = raw(numbers.data() + box.index(part.begin[0], part.begin[1], part.begin[2]));
  const fftw_plan plan = fftw_plan_guru_dft(1, &line, 2, others, first, first, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  computed(5.0 * part.size() * std::log2(part.extent(axis)));  // floating-point operations, of the usual count
}

/// From one way of sharing the grid out to another. Boxes are those of the ranks of a communicator.
class Redistribution {
 public:
  Redistribution(const std::vector<Box>& before, const std::vector<Box>& after, MPI_Comm comm, Calls calls) {
    int me = 0;
    MPI_Comm_rank(comm, &me);
    from_ = before[static_cast<std::size_t>(me)];
    to_ = after[static_cast<std::size_t>(me)];
    for (const Box& box : after) leaving_.push_back(from_.common(box));
    for (const Box& box : before) coming_.push_back(to_.common(box));
    out_.resize(static_cast<std::size_t>(from_.size()));
    in_.resize(static_cast<std::size_t>(to_.size()));
    exchange_ = std::make_unique<Exchange>(out_.data(), counts(leaving_), in_.data(), counts(coming_),
                                           MPI_C_DOUBLE_COMPLEX, comm, calls);
  }

  const Box& from() const { return from_; }
  const Box& to() const { return to_; }

  /// `box`: where the numbers lie, of which this is a part.
  void start(const Box& box, const std::vector<Complex>& numbers) {
    Complex* next = out_.data();
    for (const Box& block : leaving_)
      block.for_each([&](int x, int y, int z) { *next++ = numbers[static_cast<std::size_t>(box.index(x, y, z))]; });
    exchange_->start();
  }

  void finish(const Box& box, std::vector<Complex>& numbers) {
    exchange_->wait();
    const Complex* come = in_.data();
    for (const Box& block : coming_)
      block.for_each([&](int x, int y, int z) { numbers[static_cast<std::size_t>(box.index(x, y, z))] = *come++; });
  }

 private:
  static Shares counts(const std::vector<Box>& boxes) {
    std::vector<int> counts;
    for (const Box& box : boxes) counts.push_back(box.size());
    return Shares(counts);
  }

  Box from_, to_;
  std::vector<Box> leaving_, coming_;
  std::vector<Complex> out_, in_;
  std::unique_ptr<Exchange> exchange_;
};

/// A transform along an axis and the redistribution after it, in parts: while one is on its way, the next is transformed.
class Stage {
 public:
  /// `across`: the axis along which the parts are cut, of which all ranks of `comm` have the same share.
  Stage(const std::vector<Box>& before, const std::vector<Box>& after, int axis, int across, int parts, MPI_Comm comm,
        Calls calls)
      : axis_(axis) {
    int me = 0;
    MPI_Comm_rank(comm, &me);
    from_ = before[static_cast<std::size_t>(me)];
    to_ = after[static_cast<std::size_t>(me)];
    for (int part = 0; part < parts; ++part) {
      const auto cut = [&](std::vector<Box> boxes) {
        for (Box& box : boxes) {
          const int begin = box.begin[across], extent = box.extent(across);
          box.begin[across] = begin + extent * part / parts;
          box.end[across] = begin + extent * (part + 1) / parts;
        }
        return boxes;
      };
      parts_.push_back(std::make_unique<Redistribution>(cut(before), cut(after), comm, calls));
    }
  }

  /// `then`: the axis along which each part is transformed after it has come, if it is whole there.
  void run(std::vector<Complex>& before, std::vector<Complex>& after, std::optional<int> then = std::nullopt) {
    for (const auto& part : parts_) {
      transform_lines(from_, part->from(), axis_, before);
      part->start(from_, before);
    }
    for (const auto& part : parts_) {
      part->finish(to_, after);
      if (then) transform_lines(to_, part->to(), *then, after);
    }
  }

 private:
  int axis_;
  Box from_, to_;
  std::vector<std::unique_ptr<Redistribution>> parts_;
};

Complex value(const Triple& grid, int x, int y, int z) {
  const std::uint64_t i = (static_cast<std::uint64_t>(x) * grid[1] + y) * grid[2] + z;
  return {random_unit(3, i) - 0.5, random_unit(4, i) - 0.5};
}

/// The whole grid, out of the parts of all ranks as they were gathered.
std::vector<Complex> assembled(const Pencils& pencils, const std::vector<Complex>& parts) {
  std::vector<Complex> whole(parts.size());
  const Box all{{0, 0, 0}, pencils.grid};
  auto next = parts.begin();
  for (int row = 0; row < pencils.rows; ++row)
    for (int column = 0; column < pencils.columns; ++column)
      pencils.box(row, column, 1, 2).for_each([&](int x, int y, int z) {
        whole[static_cast<std::size_t>(all.index(x, y, z))] = *next++;
      });
  return whole;
}

double error_of(const Triple& grid, const std::vector<Complex>& found) {
  const Box all{{0, 0, 0}, grid};
  std::vector<Complex> numbers;
  all.for_each([&](int x, int y, int z) { numbers.push_back(value(grid, x, y, z)); });
  const fftw_plan whole = fftw_plan_dft_3d(grid[0], grid[1], grid[2], raw(numbers.data()), raw(numbers.data()),
                                           FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(whole);
  fftw_destroy_plan(whole);
  double most = 0, difference = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    most = std::max(most, std::abs(numbers[i]));
    difference = std::max(difference, std::abs(numbers[i] - found[i]));
  }
  return difference / most;
}

/// The factors of the ranks that are nearest to each other, the larger one first.
std::pair<int, int> rows_and_columns(int ranks) {
  int columns = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
  while (ranks % columns != 0) --columns;
  return {ranks / columns, columns};
}

Calls calls_of(const Program& program) {
  const std::string name = program.option("--calls", "blocking");
  if (name == "nonblocking") return Calls::nonblocking;
  if (name == "persistent" && persistent_calls) return Calls::persistent;
  if (name != "blocking")
    program.refuse("--calls " + name + ": expected blocking, nonblocking or, where MPI has it, persistent");
  return Calls::blocking;
}

}  // namespace

int main(int argc, char** argv) {
  const Program program(argc, argv,
                        "--x POINTS --y POINTS --z POINTS --parts PARTS --calls blocking|nonblocking|persistent "
                        "--repeat TIMES --check 0|1 --output FILE");
  const bool check = program.number("--check", 1, 0, 1) != 0;
  const long long repeat = program.number("--repeat", 1, 1, 1LL << 40);
  const auto points = [&](const char* name, int standard) {
    return static_cast<int>(program.number(name, standard, 1, 2048));
  };
  const int cuts = static_cast<int>(program.number("--parts", 1, 1, 64));
  const Calls calls = calls_of(program);
  const auto [rows, columns] = rows_and_columns(program.ranks);
  const Pencils pencils{{points("--x", 20), points("--y", 18), points("--z", 15)}, rows, columns};
  if (1LL * pencils.grid[0] * pencils.grid[1] * pencils.grid[2] > 1 << 26) program.refuse("more than 2^26 points");
  const int row = program.rank / columns, column = program.rank % columns;
  MPI_Comm in_row, in_column;
  MPI_Comm_split(MPI_COMM_WORLD, row, column, &in_row);
  MPI_Comm_split(MPI_COMM_WORLD, column, row, &in_column);
  // of the ranks of the row before and after, of the column before and after
  std::vector<Box> first, second, third, fourth;
  for (int c = 0; c < columns; ++c)
    first.push_back(pencils.box(row, c, 0, 1)), second.push_back(pencils.box(row, c, 0, 2));
  for (int r = 0; r < rows; ++r)
    third.push_back(pencils.box(r, column, 0, 2)), fourth.push_back(pencils.box(r, column, 1, 2));
  const Box by_z = pencils.box(row, column, 0, 1), by_y = pencils.box(row, column, 0, 2),
            by_x = pencils.box(row, column, 1, 2);
  std::vector<Complex> along_z, along_y(static_cast<std::size_t>(by_y.size())),
      along_x(static_cast<std::size_t>(by_x.size()));
  double seconds = 0;
  {
    Stage z_to_y(first, second, 2, 0, cuts, in_row, calls), y_to_x(third, fourth, 1, 2, cuts, in_column, calls);
    for (long long i = repeat; i > 0; --i) {
      along_z.clear();
      by_z.for_each([&](int x, int y, int z) { along_z.push_back(value(pencils.grid, x, y, z)); });
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      z_to_y.run(along_z, along_y);
      y_to_x.run(along_y, along_x, 0);
      seconds += MPI_Wtime() - start;
    }
  }
  MPI_Comm_free(&in_row);
  MPI_Comm_free(&in_column);
  const std::vector<Complex> parts = program.gathered(along_x);
  const std::vector<Complex> found = program.rank == 0 ? assembled(pencils, parts) : parts;
  program.write(found.data(), found.size() * sizeof(Complex));
  const bool right = program.rank != 0 || !check || error_of(pencils.grid, found) < 1e-14;
  const auto name = [&](int axis) { return std::to_string(pencils.grid[static_cast<std::size_t>(axis)]); };
  return program.end("fft3d of " + name(0) + " x " + name(1) + " x " + name(2), right, seconds);
}
