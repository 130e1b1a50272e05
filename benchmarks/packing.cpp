/// How fast data of derived types are packed and unpacked: by MPI_Pack and MPI_Unpack, and by our own copies, in pieces as
/// large as a cell of shared memory.
///
///   packing [BYTES]        of data; default 1 MiB
///
/// One rank. Prints a table in Markdown: GB/s, of the shortest of 60 times each.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mpi/report.hpp"
#include "mpi/type_reader.hpp"
#include "typemap/copy.hpp"

namespace swapmeet {
void say(const std::string& what) { std::puts(what.c_str()); }
}  // namespace swapmeet

namespace {

constexpr int piece_bytes = 16 << 10, repetitions = 60;

template <class Body>
double shortest(Body body) {
  double least = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    const double begin = MPI_Wtime();
    body();
    least = std::min(least, MPI_Wtime() - begin);
  }
  return least;
}

template <class Body>
void in_pieces(int bytes, Body body) {
  for (int first = 0; first < bytes; first += piece_bytes) body(first, std::min(piece_bytes, bytes - first));
}

/// Of `count` elements of a type, which it frees.
void measure(const std::string& name, MPI_Datatype type, int count = 1) {
  MPI_Type_commit(&type);
  MPI_Aint lower = 0, extent = 0;
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  bytes *= count;
  const auto map = swapmeet::read_type_map(type);
  MPI_Type_get_true_extent(type, &lower, &extent);
  std::vector<char> memory(static_cast<std::size_t>(lower + extent) + static_cast<std::size_t>(count) * 64, 1);
  std::vector<char> packed(static_cast<std::size_t>(bytes), 1);
  const swapmeet::Elements elements{memory.data(), &map->view()};
  int position = 0;
  const double times[] = {
      shortest([&] { MPI_Pack(memory.data(), count, type, packed.data(), bytes, &(position = 0), MPI_COMM_SELF); }),
      shortest([&] {
        in_pieces(bytes, [&](int first, int some) { gather(elements, first, some, packed.data() + first); });
      }),
      shortest([&] { MPI_Unpack(packed.data(), bytes, &(position = 0), memory.data(), count, type, MPI_COMM_SELF); }),
      shortest([&] {
        in_pieces(bytes, [&](int first, int some) { scatter(elements, first, some, packed.data() + first); });
      })};
  std::printf("| %s |", name.c_str());
  for (const double time : times) std::printf(" %.1f |", bytes / time / 1e9);
  std::puts("");
  MPI_Type_free(&type);
}

MPI_Datatype boxes(std::vector<int> whole, std::vector<int> part, std::vector<int> first) {
  MPI_Datatype type;
  MPI_Type_create_subarray(static_cast<int>(whole.size()), whole.data(), part.data(), first.data(), MPI_ORDER_C,
                           MPI_DOUBLE, &type);
  return type;
}

/// Of blocks of 1 to 7 doubles, with gaps as long as they are.
MPI_Datatype indexed(int doubles) {
  std::vector<int> lengths, places;
  for (int left = doubles, at = 0; left > 0; left -= lengths.back(), at += 2 * lengths.back()) {
    lengths.push_back(std::min<int>(left, 1 + static_cast<int>(lengths.size()) % 7));
    places.push_back(at);
  }
  MPI_Datatype type;
  MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_DOUBLE, &type);
  return type;
}

MPI_Datatype resized(MPI_Datatype inner, MPI_Aint extent) {
  MPI_Datatype type;
  MPI_Type_create_resized(inner, 0, extent, &type);
  MPI_Type_free(&inner);
  return type;
}

void measure_all(int doubles) {
  MPI_Datatype type;
  for (const int length : {1, 2, 4, 16, 64, 128, 512}) {
    MPI_Type_vector(doubles / length, length, 2 * length, MPI_DOUBLE, &type);
    measure("vector, " + std::to_string(8 * length) + " B of every " + std::to_string(16 * length), type);
  }
  measure("2-D subarray, rows of 256 B", boxes({doubles / 32, 64}, {doubles / 32, 32}, {0, 16}));
  measure("3-D subarray, rows of 256 B", boxes({doubles / 128, 8, 64}, {doubles / 128, 4, 32}, {0, 2, 16}));
  measure("3-D subarray, planes of 64 B", boxes({doubles / 8, 4, 4}, {doubles / 8, 2, 4}, {0, 1, 0}));
  MPI_Type_vector(doubles / 32, 1, 32, MPI_DOUBLE, &type);
  measure("columns of a matrix", resized(type, sizeof(double)), 32);
  measure("indexed, 8 to 56 B", indexed(doubles));
  std::vector<int> places;
  for (int i = 0; i < doubles / 16; ++i) places.push_back(32 * i + i % 3);
  MPI_Type_create_indexed_block(doubles / 16, 16, places.data(), MPI_DOUBLE, &type);
  measure("indexed block, 128 B", type);
  const int lengths[] = {2, 4};
  const MPI_Aint offsets[] = {0, 16};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(2, lengths, offsets, types, &type);
  MPI_Datatype many;
  type = resized(type, 40);
  MPI_Type_contiguous(doubles / 4, type, &many), MPI_Type_free(&type);
  measure("struct, 32 B of every 40", many);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int bytes = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  if (bytes < (1 << 14) || !swapmeet::find_mpi()) return std::puts("usage: packing [BYTES], from 16384 on"), 2;
  std::puts("| type | MPI_Pack | ours | MPI_Unpack | ours |\n|---|---|---|---|---|");
  measure_all(bytes / static_cast<int>(sizeof(double)));
  MPI_Finalize();
  return 0;
}
