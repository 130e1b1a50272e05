#include "mpi/datatype.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <new>

#include "mpi/guard.hpp"
#include "mpi/type_reader.hpp"

namespace swapmeet {

namespace {

/// The properties of a datatype that MPI keeps as an attribute of it. MPI deletes the record when the type is freed. A
/// copy of a type gets a record of its own, because the library may keep the copy longer than the application keeps the
/// type.
struct Record {
  explicit Record(const Datatype& known, std::shared_ptr<const TypeMap> map)
      : type(known), map(std::move(map)), committed(known.committed) {}
  Record(const Record& other) : Record(other.type, other.map) {}

  Datatype type;
  std::shared_ptr<const TypeMap> map;
  std::atomic<bool> committed;

  /// The properties, with `handle` as the handle: the type that has this record.
  Datatype as(MPI_Datatype handle) const {
    Datatype all = type;
    all.handle = handle;
    all.committed = committed.load(std::memory_order_relaxed);
    return all;
  }
};

int copy_record(MPI_Datatype, int, void*, void* record, void* copy, int* copied) {
  auto* const made = new (std::nothrow) Record(*static_cast<const Record*>(record));
  *static_cast<void**>(copy) = made;
  return *copied = made != nullptr, MPI_SUCCESS;
}

int delete_record(MPI_Datatype, int, void* record, void*) { return delete static_cast<Record*>(record), MPI_SUCCESS; }

int attribute_of_types() {
  static const int keyval = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(copy_record, delete_record, &made, nullptr);
    return made;
  }();
  return keyval;
}

Record* record_of(MPI_Datatype type) {
  void* record = nullptr;
  int found = 0;
  if (PMPI_Type_get_attr(type, attribute_of_types(), &record, &found) != MPI_SUCCESS || !found) return nullptr;
  return static_cast<Record*>(record);
}

/// Whether MPI knows the type, if that can be found without an MPI error. Other calls on a freed type may call the
/// program's error handler; in Open MPI they may end the process.
bool is_type([[maybe_unused]] MPI_Datatype handle) {
#if defined(OMPI_MAJOR_VERSION)
  return PMPI_Type_f2c(PMPI_Type_c2f(handle)) == handle;
#else
  return true;
#endif
}

/// The properties that MPI returns quickly.
Datatype asked(MPI_Datatype handle) {
  Datatype type{.handle = handle};
  MPI_Aint lower_bound = 0, extent = 0;
  MPI_Count size = 0;
  int error = PMPI_Type_get_extent(handle, &lower_bound, &extent);
  if (!error) error = PMPI_Type_size_x(handle, &size);
  if (error) throw MpiError(error);
  type.size = size;
  type.extent = extent;
  type.predefined = type.committed = is_predefined(handle);
  type.contiguous = type.predefined && size == extent;
  return type;
}

/// The record of `type`, which is made if there is none. Returns nullptr if MPI does not accept the attribute.
Record* make_record(const Datatype& type) {
  static std::mutex making;  // concurrent threads must get the same record
  const std::lock_guard lock(making);
  if (Record* const made = record_of(type.handle)) return made;
  std::shared_ptr<const TypeMap> map = read_type_map(type.handle);
  auto record = std::make_unique<Record>(type, map);
  record->type.contiguous = map && map->contiguous();
  record->type.map = record->type.contiguous || !map ? nullptr : &map->view();
  if (PMPI_Type_set_attr(type.handle, attribute_of_types(), record.get()) != MPI_SUCCESS) return nullptr;
  return record.release();
}

}  // namespace

const Datatype& byte_type() {
  static const Datatype byte{MPI_BYTE, 1, 1, true, true, true};
  return byte;
}

const Datatype& packed_type() {
  static const Datatype packed{MPI_PACKED, 1, 1, true, true, true};
  return packed;
}

const Datatype& Datatypes::ask(MPI_Datatype handle) {
  if (&known_[next_ % known_.size()] == last_) ++next_;
  if (!is_type(handle)) throw MpiError(MPI_ERR_TYPE);
  const Record* record = simulated ? nullptr : record_of(handle);
  if (!record) {
    const Datatype type = asked(handle);
    if (type.predefined && (type.contiguous || simulated)) return known_[next_++ % known_.size()] = type;
    if (!simulated) record = make_record(type);
    if (!record) return derived_[next_derived_++ % derived_.size()] = type;
  }
  return derived_[next_derived_++ % derived_.size()] = record->as(handle);
}

int copy_type(MPI_Datatype type, MPI_Datatype* copy) {
  int error = PMPI_Type_contiguous(1, type, copy);
  if (!error && (error = PMPI_Type_commit(copy))) PMPI_Type_free(copy);
  if (error) return error;
  const Record* const record = record_of(type);
  std::unique_ptr<Record> known(record ? new (std::nothrow) Record(*record) : nullptr);
  if (!known) return MPI_SUCCESS;  // a record is made when the copy is looked up
  known->committed = true;
  if (PMPI_Type_set_attr(*copy, attribute_of_types(), known.get()) == MPI_SUCCESS) known.release();
  return MPI_SUCCESS;
}

void remember_committed(const Datatype& type) {
  if (simulated) return;
  if (Record* const record = record_of(type.handle)) record->committed.store(true, std::memory_order_relaxed);
}

std::span<const Datatype> BlockTypes::look_up(Datatypes& types, const MPI_Datatype* handles, int blocks) {
  static const Datatype none{MPI_DATATYPE_NULL, 0, 0, true, true, true};
  types_.resize(static_cast<std::size_t>(blocks));
  for (std::size_t i = 0; i < types_.size(); ++i)
    types_[i] = handles[i] == MPI_DATATYPE_NULL         ? none
                : i > 0 && handles[i] == handles[i - 1] ? types_[i - 1]
                                                        : types[handles[i]];
  return types_;
}

}  // namespace swapmeet
