// Objects of classes in tasks and task loops, which GCC copies by a function of its own, exceptions in regions, and a
// template with many task functions; see gomp_cases.h.
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <omp.h>

#include "gomp_cases.h"

static long total;

static void add(long value)
{
#pragma omp atomic
  total += value;
}

static long taken()
{
  long value = total;
  total = 0;
  return value;
}

// Counts the objects that live: none may be lost, none destroyed twice.
struct counted {
  static long alive;
  long value;
  explicit counted(long v) : value(v)
  {
    change(1);
  }
  counted(const counted &other) : value(other.value)
  {
    change(1);
  }
  counted &operator=(const counted &other) = default;
  ~counted()
  {
    value = -1;
    change(-1);
  }
  static void change(long by)
  {
#pragma omp atomic
    alive += by;
  }
};
long counted::alive = 0;

struct alignas(64) wide {
  std::string text;
  explicit wide(const char *t) : text(t)
  {
  }
};

extern counted one;
#pragma omp threadprivate(one)
counted one(11);

#pragma omp declare reduction(join : std::vector <long> : omp_out.insert(omp_out.end(), omp_in.begin(), omp_in.end()))

static void class_tasks()
{
  counted object(5);
  std::vector<long> many(1000, 3);
  wide text("text");
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 50; i++) {
    object.value = i;
#pragma omp task firstprivate(object, many) if (i % 3)
    add(object.value + std::accumulate(many.begin(), many.end(), 0L));
#pragma omp task firstprivate(text) final(i % 4 == 0)
    add((long)text.text.size() + 1000000L * (reinterpret_cast<size_t>(&text) % 64));
#pragma omp task firstprivate(object) untied priority(i)
    {
      counted inner(object);
#pragma omp task firstprivate(inner)
      add(inner.value);
#pragma omp taskwait
    }
  }
  note(taken());
  note(counted::alive >= 1);
}

static void class_taskloops()
{
  counted object(2);
  wide text("texts");
  long last = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop firstprivate(object) grainsize(3)
    for (int i = 0; i < 200; i++)
      add(object.value * i);
#pragma omp taskloop firstprivate(object, text) lastprivate(last) num_tasks(7)
    for (long i = 100; i > 0; i -= 3) {
      last = object.value + i;
      add((long)text.text.size() + 1000000L * (reinterpret_cast<size_t>(&text) % 64));
    }
#pragma omp taskloop firstprivate(object) num_tasks(2000) if (0)
    for (unsigned long long i = 0; i < 4000; i++)
      add(object.value);
  }
  note(taken());
  note(last);
  note(counted::alive >= 1);
}

// libgomp copies the blocks of so many tasks to the stack, which has little room left.
static void class_many_tasks()
{
  counted object(3);
  long sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop firstprivate(object) num_tasks(30000) reduction(+ : sum)
  for (int i = 0; i < 30000; i++)
    sum += object.value;
  note(sum);
}

static void class_cancelled()
{
  counted object(2);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task
    {
#pragma omp cancel taskgroup
    }
#pragma omp taskwait
    for (int i = 0; i < 40; i++)
#pragma omp task firstprivate(object)
      add(object.value);
  }
  note(taken());
}

static void class_regions()
{
  std::vector<long> parts;
  long caught = 0, copied = 0;
  one.value = 21;
#pragma omp parallel for reduction(join : parts) schedule(dynamic)
  for (int i = 0; i < 100; i++)
    parts.push_back(i);
#pragma omp parallel copyin(one) reduction(+ : caught, copied)
  {
    counted shared(3);
#pragma omp single copyprivate(shared)
    shared.value = 8;
    copied += shared.value == 8 && one.value == 21;
#pragma omp for schedule(guided)
    for (int i = 0; i < 50; i++)
      try {
#pragma omp critical
        if (i % 2)
          add(i);
        throw std::runtime_error("caught");
      } catch (const std::exception &) {
        caught++;
      }
#pragma omp single
#pragma omp task
    try {
      throw 3;
    } catch (int value) {
      add(value);
    }
  }
  note((long)parts.size());
  note(std::accumulate(parts.begin(), parts.end(), 0L));
  note(caught);
  note(copied - omp_get_max_threads());
  note(taken());
}

// 5,000 functions of tasks: two in each instance.
template <int N> static void instance()
{
#pragma omp task
  add(N);
#pragma omp task if (N % 2)
  add(N % 7);
}

template <int From, int To> static void all_instances()
{
  if constexpr (To - From == 1)
    instance<From>();
  else {
    all_instances<From, (From + To) / 2>();
    all_instances<(From + To) / 2, To>();
  }
}

static void class_functions()
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 2; i++)
    all_instances<0, 2500>();
  note(taken());
}

static const struct gomp_case rows[] = {
    ROW(class_tasks),     ROW(class_taskloops), ROW(class_many_tasks),
    ROW(class_cancelled), ROW(class_regions),   ROW(class_functions),
};

int main(int argc, char **argv)
{
  return run_cases(rows, sizeof rows / sizeof *rows, argc, argv);
}
