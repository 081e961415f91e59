/* RT: work in CPU time with each switch indicator, also of a thread that sleeps or is preempted; hardware counters. */
#define _GNU_SOURCE
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/sampling/sample.h"
#include "hpcrun-lite/rt/span/work_clock.h"
#include "tests/support/deny_perf_event.h"
#include "tests/unit/rt_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

static struct measured_thread measured;
static struct thread_state *const one = (struct thread_state *)&measured;
static struct format_thread record;

static int setup(void **state)
{
  (void)state;
  memset(&measured, 0, sizeof measured);
  memset(&record, 0, sizeof record);
  one->record = &record;
  one->tid = sys_tid();
  span_process.online = true;
  span_process.work_unit = WORK_CPU_TIME;
  return 0;
}

/* ---- CPU time ---- */

static void burn(uint64_t cpu_ns)
{
  volatile double sum = 0;
  for (uint64_t end = sys_thread_cpu_ns() + cpu_ns; sys_thread_cpu_ns() < end;)
    for (int i = 1; i < 300; i++)
      sum = sum + 1.0 / i;
}

static double ns_per_tick;

static void calibrate(void)
{
  struct sys_moment begun = sys_moment();
  work_clock_calibrate();
  sys_sleep_ns(100000000);
  work_clock_calibrate();
  struct sys_moment now = sys_moment();
  ns_per_tick = (double)(now.ns - begun.ns) / (double)(now.ticks - begun.ticks);
}

static void interrupt_for_50_us(int number)
{
  (void)number;
  for (uint64_t end = sys_monotonic_ns() + 50000; sys_monotonic_ns() < end;)
    ;
}

/* Interrupted 1000 times in a second, often between the two clocks. */
static void clocks_are_read_at_one_moment(void **state)
{
  (void)state;
  struct itimerval often = {{0, 1000}, {0, 1000}}, never = {0};
  signal(SIGALRM, interrupt_for_50_us);
  struct sys_moment now = sys_moment();
  double furthest_ns = 0;
  setitimer(ITIMER_REAL, &often, NULL);
  for (uint64_t end = now.ns + 1000000000; now.ns < end;) {
    struct sys_moment before = now;
    now = sys_moment();
    double apart_ns = (double)(now.ns - before.ns) - (double)(now.ticks - before.ticks) * ns_per_tick;
    furthest_ns = apart_ns > furthest_ns ? apart_ns : -apart_ns > furthest_ns ? -apart_ns : furthest_ns;
  }
  setitimer(ITIMER_REAL, &never, NULL);
  if (furthest_ns > 20000)
    fail_msg("%.0f ns apart", furthest_ns);
}

enum { ROUNDS = 60, TRIES = 3 };

/* Sleeps outside the fragments.  Returns the CPU time of the system call. */
static uint64_t sleep_apart(void)
{
  uint64_t cpu = sys_thread_cpu_ns();
  sys_sleep_ns(3000000);
  return sys_thread_cpu_ns() - cpu;
}

/* Consecutive fragments; sleeps fall between them, into them, and into waits for a lock. */
static double share_found(void)
{
  uint64_t work = 0, apart = 0, cpu = sys_thread_cpu_ns();
  work_clock_begin(one, work_clock_value(one));
  for (int i = 0; i < ROUNDS; i++) {
    burn(1000000);
    if (i % 3 == 0)
      sys_sleep_ns(3000000);
    if (i % 3 == 1) {
      work_clock_wait(one, rt_ticks());
      apart += sleep_apart();
      work += work_clock_until(one, span_of(one)->work.wait_since);
    } else {
      work += work_clock_until(one, work_clock_value(one));
    }
    if (i % 3 == 2)
      apart += sleep_apart();
    work_clock_begin(one, work_clock_value(one));
  }
  cpu = sys_thread_cpu_ns() - cpu - apart;
  return (double)work * ns_per_tick / (double)cpu;
}

/* Other programs on the machine can disturb one attempt. */
static double share_found_at_best(void)
{
  double share = 0;
  for (int i = 0; i < TRIES && (share < 0.96 || share > 1.02); i++)
    share = share_found();
  return share;
}

static void assert_share(double share)
{
  if (share < 0.96 || share > 1.02)
    fail_msg("found %.4f of the CPU time", share);
}

/* The same while another process uses the same processor. */
static double share_found_when_preempted(void)
{
  cpu_set_t before, core;
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&core);
  CPU_SET(sched_getcpu(), &core);
  assert_int_equal(sched_setaffinity(0, sizeof core, &core), 0);
  pid_t rival = fork();
  if (rival == 0)
    for (;;)
      ;
  double share = share_found_at_best();
  kill(rival, SIGKILL); /* before any assertion: it would spin for ever */
  waitpid(rival, NULL, 0);
  sched_setaffinity(0, sizeof before, &before);
  return share;
}

static void check_indicator(enum work_how how)
{
  work_clock_start(one);
  assert_int_equal(span_of(one)->work.how, how);
  assert_share(share_found_at_best());
  assert_share(share_found_when_preempted());
  work_clock_stop(one);
}

static void by_a_page(void **state)
{
  (void)state;
  struct perf_event_attr attr = {
      .size = sizeof attr, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1};
  struct sys_own own;
  if (sys_perf_event_open(&own, &attr, one->tid))
    skip();
  assert_int_equal(sys_close_own(&own), 0);
  check_indicator(WORK_PAGE);
}

/* From here on perf_event is forbidden. */
static int forbid(void **state)
{
  assert_int_equal(deny_perf_event(), 0);
  return setup(state);
}

static uint64_t *own_pointer(void)
{
  return (uint64_t *)((char *)__builtin_thread_pointer() + __rseq_offset + offsetof(struct rseq, rseq_cs));
}

static void by_asking_the_kernel(void **state)
{
  (void)state;
  check_indicator(WORK_ASK); /* rseq has not been probed yet */
}

static bool rseq_is_there(void)
{
  work_clock_probe();
  work_clock_start(one);
  return span_of(one)->work.how == WORK_RSEQ;
}

static void by_the_rseq_area(void **state)
{
  (void)state;
  if (!rseq_is_there())
    skip();
  for (int i = 0; i < 1000 && !work_clock_not_switched(&span_of(one)->work); i++) /* switched out after it was set up */
    work_clock_rebase(one);
  assert_true(work_clock_not_switched(&span_of(one)->work));
  work_clock_stop(one);
  assert_int_equal(*own_pointer(), 0);
  check_indicator(WORK_RSEQ);
}

static void handler(int number)
{
  (void)number;
}

static void a_signal_changes_the_indicator(void **state)
{
  (void)state;
  if (!rseq_is_there())
    skip();
  signal(SIGUSR2, handler);
  raise(SIGUSR2);
  assert_false(work_clock_not_switched(&span_of(one)->work));
}

/* The program may be in a restartable sequence of its own, or has left its pointer there: until the kernel clears it,
 * the clock asks the kernel. */
static void a_sequence_of_the_program_is_left_alone(void **state)
{
  (void)state;
  static const uint32_t place[8] = {RSEQ_SIG};
  static struct rseq_cs theirs;
  theirs.start_ip = (uint64_t)&place[4];
  theirs.post_commit_offset = 4;
  theirs.abort_ip = (uint64_t)&place[1];
  if (!rseq_is_there())
    skip();
  for (int i = 0; i < 50; i++) { /* the kernel may clear it at any time */
    *own_pointer() = (uint64_t)&theirs;
    burn(100000);
    work_clock_until(one, work_clock_value(one));
    work_clock_begin(one, work_clock_value(one));
    uint64_t found = *own_pointer();
    if (found == (uint64_t)&theirs) {
      assert_false(work_clock_not_switched(&span_of(one)->work));
      return;
    }
  }
  fail_msg("the program's pointer never stayed");
}

/* ---- counters ---- */

static struct perf_event_mmap_page page;
static uint64_t registers[2]; /* the values that the first and the later reads of the register find */
static unsigned reads, register_read;
static void (*meanwhile)(void); /* what the kernel does between the two reads */

/* On a machine without counters the instruction that reads one faults: the handler emulates a register. */
static void emulate(int number, siginfo_t *info, void *context)
{
  (void)number, (void)info, (void)context;
#ifdef __x86_64__
  greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
  static const uint8_t rdpmc[2] = {0x0f, 0x33};
  if (memcmp((const void *)regs[REG_RIP], rdpmc, 2) != 0) {
    signal(SIGSEGV, SIG_DFL);
    return;
  }
  uint64_t value = registers[reads > 0];
  register_read = (unsigned)regs[REG_RCX];
  if (reads++ == 0 && meanwhile)
    meanwhile();
  regs[REG_RAX] = (greg_t)(value & UINT32_MAX);
  regs[REG_RDX] = (greg_t)(value >> 32);
  regs[REG_RIP] += 2;
#endif
}

static int setup_page(void **state)
{
  setup(state);
  span_process.work_unit = WORK_INSTRUCTIONS;
  memset(&page, 0, sizeof page);
  page.cap_user_rdpmc = 1;
  page.lock = 6;
  page.index = 3;
  page.pmc_width = 48;
  span_of(one)->work.page = &page;
  span_of(one)->work.own.fd = -1;
  reads = 0;
  meanwhile = NULL;
  return 0;
}

/* cmocka installs its own handler before each test. */
static uint64_t counted(void)
{
  if (!MACHINE_READS_COUNTERS)
    skip();
  struct sigaction action = {.sa_sigaction = emulate, .sa_flags = SA_SIGINFO}, before;
  sigaction(SIGSEGV, &action, &before);
  uint64_t count = work_clock_value(one);
  sigaction(SIGSEGV, &before, NULL);
  return count;
}

static uint64_t count_of(int64_t offset, uint64_t value, uint16_t width)
{
  page.offset = offset;
  page.pmc_width = width;
  registers[0] = registers[1] = value;
  span_of(one)->work.units = 0;
  uint64_t count = counted();
  if (!reads)
    skip(); /* this machine lets all programs read its counters */
  assert_int_equal(register_read, 2);
  assert_int_equal(record.lost[FORMAT_LOST_WORK], 0);
  return count;
}

static void a_register_counts_from_its_offset(void **state)
{
  (void)state;
  assert_int_equal(count_of(1000, 5, 48), 1005);
  assert_int_equal(count_of(1LL << 47, (1ULL << 48) - 10, 48), (1ULL << 47) - 10); /* counts up to its overflow */
  assert_int_equal(count_of(1LL << 39, (1ULL << 40) - 10, 40), (1ULL << 39) - 10);
  assert_int_equal(count_of(1LL << 39, 0xabc0000000000005ULL, 40), (1ULL << 39) + 5); /* bits that it does not have */
  assert_int_equal(count_of(1000, 0x7fffffff00000000ULL, 64), 0x7fffffff00000000ULL + 1000);
}

static void switched_meanwhile(void)
{
  page.lock += 2;
  page.offset = 5000;
  page.index = 1;
}

static void a_count_is_from_one_moment(void **state)
{
  (void)state;
  page.offset = 1000;
  registers[0] = 700;
  registers[1] = 3;
  meanwhile = switched_meanwhile;
  uint64_t count = counted();
  if (!reads)
    skip();
  assert_int_equal(count, 5003);
  assert_int_equal(reads, 2);
  assert_int_equal(register_read, 0);
}

static void begun_meanwhile(void)
{
  page.lock++;
}

/* It does not wait for ever for the kernel to finish, either. */
static void an_unfinished_page_is_a_loss(void **state)
{
  (void)state;
  page.offset = 1000;
  span_of(one)->work.units = 900;
  meanwhile = begun_meanwhile;
  uint64_t count = counted();
  if (!reads)
    skip();
  assert_int_equal(count, 900);
  assert_int_equal(record.lost[FORMAT_LOST_WORK], 1);
}

static void switched_off_meanwhile(void)
{
  page.lock += 2;
  page.index = 0;
}

static void a_register_that_is_not_ours_is_a_loss(void **state)
{
  (void)state;
  span_of(one)->work.units = 900;
  page.index = 0;
  assert_int_equal(counted(), 900);
  page.index = 3;
  page.cap_user_rdpmc = 0;
  assert_int_equal(counted(), 900);
  assert_int_equal(reads, 0);
  assert_int_equal(record.lost[FORMAT_LOST_WORK], 2);
  page.cap_user_rdpmc = 1;
  page.offset = 5000;
  meanwhile = switched_off_meanwhile;
  uint64_t count = counted();
  if (!reads)
    skip();
  assert_int_equal(count, 900);
  assert_int_equal(record.lost[FORMAT_LOST_WORK], 3);
}

static void time_without_the_counter_is_a_loss(void **state)
{
  (void)state;
  count_of(1000, 5, 48);
  page.time_enabled = 10000;
  page.time_running = 10000;
  count_of(1010, 5, 48);
  page.time_running = 9000;
  assert_int_equal(counted(), 1015);
  assert_int_equal(record.lost[FORMAT_LOST_WORK], 1);
  page.time_enabled = 30000;
  page.time_running = 29000;
  counted();
  assert_int_equal(record.lost[FORMAT_LOST_WORK], 1); /* only once */
}

/* Software events are read by the same system call. */
static void without_a_register_the_kernel_is_asked(void **state)
{
  (void)state;
  enum { PAGES = 64, PAGE = 4096 };
  struct perf_event_attr attr = {
      .size = sizeof attr, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .exclude_kernel = 1};
  span_of(one)->work.page = NULL;
  if (sys_perf_event_open(&span_of(one)->work.own, &attr, one->tid))
    skip();
  char *memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
  work_clock_begin(one, work_clock_value(one));
  for (int i = 0; i < PAGES; i++)
    ((volatile char *)memory)[i * PAGE] = 1;
  assert_in_range(work_clock_until(one, work_clock_value(one)), PAGES, PAGES + 8);
  assert_int_equal(record.lost[FORMAT_LOST_WORK], 0);
  uint64_t before = work_clock_value(one);
  int other = open("/dev/zero", O_RDONLY);
  dup2(other, span_of(one)->work.own.fd); /* now it belongs to the program */
  assert_int_equal(work_clock_value(one), before);
  assert_int_equal(record.lost[FORMAT_LOST_WORK], 1);
  int kept = span_of(one)->work.own.fd;
  work_clock_stop(one);
  assert_int_not_equal(fcntl(kept, F_GETFD), -1);
}

static void waits_and_fragments_of_a_counter(void **state)
{
  (void)state;
  page.offset = 0;
  work_clock_begin(one, count_of(1000, 0, 48));
  span_of(one)->work.page = NULL; /* the counter does not change then */
  span_of(one)->work.units = 1300;
  work_clock_wait(one, rt_ticks());
  span_of(one)->work.units = 9000;
  assert_int_equal(work_clock_until(one, span_of(one)->work.wait_since), 300);
}

/* ---- the end of a thread ---- */

/* Makes a thread with one event, with a period of a millisecond, whose last sample was so long ago. */
static void sampled(uint64_t passed_ns, uint64_t throttled_until)
{
  setup(NULL);
  sampling_process.event_count = 1;
  sampling_process.time_event = 0;
  sampling_process.events[0].clock = EVENT_CPU_TIME;
  sampling_of(one)->sources[0] =
      (struct source){.how = SOURCE_TIMER, .period = 1000000, .throttled_until = throttled_until};
  sampling_of(one)->sources[0].last = sys_thread_cpu_ns() - passed_ns;
}

static void a_throttled_thread_ends_in_tool_time(void **state)
{
  (void)state;
  burn(6000000); /* so that the clock is that far */
  sampled(5000000, UINT64_MAX);
  sample_end(one, sys_thread_cpu_ns());
  assert_int_equal(record.lost[FORMAT_LOST_IN_TOOL], 1);
  assert_in_range(record.tool_ns, 5000000, 6000000);
  sample_end(one, UINT64_MAX); /* called again at the end of the process */
  assert_int_equal(record.lost[FORMAT_LOST_IN_TOOL], 1);
  sampled(500000, UINT64_MAX); /* no sample was due yet */
  sample_end(one, sys_thread_cpu_ns());
  assert_int_equal(record.lost[FORMAT_LOST_IN_TOOL] + record.tool_ns, 0);
  sampled(5000000, 0); /* it is not throttled: the sample is on its way */
  sample_end(one, sys_thread_cpu_ns());
  assert_int_equal(record.lost[FORMAT_LOST_IN_TOOL] + record.tool_ns, 0);
  rt_pause(true);
  sampled(5000000, UINT64_MAX);
  sample_end(one, sys_thread_cpu_ns());
  rt_pause(false);
  assert_int_equal(record.lost[FORMAT_LOST_IN_TOOL] + record.tool_ns, 0);
  sampling_process.event_count = 0;
}

int main(int argc, char **argv)
{
  calibrate();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clocks_are_read_at_one_moment),
      cmocka_unit_test_setup(by_a_page, setup),
      cmocka_unit_test_setup(without_a_register_the_kernel_is_asked, setup_page),
      cmocka_unit_test_setup(a_register_counts_from_its_offset, setup_page),
      cmocka_unit_test_setup(a_count_is_from_one_moment, setup_page),
      cmocka_unit_test_setup(an_unfinished_page_is_a_loss, setup_page),
      cmocka_unit_test_setup(a_register_that_is_not_ours_is_a_loss, setup_page),
      cmocka_unit_test_setup(time_without_the_counter_is_a_loss, setup_page),
      cmocka_unit_test_setup(waits_and_fragments_of_a_counter, setup_page),
      cmocka_unit_test(a_throttled_thread_ends_in_tool_time),
      cmocka_unit_test_setup(by_asking_the_kernel, forbid),
      cmocka_unit_test_setup(by_the_rseq_area, setup),
      cmocka_unit_test_setup(a_signal_changes_the_indicator, setup),
      cmocka_unit_test_setup(a_sequence_of_the_program_is_left_alone, setup),
  };
  return UNIT_RUN(argc, argv, "work_clock", tests, NULL, NULL);
}
