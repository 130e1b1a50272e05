#include "buffers/block_copies.hpp"

#include <algorithm>

namespace swapmeet {

MessageTypes::~MessageTypes() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (!finalized) forget();
}

void MessageTypes::forget() {
  for (MPI_Datatype& type : types_)
    if (type != MPI_DATATYPE_NULL) PMPI_Type_free(&type);
}

void MessageTypes::make_room(const Schedule& schedule) {
  std::size_t most = 0;
  for (const auto* const messages : {&schedule.sends, &schedule.receives})
    for (const Message& message : *messages)
      most = std::max(most, static_cast<std::size_t>(schedule.block_count(message)));
  types_.resize(schedule.runs.size(), MPI_DATATYPE_NULL);
  lengths_.reserve(most);
  addresses_.reserve(most);
}

void MessageTypes::bind(const char* send, const char* receive, const char* scratch, std::int64_t block_bytes) {
  if (base_[0] == send && base_[1] == receive && base_[2] == scratch && block_bytes_ == block_bytes) return;
  forget();
  base_[0] = send;
  base_[1] = receive;
  base_[2] = scratch;
  block_bytes_ = block_bytes;
}

int MessageTypes::type_of(const Schedule& schedule, const Message& message, MPI_Datatype* type) {
  MPI_Datatype& known = types_[message.first];
  if (known == MPI_DATATYPE_NULL) {
    lengths_.clear();
    addresses_.clear();
    for (const Run& run : schedule.runs_of(message)) {
      const bool together = run.stride == 1 && run.count * block_bytes_ <= INT_MAX;
      for (std::int32_t i = 0; i < (together ? 1 : run.count); ++i) {
        MPI_Aint address = 0;
        PMPI_Get_address(base_[static_cast<std::size_t>(run.buffer)] + run.block(i) * block_bytes_, &address);
        addresses_.push_back(address);
        lengths_.push_back(static_cast<int>(together ? run.count * block_bytes_ : block_bytes_));
      }
    }
    int error = PMPI_Type_create_hindexed(static_cast<int>(lengths_.size()), lengths_.data(), addresses_.data(),
                                          MPI_BYTE, &known);
    if (error == MPI_SUCCESS && (error = PMPI_Type_commit(&known)) != MPI_SUCCESS) PMPI_Type_free(&known);
    if (error != MPI_SUCCESS) return known = MPI_DATATYPE_NULL, error;
  }
  *type = known;
  return MPI_SUCCESS;
}

}  // namespace swapmeet
