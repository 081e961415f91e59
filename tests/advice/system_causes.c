/* Programs whose threads are kept from their work by something that OpenMP does not see: CAUSE ill|healthy|repaired.
 *
 * The healthy one does the same things where they cost nothing; the repaired one does what the ill one does without the
 * cause. */
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DOUBLES = 1 << 22, STEPS = 40 }; /* more than malloc keeps when it is freed */

static volatile double sink;

__attribute__((noinline)) static double burn(long steps)
{
  double x = 1;
  __asm__ volatile("" : "+r"(steps)); /* not a pure function */
  for (long i = 0; i < steps; i++)
    x = x * 1.0000001 + 1e-9;
  return x;
}

/* ---- page faults: memory that is new in each step ---- */

static double use(double *data, int step)
{
  double sum = 0;
#pragma omp parallel for num_threads(2) /* touch */
  for (int i = 0; i < DOUBLES; i++)
    data[i] = i + step;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
  for (int i = 0; i < DOUBLES; i++)
    sum += data[i];
  return sum;
}

static void faults(int ill, int healthy)
{
  double *kept = ill ? NULL : malloc(DOUBLES * sizeof *kept);
  for (int step = 0; step < (healthy ? 3 * STEPS : STEPS); step++) {
    double *data = ill ? malloc(DOUBLES * sizeof *data) : kept;
    sink = use(data, step);
    if (ill)
      free(data);
  }
  free(kept);
}

/* All memory is new, and is touched once. */
static void once(int ill, int healthy)
{
  long doubles = 16L * DOUBLES;
  double *data = malloc((size_t)doubles * sizeof *data);
  (void)ill;
  (void)healthy;
#pragma omp parallel for num_threads(2)
  for (long i = 0; i < doubles; i++)
    data[i] = (double)i;
  sink = data[doubles / 2];
  free(data);
}

/* ---- small system calls, or one large one ---- */

static void writes(int ill, int healthy)
{
  static char data[1 << 20];
  int size = ill ? 16 : (int)sizeof data, fd = open("/dev/null", O_WRONLY), pipes[2];
  (void)healthy;
  if (fd < 0 || pipe(pipes))
    return;
#pragma omp parallel num_threads(2)
  for (long i = 0; i < 100L * 4096 / (ill ? 1 : 4096); i++)
    if (write(fd, data, (size_t)size) != size || lseek(fd, 0, SEEK_SET) < 0 || fcntl(pipes[0], F_GETFL) < 0)
      abort();
  if (!ill)
    sink = burn(100000000);
}

/* ---- threads that are created again and again ---- */

static void churn(int ill, int healthy)
{
  if (healthy) { /* the same team sizes, each many times */
    for (int team = 2; team <= 4; team += 2)
      for (int i = 0; i < 400; i++)
#pragma omp parallel num_threads(team)
        usleep(50);
    return;
  }
  for (int i = 0; i < 800; i++) {
    int team = ill && i % 2 ? 2 : 4;
#pragma omp parallel num_threads(team) /* churning */
    if (omp_get_thread_num() < 2)
      usleep(50);
  }
}

/* ---- a team in each thread of a team ---- */

static void library(long steps, int team)
{
#pragma omp parallel num_threads(team) /* inner */
  sink = burn(steps / team);
}

static void nested(int ill, int healthy)
{
  omp_set_max_active_levels(healthy ? 1 : 2);
#pragma omp parallel for num_threads(2) schedule(dynamic)
  for (int i = 0; i < 400; i++)
    library(200000, ill || healthy ? 8 : 1);
}

/* ---- a team that a clause makes too large ---- */

static void clause(int ill, int healthy)
{
  int team = ill ? 8 : 2;
  (void)healthy;
  for (int i = 0; i < 40; i++) {
#pragma omp parallel for num_threads(team) schedule(dynamic) /* large */
    for (int k = 0; k < 64; k++)
      sink = burn(40000);
  }
}

/* ---- work for any binding ---- */

static void balanced(int ill, int healthy)
{
  (void)ill;
  (void)healthy;
  for (int i = 0; i < 10; i++) {
#pragma omp parallel for
    for (int k = 0; k < 64; k++)
      sink = burn(100000);
  }
}

/* ---- atomic instructions ---- */

static void atomics(int ill, int healthy)
{
  static long shared;
  long steps = 100000000;
#pragma omp parallel num_threads(2)
  {
    long own = 0;
    if (ill) {
#pragma omp for
      for (long i = 0; i < steps; i++) {
#pragma omp atomic
        shared += i & 1; /* hot */
      }
    } else {
#pragma omp for
      for (long i = 0; i < 4 * steps; i++) {
        own += i & 1;
        __asm__ volatile("" : "+r"(own)); /* in each iteration */
        if (healthy && i % 10000 == 0) {
#pragma omp atomic
          shared += own;
        }
      }
#pragma omp atomic
      shared += own;
    }
  }
  sink = (double)shared;
}

/* ---- the same in a function that serial code calls, too ---- */

__attribute__((noinline)) static void update(long steps)
{
  static long shared;
  for (long i = 0; i < steps; i++)
    __atomic_add_fetch(&shared, i & 1, __ATOMIC_RELAXED);
}

static void phases(int ill, int healthy)
{
  (void)healthy;
  update(200000000);
#pragma omp parallel num_threads(2)
  if (ill)
    update(25000000);
  else
    sink = burn(50000000);
}

static const struct {
  const char *name;
  void (*run)(int ill, int healthy);
} causes[] = {{"faults", faults}, {"once", once},         {"writes", writes},   {"churn", churn},  {"nested", nested},
              {"clause", clause}, {"balanced", balanced}, {"atomics", atomics}, {"phases", phases}};

int main(int argc, char **argv)
{
  for (size_t i = 0; argc == 3 && i < sizeof causes / sizeof *causes; i++)
    if (!strcmp(argv[1], causes[i].name)) {
      double start = omp_get_wtime();
      causes[i].run(!strcmp(argv[2], "ill"), !strcmp(argv[2], "healthy"));
      printf("%.6f\n", omp_get_wtime() - start);
      return 0;
    }
  return 2;
}
