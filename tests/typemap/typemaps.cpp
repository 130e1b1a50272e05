/// Draws datatypes, and compares what their type maps say with MPI_Pack and MPI_Unpack.
///
///   typemaps SEED TYPES
///   typemaps refused
///
/// One rank. Prints how many types were right, wrong, and not understood; exit status 1 if any was wrong. The second
/// form prints how much memory it takes to refuse large types that have too many loops.
#include <mpi.h>

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "mpi/report.hpp"
#include "mpi/type_reader.hpp"
#include "random_types.hpp"
#include "typemap/copy.hpp"

namespace swapmeet {
void say(const std::string& what) { std::puts(what.c_str()); }
}  // namespace swapmeet

namespace {

/// Bytes that C++ code has allocated: those in use, and the most that were.
std::size_t used_bytes = 0, most_used_bytes = 0;

}  // namespace

// Not inlined: the compiler would warn that memory of malloc() is deleted.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (!memory) throw std::bad_alloc();
  used_bytes += malloc_usable_size(memory);
  most_used_bytes = std::max(most_used_bytes, used_bytes);
  return memory;
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  used_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace {

using Bytes = std::vector<char>;
constexpr int count = 3;  ///< elements

/// Elements of a type in memory of their own, with room on both sides.
struct Elements {
  MPI_Datatype type;
  std::unique_ptr<const swapmeet::TypeMap> map;
  int size = 0;      ///< of all
  MPI_Aint low = 0;  ///< the first byte that belongs to them, from the address on
  Bytes memory;

  explicit Elements(MPI_Datatype made) : type(made), map(swapmeet::read_type_map(made)) {
    MPI_Aint lower = 0, span = 0, bound = 0, extent = 0;
    MPI_Type_get_true_extent(type, &lower, &span);
    MPI_Type_get_extent(type, &bound, &extent);
    MPI_Type_size(type, &size);
    size *= count;
    const MPI_Aint over = (count - 1) * extent;
    low = lower + std::min<MPI_Aint>(0, over) - 64;
    memory.resize(static_cast<std::size_t>(span + std::abs(over) + 128));
  }
  char* address() { return memory.data() - low; }
};

void fill(Bytes& bytes, Draw& draw) {
  for (char& byte : bytes) byte = static_cast<char>(draw.number(0, 255));
}

Bytes packed(Elements& one) {
  Bytes all(static_cast<std::size_t>(one.size));
  int position = 0;
  MPI_Pack(one.address(), count, one.type, all.data(), one.size, &position, MPI_COMM_SELF);
  return all;
}

/// Calls use(first, bytes) for pieces of `size` bytes.
template <class Use>
void in_pieces(int size, Draw& draw, Use use) {
  const int most = draw.number(1, 3) == 1 ? 3 : draw.number(1, size);
  for (int first = 0; first < size;) {
    const int bytes = std::min(size - first, draw.number(1, most));
    use(first, bytes);
    first += bytes;
  }
}

bool gathers(Elements& one, Draw& draw) {
  fill(one.memory, draw);
  const Bytes right = packed(one);
  Bytes ours(right.size() + 1, 'x');
  in_pieces(one.size, draw, [&](int first, int bytes) {
    swapmeet::gather({one.address(), &one.map->view()}, first, bytes, ours.data() + first);
  });
  return ours.back() == 'x' && std::memcmp(ours.data(), right.data(), right.size()) == 0;
}

bool scatters(Elements& one, Draw& draw) {
  Bytes data(static_cast<std::size_t>(one.size));
  fill(data, draw);
  std::memset(one.memory.data(), 0x5a, one.memory.size());
  int position = 0;
  MPI_Unpack(data.data(), one.size, &position, one.address(), count, one.type, MPI_COMM_SELF);
  const Bytes right = std::exchange(one.memory, Bytes(one.memory.size(), 0x5a));
  in_pieces(one.size, draw, [&](int first, int bytes) {
    swapmeet::scatter({one.address(), &one.map->view(), draw.chance(50)}, first, bytes, data.data() + first);
  });
  return one.memory == right;
}

/// From one type to another, as far as both have data.
bool copies(Elements& from, Elements& to, Draw& draw) {
  const int bytes = std::min(from.size, to.size) / count * count;
  fill(from.memory, draw);
  const Bytes data = packed(from);
  std::memset(to.memory.data(), 0x5a, to.memory.size());
  swapmeet::scatter({to.address(), &to.map->view()}, 0, bytes, data.data());
  const Bytes right = std::exchange(to.memory, Bytes(to.memory.size(), 0x5a));
  in_pieces(bytes, draw, [&](int first, int some) {
    swapmeet::copy_elements({from.address(), &from.map->view()}, first, {to.address(), &to.map->view()}, first, some);
  });
  return to.memory == right;
}

/// Those of few loops that are alike in all but how they were made have the same map.
int canonical() {
  int wrong = 0;
  const auto loops = [&](MPI_Datatype type, std::uint64_t expected, const char* name) {
    const auto map = swapmeet::read_type_map(type);
    if (!map || map->view().loop_count != expected)
      std::printf("%s: %d loops\n", name, map ? static_cast<int>(map->view().loop_count) : 0), wrong = 1;
    MPI_Type_free(&type);
  };
  MPI_Datatype type, inner;
  MPI_Type_contiguous(7, MPI_DOUBLE, &type), loops(type, 1, "contiguous");
  MPI_Type_vector(5, 2, 3, MPI_INT, &type), loops(type, 1, "vector");
  const int places[] = {0, 3, 6, 9, 12}, ones[] = {1, 1, 1, 1, 1};
  MPI_Type_create_indexed_block(5, 1, places, MPI_INT, &type), loops(type, 1, "regular indexed block");
  MPI_Type_indexed(5, ones, places, MPI_INT, &type), loops(type, 1, "regular indexed");
  MPI_Type_vector(4, 1, 2, MPI_INT, &inner), MPI_Type_create_hvector(3, 1, 32, inner, &type);
  loops(type, 1, "vector that goes on"), MPI_Type_free(&inner);
  const int whole[] = {8, 8, 8}, part[] = {4, 4, 4}, first[] = {1, 2, 3}, slab[] = {8, 4, 8}, zero[] = {0, 4, 0};
  MPI_Type_create_subarray(3, whole, part, first, MPI_ORDER_C, MPI_DOUBLE, &type), loops(type, 2, "box");
  MPI_Type_create_subarray(3, whole, slab, zero, MPI_ORDER_C, MPI_DOUBLE, &type), loops(type, 1, "slab");
  return wrong;
}

/// Reads a type that has too many loops. Returns whether it was refused.
bool refuses(MPI_Datatype type, const char* name) {
  const std::size_t before = most_used_bytes = used_bytes;
  const bool refused = !swapmeet::read_type_map(type);
  std::printf("typemaps: %s: %s, %zu bytes\n", name, refused ? "refused" : "read", most_used_bytes - before);
  MPI_Type_free(&type);
  return refused;
}

/// Types of 2^19 blocks, no two of which are parts of one loop.
bool refuses_irregular_types() {
  constexpr int blocks = 1 << 19;
  std::vector<int> lengths(blocks), places(blocks);
  std::vector<MPI_Aint> addresses(blocks);
  const std::vector<MPI_Datatype> types(blocks, MPI_INT);
  for (std::size_t i = 0; i < blocks; ++i) {
    lengths[i] = 1 + static_cast<int>(i % 2);
    places[i] = static_cast<int>(4 * i);
    addresses[i] = static_cast<MPI_Aint>(16 * i);
  }
  MPI_Datatype type;
  MPI_Type_indexed(blocks, lengths.data(), places.data(), MPI_INT, &type);
  const bool indexed = refuses(type, "indexed");
  MPI_Type_create_struct(blocks, lengths.data(), addresses.data(), types.data(), &type);
  return refuses(type, "structure") && indexed;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc == 2 && std::strcmp(argv[1], "refused") == 0 && swapmeet::find_mpi()) {
    const bool refused = refuses_irregular_types();
    MPI_Finalize();
    return !refused;
  }
  if (argc != 3 || !swapmeet::find_mpi()) return std::puts("usage: typemaps SEED TYPES, or typemaps refused"), 2;
  Draw draw(std::strtoull(argv[1], nullptr, 10));
  int right = 0, wrong = canonical(), unknown = 0;
  for (int left = std::atoi(argv[2]); left > 0; --left) {
    MPI_Datatype sent = random_type(draw, draw.number(1, 4)), received = random_type(draw, draw.number(1, 4));
    MPI_Type_commit(&sent), MPI_Type_commit(&received);
    Elements out(sent), in(received);
    const bool known = (out.map || out.size == 0) && (in.map || in.size == 0);
    unknown += !known;
    if (known && out.size > 0 && in.size > 0) {
      const bool good = gathers(out, draw) && gathers(in, draw) && scatters(in, draw) && copies(out, in, draw);
      good ? ++right : ++wrong;
    }
    MPI_Type_free(&sent), MPI_Type_free(&received);
  }
  std::printf("typemaps: %d right, %d wrong, %d not understood\n", right, wrong, unknown);
  MPI_Finalize();
  return wrong > 0;
}
