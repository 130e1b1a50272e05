#include "mpi/type_reader.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "typemap/copy.hpp"
#include "typemap/type_tree.hpp"

namespace swapmeet {

namespace {

constexpr int deepest = 16;                                   ///< nested types that are read
constexpr std::size_t most_loops = std::size_t{1} << 16;      ///< loops of a type map, of 48 bytes each
constexpr std::int64_t most_numbers = std::int64_t{1} << 22;  ///< numbers in the arguments of a type

/// The envelope of a type: its constructor, and how many arguments of each kind that had.
struct Envelope {
  MPI_Count integers = 0, addresses = 0, large_counts = 0, types = 0;
  int combiner = MPI_UNDEFINED;

  explicit Envelope(MPI_Datatype type) {
#if MPI_VERSION >= 4
    PMPI_Type_get_envelope_c(type, &integers, &addresses, &large_counts, &types, &combiner);
#else
    int numbers[3] = {};
    PMPI_Type_get_envelope(type, &numbers[0], &numbers[1], &numbers[2], &combiner);
    integers = numbers[0], addresses = numbers[1], types = numbers[2];
#endif
  }

  bool predefined() const { return combiner == MPI_COMBINER_NAMED; }

  /// Whether it is a parametrised Fortran type, whose handle must not be freed.
  bool parametrised() const {
    return combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
           combiner == MPI_COMBINER_F90_INTEGER;
  }
};

/// The arguments of the constructor of a derived type. The destructor frees the handles that MPI returned.
class Contents {
 public:
  Contents(MPI_Datatype type, const Envelope& envelope)
      : large_(envelope.large_counts > 0), integers_(size(envelope.integers)), addresses_(size(envelope.addresses)),
        large_counts_(size(envelope.large_counts)), types_(size(envelope.types)) {
#if MPI_VERSION >= 4
    known_ = PMPI_Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.large_counts,
                                      envelope.types, integers_.data(), addresses_.data(), large_counts_.data(),
                                      types_.data()) == MPI_SUCCESS;
#else
    known_ = PMPI_Type_get_contents(type, static_cast<int>(envelope.integers), static_cast<int>(envelope.addresses),
                                    static_cast<int>(envelope.types), integers_.data(), addresses_.data(),
                                    types_.data()) == MPI_SUCCESS;
#endif
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  ~Contents() {
    for (MPI_Datatype& type : types_) {
      if (!known_) break;
      if (const Envelope envelope(type); !envelope.predefined() && !envelope.parametrised()) PMPI_Type_free(&type);
    }
  }

  bool known() const { return known_; }
  MPI_Datatype type(std::int64_t i) const { return types_[size(i)]; }

  // If a type was made with large counts, they hold all its numbers except those whose range is the same for every
  // variant of the constructor (dimensions and order of a subarray).
  bool large() const { return large_; }
  std::int64_t integer(std::int64_t i) const { return integers_[size(i)]; }
  std::int64_t number(std::int64_t i) const { return large_ ? large_counts_[size(i)] : integers_[size(i)]; }
  /// The i-th address. With large counts, addresses follow after `numbers` other numbers.
  std::int64_t address(std::int64_t i, std::int64_t numbers) const {
    return large_ ? large_counts_[size(numbers + i)] : addresses_[size(i)];
  }

 private:
  static std::size_t size(std::int64_t i) { return static_cast<std::size_t>(i); }

  bool large_, known_ = false;
  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Count> large_counts_;
  std::vector<MPI_Datatype> types_;
};

/// The number of bytes from one element of `type` to the next.
std::int64_t extent_of(MPI_Datatype type) {
  MPI_Count lower_bound = 0, extent = 0;
  PMPI_Type_get_extent_x(type, &lower_bound, &extent);
  return extent;
}

std::int64_t size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return size;
}

using Tree = std::optional<TypeTree>;  ///< nothing if the places of the bytes cannot be found

Tree tree_of(MPI_Datatype type, int depth);

/// The inner type of a derived type, which is repeated.
struct Element {
  TypeTree tree;
  std::int64_t extent;

  /// A block of `count` elements that begins at `place`, in bytes.
  TypeTree block(std::int64_t count, std::int64_t place) const {
    return TypeTree(tree).repeated(count, extent).moved(place);
  }
};

/// A sequence of blocks. Block i is block(i), if the places of its bytes can be found. A sequence with too many loops is
/// given up at once, before it takes more memory.
template <class Block>
Tree sequence_of(std::int64_t blocks, Block block) {
  TypeSequence all;
  for (std::int64_t i = 0; i < blocks; ++i) {
    Tree tree = block(i);
    if (!tree) return std::nullopt;
    all.add(*std::move(tree));
    if (all.loops() > most_loops) return std::nullopt;
  }
  return std::move(all).tree();
}

/// A sequence of blocks of equal elements: block i has count(i) elements and begins at place(i).
template <class Count, class Place>
Tree blocks_of(const Element& element, std::int64_t blocks, Count count, Place place) {
  return sequence_of(blocks, [&](std::int64_t i) -> Tree { return element.block(count(i), place(i)); });
}

Tree structure(const Contents& made, int depth) {
  const std::int64_t blocks = made.number(0);
  return sequence_of(blocks, [&](std::int64_t i) -> Tree {
    Tree tree = tree_of(made.type(i), depth);
    if (!tree) return std::nullopt;
    const Element element{*std::move(tree), extent_of(made.type(i))};
    return element.block(made.number(1 + i), made.address(i, 1 + blocks));
  });
}

Tree subarray(const Contents& made, Element element) {
  const std::int64_t dimensions = made.integer(0), order = made.integer(made.large() ? 1 : 1 + 3 * dimensions);
  // The size (0), the size of the part (1) or the first index of the part (2) in a dimension.
  const auto number = [&](int which, std::int64_t i) {
    return made.number((made.large() ? 0 : 1) + which * dimensions + i);
  };
  std::int64_t apart = element.extent, first = 0;
  TypeTree tree = std::move(element.tree);
  for (std::int64_t n = 0; n < dimensions; ++n) {
    const std::int64_t i = order == MPI_ORDER_C ? dimensions - 1 - n : n;
    tree = std::move(tree).repeated(number(1, i), apart);
    first += number(2, i) * apart;
    apart *= number(0, i);
  }
  return std::move(tree).moved(first);
}

/// The tree of a derived type, by its constructor and the arguments of that, whose order the standard defines (MPI 4.1,
/// 5.1.13).
Tree tree_of(const Contents& made, int combiner, int depth) {
  if (combiner == MPI_COMBINER_STRUCT) return structure(made, depth);
  Tree inner = tree_of(made.type(0), depth);
  if (!inner) return std::nullopt;
  const Element element{*std::move(inner), extent_of(made.type(0))};
  const auto number = [&](std::int64_t i) { return made.number(i); };
  const auto always = [&](std::int64_t value) { return [value](std::int64_t) { return value; }; };
  switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: return element.tree;
    case MPI_COMBINER_CONTIGUOUS: return element.block(number(0), 0);
    case MPI_COMBINER_VECTOR: return element.block(number(1), 0).repeated(number(0), number(2) * element.extent);
    case MPI_COMBINER_HVECTOR: return element.block(number(1), 0).repeated(number(0), made.address(0, 2));
    case MPI_COMBINER_INDEXED:
      return blocks_of(
          element, number(0), [&](std::int64_t i) { return number(1 + i); },
          [&](std::int64_t i) { return number(1 + number(0) + i) * element.extent; });
    case MPI_COMBINER_HINDEXED:
      return blocks_of(
          element, number(0), [&](std::int64_t i) { return number(1 + i); },
          [&](std::int64_t i) { return made.address(i, 1 + number(0)); });
    case MPI_COMBINER_INDEXED_BLOCK:
      return blocks_of(element, number(0), always(number(1)),
                       [&](std::int64_t i) { return number(2 + i) * element.extent; });
    case MPI_COMBINER_HINDEXED_BLOCK:
      return blocks_of(element, number(0), always(number(1)), [&](std::int64_t i) { return made.address(i, 2); });
    case MPI_COMBINER_SUBARRAY: return subarray(made, element);
    default: return std::nullopt;
  }
}

/// The tree of a predefined type that consists of a value and an int, such as MPI_DOUBLE_INT: these are the predefined
/// types whose extent differs from their size. The assumed places are verified with MPI_Pack.
Tree pair(MPI_Datatype type) {
  const std::int64_t size = size_of(type), value = size - static_cast<std::int64_t>(sizeof(int)),
                     extent = extent_of(type);
  const std::int64_t aligned = (value + alignof(int) - 1) / alignof(int) * alignof(int);
  if (value <= 0 || aligned + static_cast<std::int64_t>(sizeof(int)) > extent || extent > 64) return std::nullopt;
  TypeSequence both;
  both.add(TypeTree(value));
  both.add(TypeTree(sizeof(int)).moved(aligned));
  TypeTree tree = std::move(both).tree();
  char element[64], packed[64], ours[64];
  std::iota(std::begin(element), std::end(element), char{0});
  int position = 0;
  if (PMPI_Pack(element, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF) != MPI_SUCCESS || position != size)
    return std::nullopt;
  const auto map = tree.map(extent);
  gather({element, &map->view()}, 0, size, ours);
  if (!std::equal(ours, ours + size, packed)) return std::nullopt;
  return tree;
}

Tree tree_of(MPI_Datatype type, int depth) {
  const Envelope envelope(type);
  if (envelope.predefined() || envelope.parametrised()) {
    const std::int64_t size = size_of(type);
    return size == extent_of(type) ? TypeTree(size) : pair(type);
  }
  if (depth == deepest || envelope.integers + envelope.large_counts > most_numbers || envelope.types == 0)
    return std::nullopt;
  const Contents made(type, envelope);
  return made.known() ? tree_of(made, envelope.combiner, depth + 1) : std::nullopt;
}

}  // namespace

bool is_predefined(MPI_Datatype type) { return Envelope(type).predefined(); }

namespace {

std::unique_ptr<const TypeMap> read(MPI_Datatype type) {
  const Tree tree = tree_of(type, 0);
  if (!tree || tree->empty() || tree->loops() > most_loops) return nullptr;
  std::unique_ptr<const TypeMap> map = tree->map(extent_of(type));
  MPI_Count begin = 0, length = 0;  // the map is used only if it agrees with the size and true extent that MPI reports
  PMPI_Type_get_true_extent_x(type, &begin, &length);
  const TypeMapView& view = map->view();
  const bool right = view.size() == size_of(type) && view.begin == begin && view.end == begin + length;
  return right ? std::move(map) : nullptr;
}

}  // namespace

// A rank without memory for the map lets MPI pack. It must not fail, because the other ranks may already be in the
// exchange.
std::unique_ptr<const TypeMap> read_type_map(MPI_Datatype type) {
  try {
    return read(type);
  } catch (const std::bad_alloc&) { return nullptr; }
}

}  // namespace swapmeet
