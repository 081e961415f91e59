/* Four programs with the faults that Liu, Mellor-Crummey and Fagan found (ICS'13, section 5), each with and without its
 * fault. */
#include <omp.h>
#include <stdlib.h>

#include "burn.h"
#include "modes.h"

/* ---- AMG: a serial setup; a solver with static blocks of equal size that take different times ---- */

enum { BLOCKS = 20, ITERATIONS = 4 };

NOINLINE double coarsen(void) { return burn(0.3) + 1; }
NOINLINE double relax_block(int block) { return burn(block < BLOCKS / 2 ? 0.009 : 0.003) + 2; }

NOINLINE void relax_static(void)
{
#pragma omp parallel for schedule(static)
  for (int block = 0; block < BLOCKS; block++)
    relax_block(block);
}

NOINLINE void relax_dynamic(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int block = 0; block < BLOCKS; block++)
    relax_block(block);
}

static void amg(void)
{
#pragma omp parallel
  ;
  coarsen();
  for (int i = 0; i < ITERATIONS; i++)
    relax_static();
  for (int i = 0; i < ITERATIONS; i++)
    relax_dynamic();
}

/* ---- LULESH: arrays that are allocated before each region and returned to the system after it ---- */

enum { ARRAYS = 3, ELEMENTS = 36 * 1024 * 1024 / sizeof(double), STEPS = 8 };

NOINLINE void allocate(double **arrays)
{
  for (int i = 0; i < ARRAYS; i++)
    if (!(arrays[i] = malloc(ELEMENTS * sizeof(double))))
      abort();
}

NOINLINE void release(double **arrays)
{
  for (int i = 0; i < ARRAYS; i++)
    free(arrays[i]);
  __asm__ volatile("" ::: "memory");
}

NOINLINE void fill_element(double **arrays, size_t i)
{
  for (int which = 0; which < ARRAYS; which++)
    arrays[which][i] = (double)i;
}

NOINLINE void fill(double **arrays)
{
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < ELEMENTS; i += 128)
    fill_element(arrays, i);
}

static void lulesh(void)
{
  double *arrays[ARRAYS];
  for (int i = 0; i < STEPS; i++) {
    allocate(arrays);
    fill(arrays);
    release(arrays);
  }
}

/* ---- BT-MZ: an inner region for very little work ---- */

enum { EXCHANGES = 3000 };

NOINLINE double solve(void) { return burn(0.1) + 1; }

static volatile double border[64];

static void copy_border(int i)
{
  border[i] = border[i] + i;
}

NOINLINE void exchange_by_two(void)
{
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 64; i++)
    copy_border(i);
}

NOINLINE void exchange_alone(void)
{
  for (int i = 0; i < 64; i++)
    copy_border(i);
}

static void zones(void (*exchange)(void))
{
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    solve();
    for (int i = 0; i < EXCHANGES; i++)
      exchange();
  }
}

static void btmz(void) { zones(exchange_by_two); }
static void btmz_flat(void) { zones(exchange_alone); }

/* ---- HEALTH: tiny tasks, down to a level of the tree ---- */

static int cutoff, patients;
static omp_lock_t list;

static void tiny(double turns)
{
  volatile double sum = 0;
  for (double i = 0; i < turns; i++)
    sum = sum + i;
}

/* A village checks its patients, in a list of its own or in one that all villages share. */
NOINLINE void check_patients(int locked)
{
  if (!locked) {
    tiny(patients);
    return;
  }
  omp_set_lock(&list);
  tiny(patients);
  omp_unset_lock(&list);
  __asm__ volatile("" ::: "memory");
}

NOINLINE void sim_village_alone(int level)
{
  for (int i = 0; level > 0 && i < 4; i++)
    sim_village_alone(level - 1);
  check_patients(0);
}

NOINLINE void sim_village(int level, int locked)
{
  if (level <= cutoff) {
    sim_village_alone(level);
    return;
  }
  for (int i = 0; level > 0 && i < 4; i++) {
#pragma omp task
    sim_village(level - 1, locked);
  }
#pragma omp taskwait
  check_patients(locked);
}

static void villages(int level, int until, int locked)
{
  cutoff = until;
  patients = locked ? 3000 : 30;
  for (int i = 0; i < 3; i++) {
#pragma omp parallel
#pragma omp single
    sim_village(level, locked);
  }
}

static void health(void) { villages(9, -1, 0); }
static void health_cutoff(void) { villages(9, 5, 0); }
static void health_locked(void) { villages(6, -1, 1); }
static void health_locked_cutoff(void) { villages(6, 4, 1); }

int main(int argc, char **argv)
{
  static const struct mode modes[] = {{"amg", amg},
               {"lulesh", lulesh},
               {"btmz", btmz},
               {"btmz-flat", btmz_flat},
               {"health", health},
               {"health-cutoff", health_cutoff},
               {"health-locked", health_locked},
               {"health-locked-cutoff", health_locked_cutoff}};
  double began = wall_clock();
  omp_init_lock(&list);
  if (!RUN_MODE(modes, argc, argv))
    return 2;
  say("elapsed", wall_clock() - began);
  return 0;
}
