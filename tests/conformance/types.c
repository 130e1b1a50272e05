/* The table of types. Offsets of one-basic-type shapes are in elements, of struct shapes in bytes. */
#include "types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

typedef enum { ONE_BASIC, DOUBLE_INT, SHORT_INT, CHAR_DOUBLE_INT, EMPTY } Signature;

struct Family {
  const char *name;
  Signature signature;
  MPI_Datatype basic[3];
  MPI_Datatype pair; /* the predefined pair type, for the families that have one */
};

struct Shape {
  const char *name;
  Signature signature;
  int elements;
  MPI_Aint offset[MAX_PIECES];
  MPI_Aint lower_bound, extent;
  bool interleaved; /* offsets are rows of the whole buffer: they count widths, not elements */
  MPI_Datatype (*make)(const Shape *shape, const Family *family, MPI_Aint width);
};

static MPI_Aint basic_size(MPI_Datatype basic) {
  int size = 0;
  MPI_Type_size(basic, &size);
  return size;
}

/* Resize and drop the original. */
static MPI_Datatype resized(MPI_Datatype type, MPI_Aint lower_bound, MPI_Aint extent) {
  MPI_Datatype result;
  MPI_Type_create_resized(type, lower_bound, extent, &result);
  MPI_Type_free(&type);
  return result;
}

static MPI_Datatype make_basic(const Shape *shape, const Family *family, MPI_Aint width) {
  (void)shape, (void)width;
  return family->basic[0];
}

static MPI_Datatype make_pair(const Shape *shape, const Family *family, MPI_Aint width) {
  (void)shape, (void)width;
  return family->pair;
}

static MPI_Datatype make_contiguous(const Shape *shape, const Family *family, MPI_Aint width) {
  (void)width;
  MPI_Datatype type;
  MPI_Type_contiguous(shape->elements, family->basic[0], &type);
  return type;
}

static MPI_Datatype make_resized(const Shape *shape, const Family *family, MPI_Aint width) {
  const MPI_Aint size = basic_size(family->basic[0]);
  return resized(make_contiguous(shape, family, width), shape->lower_bound * size, shape->extent * size);
}

static MPI_Datatype make_vector(const Shape *shape, const Family *family, MPI_Aint width) {
  (void)shape, (void)width;
  MPI_Datatype type;
  MPI_Type_vector(2, 2, 3, family->basic[0], &type);
  return type;
}

static MPI_Datatype make_hindexed(const Shape *shape, const Family *family, MPI_Aint width) {
  (void)width;
  int lengths[MAX_PIECES];
  MPI_Aint bytes[MAX_PIECES];
  for (int k = 0; k < shape->elements; ++k) {
    lengths[k] = 1;
    bytes[k] = shape->offset[k] * basic_size(family->basic[0]);
  }
  MPI_Datatype type;
  MPI_Type_create_hindexed(shape->elements, lengths, bytes, family->basic[0], &type);
  return type;
}

static MPI_Datatype make_subarray(const Shape *shape, const Family *family, MPI_Aint width) {
  (void)shape, (void)width;
  MPI_Datatype type;
  MPI_Type_create_subarray(2, (const int[]){3, 4}, (const int[]){2, 2}, (const int[]){1, 1}, MPI_ORDER_C,
                           family->basic[0], &type);
  return type;
}

static MPI_Datatype make_nested(const Shape *shape, const Family *family, MPI_Aint width) {
  (void)shape, (void)width;
  MPI_Datatype inner, outer;
  MPI_Type_vector(2, 1, 2, family->basic[0], &inner);
  inner = resized(inner, 0, 4 * basic_size(family->basic[0]));
  MPI_Type_contiguous(2, inner, &outer);
  MPI_Type_free(&inner);
  return outer;
}

/* A matrix column with the extent of one element, as parallel transposes use it: all items of all blocks interleave. */
static MPI_Datatype make_column(const Shape *shape, const Family *family, MPI_Aint width) {
  MPI_Datatype type;
  MPI_Type_vector(shape->elements, 1, (int)width, family->basic[0], &type);
  return resized(type, 0, basic_size(family->basic[0]));
}

static MPI_Datatype make_struct(const Shape *shape, const Family *family, MPI_Aint width) {
  (void)width;
  MPI_Datatype type;
  MPI_Type_create_struct(shape->elements, (const int[]){1, 1, 1}, shape->offset, family->basic, &type);
  return resized(type, shape->lower_bound, shape->extent);
}

static MPI_Datatype make_empty(const Shape *shape, const Family *family, MPI_Aint width) {
  (void)family, (void)width;
  MPI_Datatype type;
  MPI_Type_contiguous(0, MPI_INT, &type);
  return shape->extent > 0 ? resized(type, 0, shape->extent) : type;
}

enum { FAMILIES = 9, RANDOM_FAMILIES = 8, PAGE_BYTES = 5000 };

static MPI_Datatype page = MPI_DATATYPE_NULL; /* an element of many bytes: its types have long runs */

void types_close(void) {
  if (page != MPI_DATATYPE_NULL) MPI_Type_free(&page);
}

/* A function and not a table at file scope: not every MPI's handles are constant expressions. */
static const Family *families(int *number) {
  static Family table[FAMILIES];
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  if (page == none) MPI_Type_contiguous(PAGE_BYTES, MPI_BYTE, &page), MPI_Type_commit(&page);
  const Family filled[FAMILIES] = {
      {"byte", ONE_BASIC, {MPI_BYTE, none, none}, none},
      {"char", ONE_BASIC, {MPI_CHAR, none, none}, none},
      {"int", ONE_BASIC, {MPI_INT, none, none}, none},
      {"double", ONE_BASIC, {MPI_DOUBLE, none, none}, none},
      {"double+int", DOUBLE_INT, {MPI_DOUBLE, MPI_INT, none}, MPI_DOUBLE_INT},
      {"short+int", SHORT_INT, {MPI_SHORT, MPI_INT, none}, MPI_SHORT_INT},
      {"char+double+int", CHAR_DOUBLE_INT, {MPI_CHAR, MPI_DOUBLE, MPI_INT}, none},
      {"empty", EMPTY, {none, none, none}, none},
      {"page", ONE_BASIC, {page, none, none}, none}, /* not drawn */
  };
  if (!table[0].name) memcpy(table, filled, sizeof table);
  *number = (int)(sizeof table / sizeof table[0]);
  return table;
}

static const Shape shapes[] = {
    {"basic", ONE_BASIC, 1, {0}, 0, 1, false, make_basic},
    {"contiguous", ONE_BASIC, 4, {0, 1, 2, 3}, 0, 4, false, make_contiguous},
    {"vector", ONE_BASIC, 4, {0, 1, 3, 4}, 0, 5, false, make_vector},
    {"resized", ONE_BASIC, 1, {0}, 0, 3, false, make_resized},
    {"negative-lb", ONE_BASIC, 2, {0, 1}, -2, 5, false, make_resized},
    {"negative-offset", ONE_BASIC, 2, {-3, 1}, -3, 5, false, make_hindexed},
    {"permuted", ONE_BASIC, 4, {5, 0, 2, 3}, 0, 6, false, make_hindexed},
    {"subarray", ONE_BASIC, 4, {5, 6, 9, 10}, 0, 12, false, make_subarray},
    {"nested", ONE_BASIC, 4, {0, 2, 4, 6}, 0, 8, false, make_nested},
    {"column", ONE_BASIC, 4, {0, 1, 2, 3}, 0, 1, true, make_column},
    {"pair", DOUBLE_INT, 2, {0, 8}, 0, 16, false, make_pair},
    {"struct-apart", DOUBLE_INT, 2, {0, 16}, 0, 24, false, make_struct},
    {"struct-swapped", DOUBLE_INT, 2, {8, 0}, 0, 16, false, make_struct},
    {"struct-negative", DOUBLE_INT, 2, {-8, 4}, -16, 32, false, make_struct},
    {"pair", SHORT_INT, 2, {0, 4}, 0, 8, false, make_pair},
    {"struct-swapped", SHORT_INT, 2, {4, 0}, 0, 8, false, make_struct},
    {"struct-holes", CHAR_DOUBLE_INT, 3, {0, 8, 16}, 0, 24, false, make_struct},
    {"struct-reordered", CHAR_DOUBLE_INT, 3, {4, 8, 0}, 0, 16, false, make_struct},
    {"flat", EMPTY, 0, {0}, 0, 0, false, make_empty},
    {"wide", EMPTY, 0, {0}, 0, 16, false, make_empty},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

TypeId type_find(const char *name) {
  int number = 0;
  const Family *family = families(&number);
  for (int f = 0; f < number; ++f)
    for (int s = 0; s < SHAPES; ++s) {
      char candidate[64];
      snprintf(candidate, sizeof candidate, "%s/%s", family[f].name, shapes[s].name);
      if (shapes[s].signature == family[f].signature && strcmp(candidate, name) == 0)
        return (TypeId){&family[f], &shapes[s]};
    }
  fprintf(stderr, "conformance: no type \"%s\"\n", name);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

TypeId type_rotate(TypeId id, int index) {
  const Signature signature = id.family->signature;
  int fitting = 0;
  for (int s = 0; s < SHAPES; ++s) fitting += shapes[s].signature == signature;
  int position = (int)(id.shape - shapes);
  for (int step = index % fitting; step > 0; --step) do {
      position = (position + 1) % SHAPES;
    } while (shapes[position].signature != signature);
  return (TypeId){id.family, &shapes[position]};
}

void type_random_pair(uint64_t random, TypeId *send, TypeId *recv) {
  int number = 0;
  const Family *family = families(&number);
  family += random % RANDOM_FAMILIES;
  int first = 0;
  while (shapes[first].signature != family->signature) ++first;
  const TypeId start = {family, &shapes[first]};
  *send = type_rotate(start, (int)(random >> 8 & 0xff));
  *recv = type_rotate(start, (int)(random >> 16 & 0xff));
}

static MPI_Aint element_size(TypeId id, int element) {
  return basic_size(id.family->basic[id.family->signature == ONE_BASIC ? 0 : element]);
}

MPI_Aint type_size(TypeId id) {
  MPI_Aint size = 0;
  for (int k = 0; k < id.shape->elements; ++k) size += element_size(id, k);
  return size;
}

MPI_Aint type_largest_size(TypeId id) {
  MPI_Aint largest = 0;
  for (int index = 0; index < SHAPES; ++index) {
    const MPI_Aint size = type_size(type_rotate(id, index));
    if (size > largest) largest = size;
  }
  return largest;
}

const char *family_name(TypeId id) { return id.family->name; }
const char *shape_name(TypeId id) { return id.shape->name; }

void layout_make(Layout *layout, TypeId id, MPI_Aint width) {
  const Shape *shape = id.shape;
  const MPI_Aint scale = shape->signature == ONE_BASIC ? element_size(id, 0) : 1;
  memset(layout, 0, sizeof *layout);
  layout->pieces = shape->elements;
  layout->lower_bound = shape->lower_bound * scale;
  layout->extent = shape->extent * scale;
  for (int k = 0; k < shape->elements; ++k) {
    const MPI_Aint offset = shape->offset[k] * scale * (shape->interleaved ? width : 1);
    const MPI_Aint bytes = element_size(id, k);
    layout->piece[k].offset = offset;
    layout->piece[k].bytes = bytes;
    layout->size += bytes;
    if (k == 0 || offset < layout->low) layout->low = offset;
    if (k == 0 || offset + bytes > layout->high) layout->high = offset + bytes;
  }
  layout->type = shape->make(shape, id.family, width);
  layout->owned = shape->make != make_basic && shape->make != make_pair;
  if (layout->owned) MPI_Type_commit(&layout->type);
}

void layout_free(Layout *layout) {
  if (layout->owned) MPI_Type_free(&layout->type);
  layout->owned = false;
}

bool layout_agrees_with_mpi(const Layout *layout) {
  int size = 0;
  MPI_Aint lower_bound = 0, extent = 0, low = 0, span = 0;
  MPI_Type_size(layout->type, &size);
  MPI_Type_get_extent(layout->type, &lower_bound, &extent);
  MPI_Type_get_true_extent(layout->type, &low, &span);
  return size == layout->size && lower_bound == layout->lower_bound && extent == layout->extent &&
         (size == 0 || (low == layout->low && low + span == layout->high));
}

/* Pieces that follow one another without gaps, from item to item: the whole block is one run of bytes. */
static bool is_dense(const Layout *layout) {
  MPI_Aint next = layout->low;
  for (int k = 0; k < layout->pieces; ++k) {
    if (layout->piece[k].offset != next) return false;
    next += layout->piece[k].bytes;
  }
  return layout->size == layout->extent;
}

void layout_write(const Layout *layout, unsigned char *origin, MPI_Aint items, uint64_t key, MPI_Aint first) {
  if (is_dense(layout)) {
    oracle_write(origin + layout->low, ORACLE_DATA, key, (size_t)first, (size_t)(items * layout->size));
    return;
  }
  for (MPI_Aint item = 0; item < items; ++item)
    for (int k = 0; k < layout->pieces; ++k) {
      const MPI_Aint bytes = layout->piece[k].bytes;
      oracle_write(origin + item * layout->extent + layout->piece[k].offset, ORACLE_DATA, key, (size_t)first,
                   (size_t)bytes);
      first += bytes;
    }
}

MPI_Aint layout_locate(const Layout *layout, MPI_Aint items, MPI_Aint offset) {
  MPI_Aint position = 0;
  for (MPI_Aint item = 0; item < items; ++item)
    for (int k = 0; k < layout->pieces; ++k) {
      const MPI_Aint start = item * layout->extent + layout->piece[k].offset;
      if (offset >= start && offset < start + layout->piece[k].bytes) return position + offset - start;
      position += layout->piece[k].bytes;
    }
  return -1;
}
