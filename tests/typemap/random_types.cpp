#include "random_types.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace {

/// No complex numbers: Open MPI 5.0.11 packs those that are 24 bytes apart as if they followed one another.
MPI_Datatype basic(Draw& draw) {
  const MPI_Datatype all[] = {MPI_CHAR, MPI_SHORT,     MPI_INT,        MPI_DOUBLE,          MPI_FLOAT,   MPI_BYTE,
                              MPI_2INT, MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT, MPI_LONG_INT};
  MPI_Datatype copy;
  MPI_Type_dup(all[draw.number(0, std::size(all) - 1)], &copy);
  return copy;
}

struct Extent {
  MPI_Aint lower, extent;
};
Extent extent_of(MPI_Datatype type) {
  Extent all{};
  MPI_Type_get_extent(type, &all.lower, &all.extent);
  return all;
}

/// Bytes by which elements must be apart so as not to overlap.
MPI_Aint span_of(MPI_Datatype type) {
  MPI_Aint lower = 0, span = 0;
  MPI_Type_get_true_extent(type, &lower, &span);
  const Extent all = extent_of(type);
  return std::max({span, all.extent, MPI_Aint{1}});
}

/// Lengths of blocks, or one length for all, and where they are, in elements.
struct Blocks {
  std::vector<int> lengths, places;
};
Blocks blocks(Draw& draw, int length = 0) {
  Blocks all;
  int at = draw.number(-3, 3);
  for (int left = draw.number(1, 6); left > 0; --left) {
    all.lengths.push_back(length > 0 ? length : draw.number(1, 4));
    if (draw.chance(60)) at += draw.number(0, 5);
    all.places.push_back(at);
    at += all.lengths.back();
  }
  if (draw.chance(30))  // their order is that of the data
    for (std::size_t i = 1; i < all.places.size(); ++i) {
      const std::size_t other = static_cast<std::size_t>(draw.number(0, static_cast<int>(i)));
      std::swap(all.places[i], all.places[other]);
      std::swap(all.lengths[i], all.lengths[other]);
    }
  return all;
}

std::vector<MPI_Aint> in_bytes(const std::vector<int>& places, MPI_Aint bytes) {
  std::vector<MPI_Aint> all;
  for (const int place : places) all.push_back(place * bytes);
  return all;
}

MPI_Datatype subarray(Draw& draw, MPI_Datatype inner) {
  int whole[3], part[3], first[3];
  const int dimensions = draw.number(1, 3);
  for (int i = 0; i < dimensions; ++i) {
    whole[i] = draw.number(1, 5);
    part[i] = draw.number(1, whole[i]);
    first[i] = draw.number(0, whole[i] - part[i]);
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(dimensions, whole, part, first, draw.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner,
                           &type);
  return type;
}

MPI_Datatype structure(Draw& draw, int depth) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types;
  MPI_Aint at = 0;
  for (int left = draw.number(1, 4); left > 0; --left) {
    types.push_back(random_type(draw, depth - 1));
    lengths.push_back(draw.number(1, 3));
    MPI_Aint lower = 0, span = 0;
    MPI_Type_get_true_extent(types.back(), &lower, &span);
    const Extent extent = extent_of(types.back());
    places.push_back(at - lower + draw.number(0, 9));
    at = places.back() + lower + span + std::max<MPI_Aint>(0, extent.extent) * lengths.back();
  }
  MPI_Datatype type;
  MPI_Type_create_struct(static_cast<int>(types.size()), lengths.data(), places.data(), types.data(), &type);
  for (MPI_Datatype& one : types) MPI_Type_free(&one);
  return type;
}

/// `inner` such that elements which follow one another do not overlap.
MPI_Datatype spread(MPI_Datatype inner) {
  const Extent all = extent_of(inner);
  MPI_Datatype type;
  MPI_Type_create_resized(inner, all.lower, span_of(inner), &type);
  MPI_Type_free(&inner);
  return type;
}

#if MPI_VERSION >= 4
MPI_Datatype of_large_counts(Draw& draw, MPI_Datatype inner, const Blocks& some, MPI_Aint apart) {
  const std::vector<MPI_Count> lengths(some.lengths.begin(), some.lengths.end()),
      places(some.places.begin(), some.places.end());
  std::vector<MPI_Count> bytes;
  for (const int place : some.places) bytes.push_back(place * apart);
  const auto count = static_cast<MPI_Count>(lengths.size());
  MPI_Datatype type;
  switch (draw.number(0, 8)) {
    case 0: MPI_Type_contiguous_c(draw.number(1, 4), inner, &type); break;
    case 1: MPI_Type_vector_c(draw.number(1, 4), 2, draw.number(2, 4), inner, &type); break;
    case 2: MPI_Type_create_hvector_c(draw.number(1, 4), 2, 2 * apart + draw.number(0, 9), inner, &type); break;
    case 3: MPI_Type_indexed_c(count, lengths.data(), places.data(), inner, &type); break;
    case 4: MPI_Type_create_hindexed_c(count, lengths.data(), bytes.data(), inner, &type); break;
    case 5: MPI_Type_create_indexed_block_c(1, 2, std::vector<MPI_Count>{3}.data(), inner, &type); break;
    case 6: MPI_Type_create_hindexed_block_c(1, 2, std::vector<MPI_Count>{5}.data(), inner, &type); break;
    case 7: {
      const MPI_Count whole[] = {4, 3}, part[] = {2, 3}, first[] = {1, 0};
      MPI_Type_create_subarray_c(2, whole, part, first, MPI_ORDER_FORTRAN, inner, &type);
      break;
    }
    default: {
      const MPI_Count one[] = {1, 2}, at[] = {0, 4 * apart};
      const MPI_Datatype types[] = {inner, inner};
      MPI_Type_create_struct_c(2, one, at, types, &type);
    }
  }
  return type;
}
#endif

}  // namespace

MPI_Datatype random_type(Draw& draw, int depth) {
  if (depth == 0 || draw.chance(15)) return basic(draw);
  if (draw.chance(15)) return structure(draw, depth);
  MPI_Datatype inner = spread(random_type(draw, depth - 1)), type = MPI_DATATYPE_NULL;
  const MPI_Aint apart = extent_of(inner).extent;
  const int length = draw.number(1, 3);
  const Blocks any = blocks(draw), equal = blocks(draw, length);
  const auto any_count = static_cast<int>(any.lengths.size()), equal_count = static_cast<int>(equal.lengths.size());
#if MPI_VERSION >= 4
  if (draw.chance(20)) {
    type = of_large_counts(draw, inner, any, apart);
    MPI_Type_free(&inner);
    return type;
  }
#endif
  switch (draw.number(0, 8)) {
    case 0: MPI_Type_contiguous(draw.number(1, 5), inner, &type); break;
    case 1: MPI_Type_vector(draw.number(1, 5), length, length + draw.number(0, 3), inner, &type); break;
    case 2: MPI_Type_create_hvector(draw.number(1, 5), length, length * apart + draw.number(0, 9), inner, &type); break;
    case 3: MPI_Type_indexed(any_count, any.lengths.data(), any.places.data(), inner, &type); break;
    case 4:
      MPI_Type_create_hindexed(any_count, any.lengths.data(), in_bytes(any.places, apart).data(), inner, &type);
      break;
    case 5: MPI_Type_create_indexed_block(equal_count, length, equal.places.data(), inner, &type); break;
    case 6:
      MPI_Type_create_hindexed_block(equal_count, length, in_bytes(equal.places, apart).data(), inner, &type);
      break;
    case 7: type = subarray(draw, inner); break;
    default: MPI_Type_create_resized(inner, draw.number(-9, 9), apart + draw.number(0, 20), &type);
  }
  MPI_Type_free(&inner);
  return type;
}
