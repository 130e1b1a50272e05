/// A parallel Fourier transform in one dimension: N = n*n complex numbers as a matrix of n rows, shared out by rows,
/// and three transposes, each an all-to-all of equal blocks. Compared with FFTW's own transform of all numbers.
///
///   x[n*j + k], j = row           transpose, transform rows (over j)     c = column that was transformed to, k = row
///   times exp(-2 pi i k c / N)    transpose, transform rows (over k)     row c, column d
///   result X[c + n*d]             transpose                              row d, column c: in order
///
/// With n = P*m a block is m*m numbers: m = 1 and m = 8 are the sizes of the paper.
/// Source:  tra, section VI; the algorithm: D. H. Bailey, FFTs in external or hierarchical memory, J. Supercomput. 4
/// (1990)
#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "../exchange/program.hpp"
#include "../exchange/random.hpp"

namespace {

using Complex = std::complex<double>;
constexpr double pi = 3.141592653589793238462643;

fftw_complex* raw(Complex* numbers) { return reinterpret_cast<fftw_complex*>(numbers); }

/// The rows of this rank of a square matrix.
class Transform {
 public:
  Transform(int rows_each, int rank, int ranks)
      : rows(static_cast<std::size_t>(rows_each) * rows_each * ranks), m_(rows_each), ranks_(ranks),
        n_(rows_each * ranks), first_(rank * rows_each), packed_(rows.size()), landed_(rows.size()),
        exchange_(packed_.data(), landed_.data(), m_ * m_, MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD),
        plan_(fftw_plan_many_dft(1, &n_, m_, raw(rows.data()), nullptr, 1, n_, raw(rows.data()), nullptr, 1, n_,
                                 FFTW_FORWARD, FFTW_ESTIMATE)) {}
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
  ~Transform() { fftw_destroy_plan(plan_); }

  void run() {
    transpose();
    transform_rows();
    for (int k = 0; k < m_; ++k)
      for (int c = 0; c < n_; ++c) at(k, c) *= std::polar(1.0, -2 * pi * (double(first_ + k) * c / (double(n_) * n_)));
    transpose();
    transform_rows();
    transpose();
  }

  std::vector<Complex> rows;

 private:
  Complex& at(int row, int column) { return rows[static_cast<std::size_t>(row) * n_ + column]; }

  /// An operation is a floating-point one, of the usual count; the factors between are not counted.
  void transform_rows() {
    fftw_execute(plan_);
    computed(5.0 * m_ * n_ * std::log2(n_));
  }

  /// Blocks are packed as they are read at their end: column by column.
  void transpose() {
    Complex* next = packed_.data();
    for (int rank = 0; rank < ranks_; ++rank)
      for (int column = 0; column < m_; ++column)
        for (int row = 0; row < m_; ++row) *next++ = at(row, rank * m_ + column);
    exchange_.run();
    const Complex* come = landed_.data();
    for (int rank = 0; rank < ranks_; ++rank)
      for (int row = 0; row < m_; ++row)
        for (int column = 0; column < m_; ++column) at(row, rank * m_ + column) = *come++;
  }

  int m_, ranks_, n_, first_;
  std::vector<Complex> packed_, landed_;
  Exchange exchange_;
  fftw_plan plan_;
};

/// The largest difference from FFTW's transform, over the largest number of that.
double error_of(const std::vector<Complex>& found, std::vector<Complex> numbers) {
  const fftw_plan whole = fftw_plan_dft_1d(static_cast<int>(numbers.size()), raw(numbers.data()), raw(numbers.data()),
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

}  // namespace

int main(int argc, char** argv) {
  const Program program(argc, argv, "--rows ROWS-OF-EACH-RANK --repeat TIMES --check 0|1 --output FILE");
  const bool check = program.number("--check", 1, 0, 1) != 0;
  const int m = static_cast<int>(program.number("--rows", 8, 1, 8192));
  const long long repeat = program.number("--repeat", 1, 1, 1LL << 40);
  if (m * program.ranks > 8192) program.refuse("--rows: with so many ranks there are more than 2^26 numbers");
  double seconds = 0;
  std::vector<Complex> mine, found;
  {
    Transform transform(m, program.rank, program.ranks);
    const std::size_t local = transform.rows.size(), begin = local * static_cast<std::size_t>(program.rank);
    for (std::size_t i = 0; i < local; ++i)
      mine.push_back({random_unit(1, begin + i) - 0.5, random_unit(2, begin + i) - 0.5});
    for (long long i = 0; i < repeat; ++i) {
      transform.rows.assign(mine.begin(), mine.end());
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      transform.run();
      seconds += MPI_Wtime() - start;
    }
    found = program.gathered(transform.rows);
  }
  program.write(found.data(), found.size() * sizeof(Complex));
  const std::vector<Complex> all = program.gathered(mine);
  const bool right = program.rank != 0 || !check || error_of(found, all) < 1e-14;
  return program.end("fft1d of " + std::to_string(static_cast<long long>(m) * m * program.ranks * program.ranks), right,
                     seconds);
}
