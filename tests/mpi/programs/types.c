/* Which derived types the library takes for plain bytes: those whose data lie side by side, in order. By the scratch
 * memory of a plan (such types need no more than bytes do), and by what arrives. Prints "types: right". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <swapmeet/swapmeet.h>

static int rank, ranks, wrong;

static long long scratch_of(int count, MPI_Datatype type, char *out, char *in) {
  swapmeet_plan *plan = NULL;
  swapmeet_plan_description about = {0};
  if (swapmeet_plan_alltoall(out, count, type, in, count, type, MPI_COMM_WORLD, "tra(r=2)", &plan) ||
      swapmeet_plan_describe(plan, &about)) {
    fprintf(stderr, "types: no plan: %s\n", swapmeet_error_message());
    return -1;
  }
  const long long bytes = about.scratch_bytes;
  swapmeet_plan_free(&plan);
  return bytes;
}

static char data(int source, int destination, int byte) { return (char)(31 * source + 17 * destination + byte); }

/* Exchanges `count` elements of `type` as they are, or received as bytes (which only plain ones are). */
static void exchange(const char *name, int count, MPI_Datatype type, int plain, int received_as_bytes) {
  int size;
  MPI_Aint lower_bound, extent;
  MPI_Type_size(type, &size), MPI_Type_get_extent(type, &lower_bound, &extent);
  const int block = count * (int)extent, room = ranks * block;
  char *const out = malloc((size_t)room + 64), *const in = malloc((size_t)room + 64);
  memset(in, 0x55, (size_t)room + 64);
  for (int i = 0; i < room; ++i) out[i] = data(rank, i / block, i % block);
  MPI_Alltoall(out, count, type, in, received_as_bytes ? count * size : count, received_as_bytes ? MPI_BYTE : type,
               MPI_COMM_WORLD);
  int bad = 0, unchanged = 0;
  for (int i = 0; i < room; ++i) {
    const int right = in[i] == data(i / block, rank, i % block);
    bad += plain ? !right : !right && in[i] != 0x55;
    unchanged += in[i] == 0x55;
  }
  if (bad || unchanged == room) wrong = 1, fprintf(stderr, "types: rank %d: %s: %d bytes wrong\n", rank, name, bad);
  if (plain != (scratch_of(count, type, out, in) == scratch_of(count * size, MPI_BYTE, out, in)))
    wrong = 1, fprintf(stderr, "types: rank %d: %s: %s\n", rank, name, plain ? "is staged" : "is taken for bytes");
  free(out), free(in);
}

static void check(const char *name, MPI_Datatype type, int plain) {
  MPI_Type_commit(&type);
  for (int again = 0; again < 2; ++again) exchange(name, 5, type, plain, 0);
  if (plain) exchange(name, 5, type, plain, 1);
  MPI_Type_free(&type); /* the next may get its handle */
}

static MPI_Datatype resized(MPI_Datatype type, MPI_Aint lower_bound, MPI_Aint extent) {
  MPI_Datatype made;
  MPI_Type_create_resized(type, lower_bound, extent, &made);
  MPI_Type_free(&type);
  return made;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Datatype type, inner;

  MPI_Type_contiguous(3, MPI_DOUBLE, &type), check("contiguous", type, 1);
  MPI_Type_vector(3, 1, 2, MPI_INT, &type), check("vector with gaps", resized(type, 0, 24), 0);
  MPI_Type_contiguous(3, MPI_DOUBLE, &type), check("contiguous again", type, 1);
  MPI_Type_vector(4, 3, 3, MPI_INT, &type), check("vector", type, 1);
  MPI_Type_create_hvector(4, 3, 12, MPI_INT, &type), check("hvector", type, 1);
  MPI_Type_dup(MPI_INT, &type), check("dup", type, 1);
  MPI_Type_contiguous(2, MPI_INT, &type), check("resized to its size", resized(type, 0, 8), 1);
  MPI_Type_contiguous(2, MPI_INT, &type), check("resized to more", resized(type, 0, 12), 0);
  MPI_Type_contiguous(3, MPI_CHAR, &inner), MPI_Type_vector(2, 5, 5, inner, &type), check("nested", type, 1);
  MPI_Type_free(&inner);
  const int one[] = {1, 1}, two[] = {2, 1}, up[] = {0, 2}, down[] = {1, 0}, low[] = {0, 1};
  MPI_Type_indexed(2, two, up, MPI_INT, &type), check("indexed", type, 1);
  MPI_Type_indexed(2, one, down, MPI_INT, &type), check("indexed, in another order", type, 0);
  MPI_Type_create_indexed_block(2, 1, low, MPI_INT, &type), check("indexed block", type, 1);
  const MPI_Aint bytes[] = {0, 8}, back[] = {4, 0}, across[] = {0, 8}, near[] = {0, 4};
  MPI_Type_create_hindexed(2, two, bytes, MPI_INT, &type), check("hindexed", type, 1);
  MPI_Type_create_hindexed(2, one, back, MPI_INT, &type), check("hindexed, in another order", type, 0);
  MPI_Type_create_hindexed_block(2, 1, near, MPI_INT, &type), check("hindexed block", type, 1);
  const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(2, one, across, parts, &type), check("struct without holes", resized(type, 0, 12), 1);
  MPI_Type_create_struct(2, one, across, parts, &type), check("struct with a hole", resized(type, 0, 16), 0);
  MPI_Type_create_struct(2, two, (MPI_Aint[]){0, 16}, parts, &type), check("struct of two", resized(type, 0, 20), 1);
  MPI_Type_dup(MPI_DOUBLE_INT, &type), check("a pair with a hole", type, 0);
#if MPI_VERSION >= 4
  MPI_Type_contiguous_c(3, MPI_DOUBLE, &type), check("of large counts", type, 1);
#endif
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && !wrong) puts("types: right");
  MPI_Finalize();
  return wrong;
}
