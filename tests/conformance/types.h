/* Datatypes of many shapes, each with a hand-written account of where its bytes lie. */
#ifndef CONFORMANCE_TYPES_H
#define CONFORMANCE_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { MAX_PIECES = 4 };

typedef struct Family Family; /* a type signature: what the elements are */
typedef struct Shape Shape;   /* where the elements lie */

/** A type by name: any two shapes of one family can be the two ends of a message. */
typedef struct {
  const Family* family;
  const Shape* shape;
} TypeId;

/** One item of a type: its pieces in the order of the type map, byte offsets from the item's origin. */
typedef struct {
  MPI_Datatype type;
  bool owned;
  int pieces;
  struct {
    MPI_Aint offset, bytes;
  } piece[MAX_PIECES];
  MPI_Aint size, lower_bound, extent;
  MPI_Aint low, high; /* lowest byte of data; one past the highest */
} Layout;

/** Free what the table of types holds. */
void types_close(void);

/** Find "family/shape", e.g. "int/vector"; aborts on an unknown name, which is a bug of the suite. */
TypeId type_find(const char* name);

/** The index-th (modulo their number) shape that fits the family of `id`, from the shape of `id` on. */
TypeId type_rotate(TypeId id, int index);

/** A random pair of shapes of one random family. */
void type_random_pair(uint64_t random, TypeId* send, TypeId* recv);

/** Bytes of data in one item; and in the largest item of that family. */
MPI_Aint type_size(TypeId id);
MPI_Aint type_largest_size(TypeId id);

const char* family_name(TypeId id);
const char* shape_name(TypeId id);

/** Make and commit. @param width  items in the buffer: the row length of shapes whose items interleave. */
void layout_make(Layout* layout, TypeId id, MPI_Aint width);
void layout_free(Layout* layout);

/** @return whether MPI agrees with our account of the type. */
bool layout_agrees_with_mpi(const Layout* layout);

/** Write bytes [first, ...) of the data stream `key` into `items` items, the first with its origin at `origin`. */
void layout_write(const Layout* layout, unsigned char* origin, MPI_Aint items, uint64_t key, MPI_Aint first);

/** @return the position in the data stream of the byte at `offset` from the first origin, or -1 if it is in a gap. */
MPI_Aint layout_locate(const Layout* layout, MPI_Aint items, MPI_Aint offset);

#endif
