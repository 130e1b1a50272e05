#include "mpi/datatype.hpp"

#include <optional>

namespace swapmeet {

namespace {

/// The bytes of the data of one element, relative to its address, where they follow one another in order.
struct ByteRun {
  MPI_Aint begin = 0;
  std::int64_t bytes = 0;
};

/// What a type was made by, and of how many numbers. Large counts: MPI refuses to say more of these in the usual way.
struct Envelope {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_UNDEFINED;
  bool large = false;

  explicit Envelope(MPI_Datatype type) {
#if MPI_VERSION >= 4
    MPI_Count numbers = 0, places = 0, large_counts = 0, parts = 0;
    PMPI_Type_get_envelope_c(type, &numbers, &places, &large_counts, &parts, &combiner);
    large = large_counts > 0 || numbers > INT_MAX || places > INT_MAX || parts > INT_MAX;
    if (!large)
      integers = static_cast<int>(numbers), addresses = static_cast<int>(places), types = static_cast<int>(parts);
#else
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
#endif
  }

  bool predefined() const { return combiner == MPI_COMBINER_NAMED; }

  /// Whether handles of it that MPI_Type_get_contents gives are to be freed.
  bool freed() const {
    return !predefined() && combiner != MPI_COMBINER_F90_REAL && combiner != MPI_COMBINER_F90_COMPLEX &&
           combiner != MPI_COMBINER_F90_INTEGER;
  }
};

std::optional<ByteRun> run_of(MPI_Datatype type, int depth);

/// Appends elements of a type to a run.
class Joined {
 public:
  /// `count` elements from `place` on. False: they do not continue it.
  bool add(const std::optional<ByteRun>& element, MPI_Aint extent, MPI_Aint place, std::int64_t count) {
    if (!element) return false;
    if (count == 0 || element->bytes == 0) return true;
    if (count > 1 && extent != element->bytes) return false;
    const MPI_Aint begin = place + element->begin;
    if (run_.bytes == 0) run_.begin = begin;
    else if (begin != run_.begin + run_.bytes) return false;
    run_.bytes += count * element->bytes;
    return true;
  }

  std::optional<ByteRun> run() const { return run_; }

 private:
  ByteRun run_;
};

/// How a derived type was made. Frees what MPI gives for it.
class Contents {
 public:
  Contents(MPI_Datatype type, const Envelope& envelope)
      : integers_(static_cast<std::size_t>(envelope.integers)),
        addresses_(static_cast<std::size_t>(envelope.addresses)), types_(static_cast<std::size_t>(envelope.types)) {
    known_ = PMPI_Type_get_contents(type, envelope.integers, envelope.addresses, envelope.types, integers_.data(),
                                    addresses_.data(), types_.data()) == MPI_SUCCESS;
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  ~Contents() {
    for (MPI_Datatype& type : types_) {
      if (known_ && Envelope(type).freed()) PMPI_Type_free(&type);
    }
  }

  bool known() const { return known_; }
  int integer(int i) const { return integers_[static_cast<std::size_t>(i)]; }
  MPI_Aint address(int i) const { return addresses_[static_cast<std::size_t>(i)]; }
  MPI_Datatype type(int i) const { return types_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Datatype> types_;
  bool known_ = false;
};

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower_bound = 0, extent = 0;
  PMPI_Type_get_extent(type, &lower_bound, &extent);
  return extent;
}

/// The run of a type that was made of `made`, by `combiner`. The standard says where its arguments are (MPI 4.1, 5.1.13).
std::optional<ByteRun> run_of(const Contents& made, int combiner, int depth) {
  Joined joined;
  if (combiner == MPI_COMBINER_STRUCT) {
    for (int i = 0; i < made.integer(0); ++i)
      if (!joined.add(run_of(made.type(i), depth), extent_of(made.type(i)), made.address(i), made.integer(1 + i)))
        return std::nullopt;
    return joined.run();
  }
  const MPI_Aint extent = extent_of(made.type(0));
  const std::optional<ByteRun> element = run_of(made.type(0), depth);
  const int blocks = combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_RESIZED ? 1 : made.integer(0);
  for (int i = 0; i < blocks; ++i) {
    MPI_Aint place = 0;
    std::int64_t count = 1;
    switch (combiner) {
      case MPI_COMBINER_DUP:
      case MPI_COMBINER_RESIZED: break;
      case MPI_COMBINER_CONTIGUOUS: place = i * extent; break;
      case MPI_COMBINER_VECTOR: place = MPI_Aint{i} * made.integer(2) * extent, count = made.integer(1); break;
      case MPI_COMBINER_HVECTOR: place = i * made.address(0), count = made.integer(1); break;
      case MPI_COMBINER_INDEXED: place = made.integer(1 + blocks + i) * extent, count = made.integer(1 + i); break;
      case MPI_COMBINER_HINDEXED: place = made.address(i), count = made.integer(1 + i); break;
      case MPI_COMBINER_INDEXED_BLOCK: place = made.integer(2 + i) * extent, count = made.integer(1); break;
      case MPI_COMBINER_HINDEXED_BLOCK: place = made.address(i), count = made.integer(1); break;
      default: return std::nullopt;
    }
    if (!joined.add(element, extent, place, count)) return std::nullopt;
  }
  return joined.run();
}

std::optional<ByteRun> run_of(MPI_Datatype type, int depth) {
  constexpr int deepest = 8, most_numbers = 1 << 14;  // of types that are worth the look
  const Envelope envelope(type);
  if (envelope.predefined()) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    if (size != extent_of(type)) return std::nullopt;
    return ByteRun{0, size};
  }
  if (depth == deepest || envelope.large || envelope.integers > most_numbers || envelope.types == 0)
    return std::nullopt;
  const Contents made(type, envelope);
  return made.known() ? run_of(made, envelope.combiner, depth + 1) : std::nullopt;
}

/// Whether elements of a derived type of such size and extent are plain bytes.
bool plain_bytes(MPI_Datatype type, std::int64_t size, std::int64_t extent) {
  MPI_Count lower_bound = 0, true_extent = 0;
  if (size == 0 || size != extent) return false;
  PMPI_Type_get_true_extent_x(type, &lower_bound, &true_extent);
  if (lower_bound != 0 || true_extent != size) return false;
  // Still, its parts may come in another order, or overlap.
  const std::optional<ByteRun> run = run_of(type, 0);
  return run && run->begin == 0 && run->bytes == size;
}

/// What MPI remembers of a derived type, as an attribute. It is one of four addresses, so nothing is to be deleted with
/// the type; and no copy of a type has it.
struct Known {
  bool contiguous = false, committed = false;
};
constexpr char addresses[4] = {};

int do_not_copy(MPI_Datatype, int, void*, void*, void*, int* copied) { return *copied = 0, MPI_SUCCESS; }
int nothing_to_delete(MPI_Datatype, int, void*, void*) { return MPI_SUCCESS; }

int attribute_of_types() {
  static const int keyval = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(do_not_copy, nothing_to_delete, &made, nullptr);
    return made;
  }();
  return keyval;
}

void remember(MPI_Datatype type, Known known) {
  const int which = known.contiguous + 2 * known.committed;
  PMPI_Type_set_attr(type, attribute_of_types(), const_cast<char*>(&addresses[which]));
}

Known known_of(MPI_Datatype type, std::int64_t size, std::int64_t extent) {
  if (simulated) return {};
  void* attribute = nullptr;
  int found = 0;
  if (PMPI_Type_get_attr(type, attribute_of_types(), &attribute, &found) != MPI_SUCCESS) return {};
  if (found) {
    const auto which = static_cast<const char*>(attribute) - addresses;
    return {which % 2 != 0, which / 2 != 0};
  }
  const Known known{plain_bytes(type, size, extent), false};
  remember(type, known);
  return known;
}

}  // namespace

const Datatype& byte_type() {
  static const Datatype byte{MPI_BYTE, 1, 1, true, true, true};
  return byte;
}

const Datatype& Datatypes::ask(MPI_Datatype handle) {
  MPI_Aint lower_bound = 0, extent = 0;
  MPI_Count size = 0;
  PMPI_Type_get_extent(handle, &lower_bound, &extent);
  PMPI_Type_size_x(handle, &size);
  const bool predefined = Envelope(handle).predefined();
  if (&known_[next_ % known_.size()] == last_) ++next_;
  Datatype& type = predefined ? known_[next_++ % known_.size()] : derived_[next_derived_++ % derived_.size()];
  const Known known = predefined ? Known{size == extent, true} : known_of(handle, size, extent);
  return type = {handle, size, extent, known.contiguous, predefined, known.committed};
}

void remember_committed(const Datatype& type) {
  if (!simulated) remember(type.handle, {type.contiguous, true});
}

std::span<const Datatype> BlockTypes::look_up(Datatypes& types, const MPI_Datatype* handles, std::size_t ranks) {
  static const Datatype none{MPI_DATATYPE_NULL, 0, 0, true, true, true};
  types_.resize(ranks);
  for (std::size_t i = 0; i < ranks; ++i)
    types_[i] = handles[i] == MPI_DATATYPE_NULL         ? none
                : i > 0 && handles[i] == handles[i - 1] ? types_[i - 1]
                                                        : types[handles[i]];
  return types_;
}

}  // namespace swapmeet
