/* A BLAS with threads of its own, in turn with those of OpenMP.  Usage: blas_threads LIBRARY; prints what it has
 * computed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 400, ROUNDS = 8, ROW_MAJOR = 101, AS_IT_IS = 111 };

typedef void multiply(int order, int a_how, int b_how, int rows, int columns, int depth, double alpha, const double *a,
                      int a_stride, const double *b, int b_stride, double beta, double *c, int c_stride);

static double a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];

static void __attribute__((noinline)) fill(double *matrix, int number)
{
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < SIZE * SIZE; i++)
    matrix[i] = (i % 7) + number;
}

int main(int argc, char **argv)
{
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  multiply *dgemm = library ? (multiply *)dlsym(library, "cblas_dgemm") : NULL;
  if (!dgemm) {
    fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "no library");
    return EXIT_FAILURE;
  }
  double sum = 0;
  for (int round = 0; round < ROUNDS; round++) {
    fill(a, round);
    fill(b, 1);
    dgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 0, c, SIZE);
    for (int i = 0; i < SIZE * SIZE; i++)
      sum += c[i];
  }
  printf("%.0f\n", sum);
  return EXIT_SUCCESS;
}
