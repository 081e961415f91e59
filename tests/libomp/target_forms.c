/* Forms of target constructs, in the style of the public validation suites: each prints what it has computed.
 * Usage: target_forms maps|globals|pointers|teams|reductions|chains|copies|devices|sections|host|tasks */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 64 };

static int values[LENGTH], others[LENGTH];

static void fill(int *array, int first)
{
  for (int i = 0; i < LENGTH; i++)
    array[i] = first + i;
}

static long sum(const int *array)
{
  long all = 0;
  for (int i = 0; i < LENGTH; i++)
    all += array[i];
  return all;
}

/* ---- map kinds: 3 targets, 2 enter data, 3 exit data, 1 data, 1 update ---- */

static void maps(void)
{
  int kept = 1, scratch[LENGTH], own = 5, copy = 7;
  fill(values, 0);
  fill(others, 100);
#pragma omp target map(to : values) map(from : others) map(alloc : scratch) firstprivate(copy) private(own)
  {
    own = copy;
    for (int i = 0; i < LENGTH; i++)
      scratch[i] = values[i] * 2;
    for (int i = 0; i < LENGTH; i++)
      others[i] = scratch[i] + own;
  }
  printf("to, from, alloc: %ld %ld, private %d\n", sum(values), sum(others), own);
#pragma omp target enter data map(to : values) map(alloc : others)
#pragma omp target map(always, tofrom : values) map(alloc : others)
  for (int i = 0; i < LENGTH; i++)
    others[i] = ++values[i];
  printf("always: %ld\n", sum(values));
#pragma omp target exit data map(delete : others)
#pragma omp target exit data map(release : values)
  printf("deleted: %d, present %d\n", others[0], omp_target_is_present(values, omp_get_default_device()));
#pragma omp target data map(tofrom : kept)
  {
#pragma omp target map(tofrom : kept)
    kept = 2;
    kept = 3;
#pragma omp target update to(kept)
  }
  printf("kept: %d\n", kept);
#pragma omp target enter data map(to : kept)
#pragma omp target exit data map(from : kept)
}

/* ---- declare target: 3 targets, 2 updates ---- */

#pragma omp declare target
int table[LENGTH]; /* a device finds it by its name */
int counter;
static int twice(int value)
{
  counter++;
  return 2 * value;
}
#pragma omp end declare target

static void globals(void)
{
  fill(table, 10);
#pragma omp target update to(table)
#pragma omp target
  for (int i = 0; i < LENGTH; i++)
    table[i] = twice(table[i]);
#pragma omp target update from(table)
  int called = 0;
#pragma omp target map(from : called)
  called = counter;
#pragma omp target map(tofrom : called)
  called += table[0];
  printf("table: %ld, called %d\n", sum(table), called);
}

/* ---- addresses of the device: 3 targets, 2 data ---- */

static void pointers(void)
{
  int device = omp_get_default_device();
  int *there = omp_target_alloc(sizeof values, device);
  fill(values, 3);
#pragma omp target is_device_ptr(there) map(to : values)
  for (int i = 0; i < LENGTH; i++)
    there[i] = values[i] + 1;
#pragma omp target is_device_ptr(there) map(from : others)
  for (int i = 0; i < LENGTH; i++)
    others[i] = there[i];
  omp_target_free(there, device);
  int *pointer = values;
#pragma omp target data map(tofrom : pointer[:LENGTH]) use_device_ptr(pointer)
  {
    int *inside = pointer;
#pragma omp target is_device_ptr(inside)
    inside[0] = 1000;
  }
#pragma omp target data map(tofrom : others) use_device_addr(others)
  ;
  printf("pointers: %ld %ld\n", sum(values), sum(others));
}

/* ---- combined constructs: 4 targets ---- */

static void teams(void)
{
  int grid[8][8], of_team[4] = {0}, count = 0;
#pragma omp target teams distribute map(from : values)
  for (int i = 0; i < LENGTH; i++)
    values[i] = i;
#pragma omp target teams distribute parallel for num_teams(2) map(tofrom : values)
  for (int i = 0; i < LENGTH; i++)
    values[i] *= 3;
#pragma omp target parallel for collapse(2) num_threads(2) map(from : grid)
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 8; k++)
      grid[i][k] = i * k;
#pragma omp target teams num_teams(2) reduction(+ : count) map(tofrom : of_team, count)
  {
    of_team[omp_get_team_num()]++;
    count++;
  }
  printf("teams: %ld, grid %d, league %d %d %d\n", sum(values), grid[7][7], of_team[0], of_team[1], count);
}

/* ---- reductions: 3 targets ---- */

static void reductions(void)
{
  long added = 0;
  int largest = -1, all = -1;
  fill(values, 1);
#pragma omp target teams distribute parallel for num_teams(2) reduction(+ : added) map(tofrom : added)
  for (int i = 0; i < LENGTH; i++)
    added += values[i];
#pragma omp target parallel for num_threads(2) reduction(max : largest) map(tofrom : largest)
  for (int i = 0; i < LENGTH; i++)
    largest = values[i] > largest ? values[i] : largest;
#pragma omp target teams num_teams(2) reduction(& : all) map(tofrom : all)
  all &= 12;
  printf("reductions: %ld %d %d\n", added, largest, all);
}

/* ---- nowait and depend: 5 targets, 1 enter data, 1 exit data, 1 update ---- */

static void chains(void)
{
  int first = 1, second = 0, hosts = 0;
#pragma omp target enter data map(to : first, second) nowait depend(out : first, second)
#pragma omp target nowait depend(inout : first) map(tofrom : first)
  first += 1;
#pragma omp target nowait depend(in : first) depend(inout : second) map(tofrom : first, second)
  second = first * 10;
#pragma omp target nowait depend(inout : second) map(tofrom : second)
  second += 3;
#pragma omp target update from(second) nowait depend(inout : second)
#pragma omp task shared(hosts, second) depend(in : second) depend(out : hosts)
  hosts = second + 100;
#pragma omp target nowait depend(inout : hosts) map(tofrom : hosts)
  hosts *= 2;
#pragma omp target depend(inout : first) map(tofrom : first)
  first += 1;
#pragma omp target exit data map(from : first, second) nowait depend(inout : first, second)
#pragma omp taskwait
  printf("chains: %d %d %d\n", first, second, hosts);
}

/* ---- copies by calls: 1 target ---- */

static void copies(void)
{
  int host = omp_get_initial_device(), device = omp_get_default_device(), count = omp_get_num_devices();
  int other = count ? count - 1 : host;
  int *there = omp_target_alloc(sizeof values, device), *beyond = omp_target_alloc(sizeof values, other);
  fill(values, 7);
  int failed = omp_target_memcpy(there, values, sizeof values, 0, 0, device, host);
  failed |= omp_target_memcpy(beyond, there, sizeof values, 0, 0, other, device);
#pragma omp target is_device_ptr(beyond) device(other)
  beyond[1] = 0;
  failed |= omp_target_memcpy(others, beyond, sizeof others / 2, 0, 0, host, other);
  size_t volume[] = {2, 4}, none[] = {0, 0}, size[] = {8, 8};
  failed |= omp_target_memcpy_rect(others, there, sizeof *others, 2, volume, none, none, size, size, host, device);
  omp_target_free(there, device);
  omp_target_free(beyond, other);
  printf("copies: %ld, failed %d\n", sum(others), failed);
}

/* ---- two devices: 4 targets, 2 data ---- */

static void devices(void)
{
  int found[2] = {0, 0}, count = omp_get_num_devices();
  for (int device = 0; device < 2; device++) {
#pragma omp target data map(tofrom : found[device]) device(device)
    {
#pragma omp target device(device) nowait
      found[device] += 1 + device;
#pragma omp taskwait
#pragma omp target device(device)
      found[device] *= 10;
    }
  }
  printf("devices: %d %d, two at least %d\n", found[0], found[1], count >= 2);
}

/* ---- array sections and members: 3 targets ---- */

struct list {
  int length, *values;
};

static void sections(void)
{
  struct list list = {LENGTH, malloc(LENGTH * sizeof(int))};
  fill(list.values, 0);
  fill(values, 0);
#pragma omp target map(tofrom : values [8:16])
  for (int i = 8; i < 24; i++)
    values[i] = -1;
#pragma omp target map(tofrom : list) map(tofrom : list.values[:LENGTH])
  for (int i = 0; i < list.length; i++)
    list.values[i] += 2;
#pragma omp target map(to : list.length) map(tofrom : list.values [0:4])
  list.values[3] = list.length;
  printf("sections: %ld %ld\n", sum(values), sum(list.values));
  free(list.values);
}

/* ---- regions that run on the host: no target at all ---- */

static void host(void)
{
  int where = 0, device = omp_get_initial_device();
#pragma omp target if (device < 0) map(tofrom : where)
  where = omp_is_initial_device();
  int also = 0;
#pragma omp target device(device) map(tofrom : also)
  also = omp_is_initial_device();
  printf("host: %d %d\n", where, also);
}

/* ---- targets of several threads and tasks: 12 targets ---- */

static void tasks(void)
{
  int of_threads[2] = {0, 0}, of_tasks[8] = {0};
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
#pragma omp target map(tofrom : of_threads[me])
    of_threads[me]++;
#pragma omp target map(tofrom : of_threads[me])
    of_threads[me]++;
#pragma omp single
    for (int i = 0; i < 8; i++) {
#pragma omp task firstprivate(i) shared(of_tasks)
      {
#pragma omp target map(tofrom : of_tasks[i])
        of_tasks[i] = i;
      }
    }
  }
  int all = 0;
  for (int i = 0; i < 8; i++)
    all += of_tasks[i];
  printf("tasks: %d %d %d\n", of_threads[0], of_threads[1], all);
}

int main(int count, char **arguments)
{
  static const struct {
    const char *name;
    void (*run)(void);
  } forms[] = {{"maps", maps},
               {"globals", globals},
               {"pointers", pointers},
               {"teams", teams},
               {"reductions", reductions},
               {"chains", chains},
               {"copies", copies},
               {"devices", devices},
               {"sections", sections},
               {"host", host},
               {"tasks", tasks}};
  for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
    for (int k = 1; k < count; k++)
      if (!strcmp(forms[i].name, arguments[k]))
        forms[i].run();
  return 0;
}
