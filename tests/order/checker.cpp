/* Runs code that gcc has compiled with -fsanitize=thread under Relacy's model of the memory orders of C11 and C++11:
 * every access calls a function of the sanitizer's interface, and these are defined here.  An atomic load may return
 * any value that the model permits, not only the latest one; two accesses, one of them plain and one of them a store,
 * that nothing orders are a fault.
 *
 *   checker                                          prints the scenarios' names
 *   checker NAME EXECUTIONS [ADDRESS=ORDER ...]      the operation that returns to ADDRESS gets that order
 *
 * The second one prints "site ADDRESS OPERATION ORDER" for each atomic operation of more than relaxed order that was
 * reached.  After a fault it prints "fault TEXT" and the latest accesses, and exits with 1.
 *
 * Relacy's limits hold: no load sees a store that follows later (no load buffering), a fence of seq_cst orders all
 * that is before it with all that is after the next one, and a failed compare-and-swap has read the latest value. */
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <relacy/pch.hpp>
#define atomic_history_size size_unused
#include <relacy/defs.hpp>
#undef atomic_history_size
namespace rl
{
size_t const atomic_history_size = 8; /* a load may return a value that so many others, less 2, have followed */
}
#include <relacy/relacy.hpp>
#undef malloc
#undef free
#undef calloc

extern "C" {
#include "tests/order/checker.h"
}

namespace
{

enum { THREADS = ORDER_THREADS, WORD = 8, WORDS = 1 << 16, TRACE = 80, SITES = 1 << 12, STEPS = 100000 };

/* The sanitizer's numbers of orders. */
enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };
const char *const order_names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};

enum kind { PLAIN_LOAD, PLAIN_STORE, ATOMIC_LOAD, ATOMIC_STORE, KINDS };
const char *const kind_names[] = {"reads", "writes", "loads", "stores"};

/* For each kind of access, those of other threads that must be ordered with it. */
const bool conflicts[KINDS][KINDS] = {
    {false, true, false, true}, {true, true, true, true}, {false, true, false, false}, {true, true, false, false}};

/* An atomic object: what was stored in it, as Relacy numbers the stores. */
struct cell {
  unsigned size;
  rl::atomic_data *data;
  uint64_t values[rl::atomic_history_size];
  unsigned newest; /* index of the latest store */
};

/* Eight bytes of memory: when each thread has accessed each byte last, and the atomic objects that begin there. */
struct word {
  uintptr_t address;
  unsigned execution;
  rl::timestamp_t times[KINDS][WORD][THREADS];
  cell *cells[WORD];
};

struct access {
  int thread;
  const char *operation;
  uintptr_t address, from;
  uint64_t value;
  int order;
};

struct site {
  uintptr_t from;
  const char *operation;
  int order, as; /* in the source, and here; as < 0: the same */
};

word words[WORDS];
unsigned execution, steps;
bool concurrent; /* the threads run: before and after them, all is in order */
word *used[WORDS];
unsigned used_count;
access trace[TRACE];
unsigned traced;
site sites[SITES];
const scenario *running;

rl::thread_info_base &self()
{
  return *rl::ctx().threadx_;
}

void note(const char *operation, uintptr_t address, uintptr_t from, uint64_t value, int order)
{
  trace[traced++ % TRACE] = {self().index_, operation, address, from, value, order};
}

[[noreturn]] void fault(const char *what)
{
  printf("fault %s (execution %u)\n", what, execution);
  for (unsigned i = traced > TRACE ? traced - TRACE : 0; i < traced; i++) {
    const access &a = trace[i % TRACE];
    printf("access %lx thread %d %s %lx = %lx %s\n", a.from, a.thread, a.operation, a.address, a.value,
           a.order < 0 ? "" : order_names[a.order]);
  }
  fflush(stdout);
  _exit(1);
}

word &word_at(uintptr_t address)
{
  uintptr_t base = address / WORD * WORD;
  for (size_t i = base / WORD * 0x9e3779b97f4a7c15u >> 48;; i = (i + 1) % WORDS) {
    word &w = words[i];
    if (w.execution != execution) {
      if (used_count == WORDS / 2)
        fault("the scenario uses too much memory");
      used[used_count++] = &w;
      memset(&w, 0, sizeof w);
      w.address = base;
      w.execution = execution;
    }
    if (w.address == base)
      return w;
  }
}

/* Orders the access with those of other threads, or fails. */
void check(uintptr_t address, unsigned size, kind kind, uintptr_t from)
{
  rl::thread_info_base &t = self();
  rl::timestamp_t now = ++t.own_acq_rel_order_;
  for (unsigned i = 0; i < size; i++) {
    word &w = word_at(address + i);
    unsigned byte = (address + i) % WORD;
    for (int other = 0; other < KINDS; other++)
      for (int thread = 0; thread < THREADS; thread++)
        if (conflicts[kind][other] && thread != t.index_ && t.acq_rel_order_[thread] < w.times[other][byte][thread]) {
          static char text[200];
          note(kind_names[kind], address, from, 0, -1);
          snprintf(text, sizeof text, "race: thread %d %s %u bytes at %lx, which thread %d %s", t.index_,
                   kind_names[kind], size, address, thread, kind_names[other]);
          fault(text);
        }
    w.times[kind][byte][t.index_] = now;
  }
}

uint64_t memory_at(uintptr_t address, unsigned size)
{
  uint64_t value = 0;
  memcpy(&value, (const void *)address, size);
  return value;
}

void remove(cell *&c)
{
  if (c)
    rl::ctx().atomic_dtor(c->data);
  free(c);
  c = nullptr;
}

/* Is the place, in the same word, accessed in several sizes?  Then each byte is an object of its own. */
bool is_split(uintptr_t address, unsigned size)
{
  word &w = word_at(address);
  unsigned begin = address % WORD;
  bool split = false;
  for (unsigned i = 0; i < WORD; i++)
    if (cell *&c = w.cells[i]; c && i < begin + size && i + c->size > begin && (i != begin || c->size != size)) {
      split = true;
      if (c->size > 1)
        remove(c); /* its older values are forgotten */
    }
  return split;
}

/* The atomic object at that place.  Its first value is the memory's: it was stored before, as all see. */
cell &cell_at(uintptr_t address, unsigned size)
{
  cell *&c = word_at(address).cells[address % WORD];
  if (!c) {
    c = (cell *)calloc(1, sizeof *c);
    c->size = size;
    c->data = rl::ctx().atomic_ctor(c);
    auto *data = static_cast<rl::atomic_data_impl<THREADS> *>(c->data);
    memset(data->history_, 0, sizeof data->history_);
    c->newest = self().atomic_init(c->data);
    for (rl::timestamp_t &seen : data->history_[c->newest].first_seen_order_)
      seen = (rl::timestamp_t)-1;
  }
  c->values[c->newest] = memory_at(address, size); /* a plain store has changed it */
  return *c;
}

void plain(uintptr_t address, unsigned size, bool store, uintptr_t from)
{
  if (!concurrent)
    return;
  check(address, size, store ? PLAIN_STORE : PLAIN_LOAD, from);
  for (uintptr_t base = address / WORD * WORD; store && base < address + size; base += WORD) {
    word &w = word_at(base);
    for (unsigned i = 0; i < WORD; i++)
      if (w.cells[i] && base + i + w.cells[i]->size > address && base + i < address + size) {
        cell &c = cell_at(base + i, w.cells[i]->size);
        c.newest = self().atomic_store_relaxed(c.data);
      }
  }
}

/* The order of an operation, as the command line has changed it. */
int ordered(const char *operation, int order, uintptr_t from)
{
  for (size_t i = from * 0x9e3779b97f4a7c15u >> 52;; i = (i + 1) % SITES) {
    site &s = sites[i];
    if (!s.from)
      s = {from, nullptr, order, -1};
    if (s.from == from) {
      s.operation = operation;
      s.order = order;
      return s.as < 0 ? order : s.as;
    }
  }
}

/* Another thread may go on before the next operation. */
void switch_thread()
{
  if (++steps > STEPS)
    fault("the threads come to no end");
  rl::ctx().sched();
}

/* Only loads may be of several objects. */
void whole(uintptr_t address, unsigned size)
{
  if (is_split(address, size) && size > 1)
    fault("an atomic change of several objects");
}

uint64_t load_now(uintptr_t address, unsigned size, int order, uintptr_t from)
{
  if (is_split(address, size) && size > 1) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
      value |= load_now(address + i, 1, order, from) << 8 * i;
    return value;
  }
  cell &c = cell_at(address, size);
  rl::thread_info_base &t = self();
  unsigned i = order == SEQ_CST   ? t.atomic_load_seq_cst(c.data)
               : order == RELAXED ? t.atomic_load_relaxed(c.data)
                                  : t.atomic_load_acquire(c.data);
  note("loads", address, from, c.values[i], order);
  check(address, size, ATOMIC_LOAD, from);
  return c.values[i];
}

void set(cell &c, uintptr_t address, unsigned index, uint64_t value)
{
  memcpy((void *)address, &value, c.size);
  c.values[index] = memory_at(address, c.size);
  c.newest = index;
}

uint64_t load(uintptr_t address, unsigned size, int order, uintptr_t from)
{
  if (!concurrent)
    return memory_at(address, size);
  order = ordered("load", order, from);
  switch_thread();
  return load_now(address, size, order, from);
}

void store(uintptr_t address, unsigned size, uint64_t value, int order, uintptr_t from)
{
  if (!concurrent) {
    memcpy((void *)address, &value, size);
    return;
  }
  order = ordered("store", order, from);
  switch_thread();
  whole(address, size);
  cell &c = cell_at(address, size);
  note("stores", address, from, value, order);
  check(address, size, ATOMIC_STORE, from);
  rl::thread_info_base &t = self();
  set(c, address,
      order == SEQ_CST   ? t.atomic_store_seq_cst(c.data)
      : order == RELAXED ? t.atomic_store_relaxed(c.data)
                         : t.atomic_store_release(c.data),
      value);
}

/* Reads and writes the object: change(value) is the new one. */
template <class F> uint64_t rmw(cell &c, uintptr_t address, F change, int order, uintptr_t from)
{
  rl::thread_info_base &t = self();
  uint64_t before = c.values[c.newest];
  bool unused;
  note("changes", address, from, change(before), order);
  check(address, c.size, ATOMIC_STORE, from);
  set(c, address,
      order == SEQ_CST   ? t.atomic_rmw_seq_cst(c.data, unused)
      : order == ACQ_REL ? t.atomic_rmw_acq_rel(c.data, unused)
      : order == RELEASE ? t.atomic_rmw_release(c.data, unused)
      : order == RELAXED ? t.atomic_rmw_relaxed(c.data, unused)
                         : t.atomic_rmw_acquire(c.data, unused),
      change(before));
  return before;
}

template <class F>
uint64_t change(uintptr_t address, unsigned size, F function, const char *operation, int order, uintptr_t from)
{
  if (!concurrent) {
    uint64_t before = memory_at(address, size), after = function(before);
    memcpy((void *)address, &after, size);
    return before;
  }
  order = ordered(operation, order, from);
  switch_thread();
  whole(address, size);
  return rmw(cell_at(address, size), address, function, order, from);
}

bool swap(uintptr_t address, unsigned size, uint64_t &expected, uint64_t desired, int order, int failed, bool weak,
          uintptr_t from)
{
  if (!concurrent) {
    uint64_t before = memory_at(address, size);
    if (before == expected)
      memcpy((void *)address, &desired, size);
    bool done = before == expected;
    expected = before;
    return done;
  }
  int as = ordered("compare_exchange", order, from);
  if (as != order)
    failed = as == ACQ_REL ? ACQUIRE : as == RELEASE ? RELAXED : as;
  switch_thread();
  whole(address, size);
  cell &c = cell_at(address, size);
  rl::thread_info_base &t = self();
  bool fails = c.values[c.newest] != expected || (weak && rl::ctx().rand(4, rl::sched_type_cas_fail) == 0);
  if (!fails) {
    rmw(
        c, address, [desired](uint64_t) { return desired; }, as, from);
    return true;
  }
  unsigned i = failed == SEQ_CST   ? t.atomic_load_seq_cst_rmw(c.data)
               : failed == RELAXED ? t.atomic_load_relaxed_rmw(c.data)
                                   : t.atomic_load_acquire_rmw(c.data);
  expected = c.values[i % rl::atomic_history_size];
  note("fails to change", address, from, expected, failed);
  check(address, size, ATOMIC_LOAD, from);
  return false;
}

struct suite : rl::test_suite<suite, THREADS> {
  void before()
  {
    execution++;
    used_count = traced = steps = 0;
    running->setup();
    concurrent = true;
  }
  void thread(unsigned index)
  {
    if ((int)index < running->threads)
      running->run((int)index);
  }
  void after()
  {
    concurrent = false;
    if (running->check)
      running->check();
    for (unsigned i = 0; i < used_count; i++)
      for (cell *&c : used[i]->cells)
        remove(c);
  }
};

void print_sites()
{
  for (const site &s : sites)
    if (s.operation && s.order != RELAXED)
      printf("site %lx %s %s\n", s.from, s.operation, order_names[s.order]);
}

} // namespace

#define FROM ((uintptr_t)__builtin_return_address(0))

extern "C" {
void __real_sys_unmap(void *memory, size_t size);

void order_failed(const char *what)
{
  fault(what);
}

void order_switch(void)
{
  if (concurrent)
    switch_thread();
}

/* In place of functions of core/sys.c. */
void __wrap_sys_yield(void)
{
  order_switch();
}

void __wrap_sys_barrier_all(void)
{
  rl::ctx().rl_global_fence();
}

uint64_t __wrap_sys_monotonic_ns(void)
{
  return 0;
}

/* The memory stays: whoever uses it afterwards, or at the same time, is found out. */
void __wrap_sys_unmap(void *memory, size_t size)
{
  if (!concurrent)
    __real_sys_unmap(memory, size);
  else
    plain((uintptr_t)memory, (unsigned)size, true, FROM);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *)
{
}

void __tsan_func_exit(void)
{
}

#define PLAIN(bits, bytes)                                                                                             \
  void __tsan_read##bytes(void *p)                                                                                     \
  {                                                                                                                    \
    plain((uintptr_t)p, bytes, false, FROM);                                                                           \
  }                                                                                                                    \
  void __tsan_write##bytes(void *p)                                                                                    \
  {                                                                                                                    \
    plain((uintptr_t)p, bytes, true, FROM);                                                                            \
  }                                                                                                                    \
  void __tsan_unaligned_read##bytes(void *p)                                                                           \
  {                                                                                                                    \
    plain((uintptr_t)p, bytes, false, FROM);                                                                           \
  }                                                                                                                    \
  void __tsan_unaligned_write##bytes(void *p)                                                                          \
  {                                                                                                                    \
    plain((uintptr_t)p, bytes, true, FROM);                                                                            \
  }
PLAIN(8, 1)
PLAIN(16, 2)
PLAIN(32, 4)
PLAIN(64, 8)
PLAIN(128, 16)

void __tsan_read_range(void *p, unsigned long size)
{
  plain((uintptr_t)p, (unsigned)size, false, FROM);
}

void __tsan_write_range(void *p, unsigned long size)
{
  plain((uintptr_t)p, (unsigned)size, true, FROM);
}

void *order_memcpy(void *to, const void *from, size_t size)
{
  plain((uintptr_t)from, (unsigned)size, false, FROM);
  plain((uintptr_t)to, (unsigned)size, true, FROM);
  return memcpy(to, from, size);
}

void *order_memset(void *to, int byte, size_t size)
{
  plain((uintptr_t)to, (unsigned)size, true, FROM);
  return memset(to, byte, size);
}

#define CHANGE(bits, name, expression)                                                                                 \
  uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *p, uint##bits##_t operand, int order)           \
  {                                                                                                                    \
    return (uint##bits##_t)change((uintptr_t)p, bits / 8,                                                              \
                                  [operand](uint64_t value) { return (uint64_t)(expression); }, #name, order, FROM);   \
  }

#define ATOMIC(bits)                                                                                                   \
  uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order)                               \
  {                                                                                                                    \
    return (uint##bits##_t)load((uintptr_t)p, bits / 8, order, FROM);                                                  \
  }                                                                                                                    \
  void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t value, int order)                        \
  {                                                                                                                    \
    store((uintptr_t)p, bits / 8, value, order, FROM);                                                                 \
  }                                                                                                                    \
  CHANGE(bits, exchange, (value, operand))                                                                             \
  CHANGE(bits, fetch_add, value + operand)                                                                             \
  CHANGE(bits, fetch_sub, value - operand)                                                                             \
  CHANGE(bits, fetch_and, value &operand)                                                                              \
  CHANGE(bits, fetch_or, value | operand)                                                                              \
  CHANGE(bits, fetch_xor, value ^ operand)                                                                             \
  bool __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *p, uint##bits##_t *expected,             \
                                                     uint##bits##_t desired, int order, int failed)                    \
  {                                                                                                                    \
    uint64_t value = *expected;                                                                                        \
    bool done = swap((uintptr_t)p, bits / 8, value, desired, order, failed, false, FROM);                              \
    *expected = (uint##bits##_t)value;                                                                                 \
    return done;                                                                                                       \
  }                                                                                                                    \
  bool __tsan_atomic##bits##_compare_exchange_weak(volatile uint##bits##_t *p, uint##bits##_t *expected,               \
                                                   uint##bits##_t desired, int order, int failed)                      \
  {                                                                                                                    \
    uint64_t value = *expected;                                                                                        \
    bool done = swap((uintptr_t)p, bits / 8, value, desired, order, failed, true, FROM);                               \
    *expected = (uint##bits##_t)value;                                                                                 \
    return done;                                                                                                       \
  }
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order)
{
  if (!concurrent)
    return;
  order = ordered("fence", order, FROM);
  note("fence", 0, FROM, 0, order);
  if (order == ACQUIRE)
    rl::ctx().atomic_thread_fence_acquire();
  else if (order == RELEASE)
    rl::ctx().atomic_thread_fence_release();
  else if (order == ACQ_REL)
    rl::ctx().atomic_thread_fence_acq_rel();
  else if (order == SEQ_CST)
    rl::ctx().atomic_thread_fence_seq_cst();
}

void __tsan_atomic_signal_fence(int)
{
}
}

int main(int argc, char **argv)
{
  if (argc < 3) {
    for (const scenario *s = order_scenarios; s->name; s++)
      puts(s->name);
    return 0;
  }
  for (running = order_scenarios; strcmp(running->name, argv[1]); running++)
    ;
  for (int i = 3; i < argc; i++) {
    char *order;
    uintptr_t from = strtoul(argv[i], &order, 16);
    ordered(nullptr, RELAXED, from);
    for (site &s : sites)
      for (int k = RELAXED; s.from == from && k <= SEQ_CST; k++)
        if (!strcmp(order_names[k], order + 1))
          s.as = k;
  }
  rl::test_params params;
  std::ostream silent(nullptr);
  params.output_stream = params.progress_stream = &silent;
  params.iteration_count = strtoul(argv[2], nullptr, 10);
  params.execution_depth_limit = 2 * STEPS;
  rl::simulate<suite>(params); /* a fault has ended the process */
  print_sites();
  return 0;
}
