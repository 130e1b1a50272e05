// FFTW's own distributed transposes and transforms. Out of place, with FFTW_DESTROY_INPUT, they are done by
// MPI_Alltoall or MPI_Alltoallv (FFTW 3.3.10, mpi/transpose-alltoall.c).
#include <fftw3-mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const unsigned how = FFTW_ESTIMATE | FFTW_DESTROY_INPUT;

static void fill(double *numbers, ptrdiff_t count, ptrdiff_t from) {
  for (ptrdiff_t i = 0; i < count; ++i) numbers[i] = (double)((from + i) * 7919 % 10007) / 10007 - 0.5;
}

// The results of all ranks, one after the other, into the file; the same count from each, what a rank has not is zero.
static void append(FILE *file, const double *numbers, ptrdiff_t count, ptrdiff_t room, int rank, int ranks) {
  double *mine = calloc((size_t)room, sizeof(double));
  double *all = rank == 0 ? malloc((size_t)room * (size_t)ranks * sizeof(double)) : NULL;
  for (ptrdiff_t i = 0; i < count; ++i) mine[i] = numbers[i];
  MPI_Gather(mine, (int)room, MPI_DOUBLE, all, (int)room, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) fwrite(all, sizeof(double), (size_t)(room * ranks), file);
  free(mine);
  free(all);
}

static ptrdiff_t most(ptrdiff_t mine) {
  long room = mine;
  MPI_Allreduce(MPI_IN_PLACE, &room, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  return room;
}

static void transpose(FILE *file, ptrdiff_t rows, ptrdiff_t columns, int rank, int ranks) {
  ptrdiff_t here, first, there, next;
  const ptrdiff_t room =
      most(fftw_mpi_local_size_2d_transposed(rows, columns, MPI_COMM_WORLD, &here, &first, &there, &next));
  double *in = fftw_alloc_real((size_t)room), *out = fftw_alloc_real((size_t)room);
  fftw_plan plan = fftw_mpi_plan_transpose(rows, columns, in, out, MPI_COMM_WORLD, how);
  fill(in, here * columns, first * columns);
  fftw_execute(plan);
  append(file, out, there * rows, room, rank, ranks);
  fftw_destroy_plan(plan);
  fftw_free(in);
  fftw_free(out);
}

static void transform(FILE *file, ptrdiff_t x, ptrdiff_t y, ptrdiff_t z, int rank, int ranks) {
  ptrdiff_t here, first, there, next;
  const ptrdiff_t room = most(fftw_mpi_local_size_3d_transposed(x, y, z, MPI_COMM_WORLD, &here, &first, &there, &next));
  fftw_complex *in = fftw_alloc_complex((size_t)room), *out = fftw_alloc_complex((size_t)room);
  fftw_plan plan = fftw_mpi_plan_dft_3d(x, y, z, in, out, MPI_COMM_WORLD, FFTW_FORWARD, how | FFTW_MPI_TRANSPOSED_OUT);
  for (int repeat = 0; repeat < 10; ++repeat) {
    fill(&in[0][0], 2 * here * y * z, 2 * first * y * z + repeat);
    fftw_execute(plan);
  }
  append(file, &out[0][0], 2 * there * x * z, 2 * room, rank, ranks);
  fftw_destroy_plan(plan);
  fftw_free(in);
  fftw_free(out);
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  FILE *file = rank == 0 ? fopen("answer.bin", "wb") : NULL;
  transpose(file, 64, 48, rank, ranks);   // equal blocks on 4 ranks
  transpose(file, 129, 31, rank, ranks);  // blocks differ
  transpose(file, 3, 500, rank, ranks);   // fewer rows than ranks
  transform(file, 32, 16, 10, rank, ranks);
  transform(file, 18, 27, 5, rank, ranks);
  if (file) fclose(file);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return 0;
}
