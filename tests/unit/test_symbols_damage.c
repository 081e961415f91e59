/* Symbols of damaged files, children that fail, and an index that many threads use. */
#include "common/symbols/symbols_child.h"
#include "common/xalloc.h"
#include "common/symbols/symbols_split.h"
#include "common/symbols/symbols_summary.h"
#include "common/symbols/symbols_ranges.h"
#include "tests/support/symbols_sources.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

/* With sanitizers, each damaged file takes many times as long; tests/fuzz has targets for the same readers. */
enum { SHARE = UNIT_SANITIZED ? 2 : 1 };

static uint64_t next_random(uint64_t *random)
{
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return *random;
}

/* Opens a damaged file and looks up many addresses: it must not crash, and must not take long. */
static void survive(const char *name)
{
  struct symbols_request request = {.path = path_of(name), .debug_root = directory};
  struct symbols *symbols;
  struct symbols_location locations[LOCATIONS];
  char message[128];
  int error = symbols_open(&request, &symbols, message, sizeof message);
  assert_non_null(symbols);
  assert_true((error == 0) == (message[0] == 0));
  for (uint64_t at = 0x1000; at < 0x1300; at += 5) {
    int count = symbols_lookup(symbols, at, locations, LOCATIONS);
    assert_in_range(count, 0, LOCATIONS);
    for (int i = 0; i < count; i++)
      assert_true(!locations[i].function || strlen(locations[i].function) < SYMBOLS_NAME_MAX);
  }
  symbols_free(symbols);
}

static void truncated_files_do_no_harm(void **state)
{
  size_t size;
  (void)state;
  must_run("gcc -O2 -g shape.cc -o shape -lstdc++");
  uint8_t *bytes = read_file("shape", &size);
  for (size_t length = 0; length < size; length += 61) {
    write_file("damaged", bytes, length);
    survive("damaged");
  }
  free(bytes);
}

static void flipped_bits_do_no_harm(void **state)
{
  static const char *const options[] = {"-g", "-gdwarf-4"};
  uint64_t random = 88172645463325252u;
  size_t size;
  (void)state;
  for (size_t o = 0; o < 2; o++) {
    assert_true(run("g++ -O2 %s shape.cc -o shape", options[o]));
    uint8_t *bytes = read_file("shape", &size), *copy = malloc(size);
    assert_non_null(copy);
    for (int round = 0; round < 400 / SHARE; round++) {
      memcpy(copy, bytes, size);
      for (int i = 0; i < 1 << (round % 8); i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        copy[random % size] = (uint8_t)(random & 1 << 20 ? 0xff : random >> 40);
      }
      write_file("damaged", copy, size);
      survive("damaged");
    }
    free(bytes);
    free(copy);
  }
}

/* The same with the files of split DWARF, which the reading process opens itself. */
static void flipped_bits_of_split_dwarf_do_no_harm(void **state)
{
  uint64_t random = 88172645463325252u;
  size_t size;
  (void)state;
  for (int version = 4; version <= 5; version++) {
    assert_true(run("g++ -O2 -gdwarf-%d -gsplit-dwarf -c shape.cc -o shape.o && g++ shape.o -o damaged", version));
    bool packed = run("timeout 10 %s shape.dwo -o whole", version == 4 ? "dwp" : "llvm-dwp");
    const char *target = packed ? "damaged.dwp" : "shape.dwo";
    must_run(packed ? "rm shape.dwo" : "cp shape.dwo whole");
    uint8_t *bytes = read_file("whole", &size), *copy = malloc(size);
    assert_non_null(copy);
    for (int round = 0; round < 200 / SHARE; round++) {
      memcpy(copy, bytes, size);
      for (int i = 0; i < 1 << (round % 8); i++)
        copy[next_random(&random) % size] = (uint8_t)(next_random(&random) >> 40);
      write_file(target, copy, size);
      survive("damaged");
    }
    free(bytes);
    free(copy);
    must_run("rm -f damaged.dwp");
  }
}

/* The same with the file that a distribution has embedded, which is read from memory. */
static void flipped_bits_of_embedded_symbols_do_no_harm(void **state)
{
  uint64_t random = 88172645463325252u;
  size_t size;
  (void)state;
  if (!run("command -v xz >found"))
    skip();
  must_run("g++ -O2 shape.cc -o shape && strip -o shape.stripped shape && objcopy --only-keep-debug shape mini");
  uint8_t *bytes = read_file("mini", &size), *copy = malloc(size);
  assert_non_null(copy);
  for (int round = 0; round < 100 / SHARE; round++) {
    memcpy(copy, bytes, size);
    for (int i = 0; i < 1 << (round % 8); i++)
      copy[next_random(&random) % size] = (uint8_t)(next_random(&random) & 1 << 20 ? 0xff : random >> 40);
    write_file("mini", copy, round % 10 ? size : next_random(&random) % size + 1);
    must_run("xz -0 -c mini > mini.xz && objcopy --add-section .gnu_debugdata=mini.xz shape.stripped damaged");
    survive("damaged");
  }
  free(bytes);
  free(copy);
}

static unsigned open_descriptors(void)
{
  unsigned count = 0;
  DIR *open = opendir("/proc/self/fd");
  assert_non_null(open);
  while (readdir(open))
    count++;
  closedir(open);
  return count;
}

/* Overwrites some bytes of the sections of debug data. */
static void damage_debug_data(uint8_t *bytes, uint64_t *random, int count)
{
  Elf64_Ehdr file;
  memcpy(&file, bytes, sizeof file);
  while (count) {
    Elf64_Shdr section, names;
    memcpy(&section, bytes + file.e_shoff + next_random(random) % file.e_shnum * sizeof section, sizeof section);
    memcpy(&names, bytes + file.e_shoff + file.e_shstrndx * sizeof names, sizeof names);
    if (strncmp((char *)bytes + names.sh_offset + section.sh_name, ".debug_", 7) || !section.sh_size)
      continue;
    bytes[section.sh_offset + next_random(random) % section.sh_size] =
        (uint8_t)(next_random(random) & 1 << 20 ? 0xff : *random >> 40);
    count--;
  }
}

/* Opens a file with damaged debug data; returns true if the damage was found.  Where the data are not usable at all, as
 * often with older libdwarf, the symbol table answers. */
static bool use_damaged(uint64_t address)
{
  struct symbols_request request = {.path = path_of("damaged"), .debug_root = directory};
  struct symbols *symbols;
  struct symbols_location locations[LOCATIONS];
  char message[512];
  int error = symbols_open(&request, &symbols, message, sizeof message);
  assert_true(error == SYMBOLS_OK || error == SYMBOLS_DAMAGED || error == SYMBOLS_UNREAD);
  assert_true((error == 0) == (message[0] == 0));
  assert_int_equal(symbols_flags(symbols) & SYMBOLS_HAS_TABLE, SYMBOLS_HAS_TABLE);
  assert_true(symbols_lookup(symbols, address, locations, LOCATIONS) >= 1);
  assert_non_null(locations[0].function);
  if (strstr(message, "names come from the symbol table")) {
    assert_string_equal(locations[0].function, "geo::Shape::area(int) const");
    assert_int_equal(symbols_flags(symbols), SYMBOLS_HAS_TABLE);
    assert_non_null(strstr(message, path_of("damaged")));
    assert_null(strchr(message, '\n'));
  }
  symbols_free(symbols);
  return error;
}

static void damaged_debug_data_leave_the_symbol_table(void **state)
{
  static const char *const options[] = {"-g", "-gdwarf-4"};
  uint64_t random = 88172645463325252u;
  size_t size;
  int found = 0;
  (void)state;
  for (size_t o = 0; o < 2; o++) {
    assert_true(run("g++ -O2 %s shape.cc -o shape", options[o]));
    uint64_t address = symbol_address("shape", "_ZNK3geo5Shape4areaEi");
    uint8_t *bytes = read_file("shape", &size), *copy = malloc(size);
    unsigned before = open_descriptors();
    assert_non_null(copy);
    for (int round = 0; round < 150 / SHARE; round++) {
      memcpy(copy, bytes, size);
      damage_debug_data(copy, &random, 1 << (round % 8));
      write_file("damaged", copy, size);
      found += use_damaged(address);
    }
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    free(bytes);
    free(copy);
  }
  assert_true(found > 0);
}

/* 4000 units with one line table of 4000 rows: much work from few bytes. */
static const char repetition[] = ".globl main\n.text\nmain: xor %eax, %eax\nret\n.size main, 3\n.zero 4096\n"
                                 ".section .debug_abbrev\n"
                                 ".byte 1, 0x11, 0, 0x11, 1, 0x12, 6, 0x10, 0x17, 0, 0, 0\n"
                                 ".section .debug_info\n.rept 4000\n.long 24\n.short 4\n.long 0\n.byte 8, 1\n"
                                 ".quad main\n.long 4096\n.long 0\n.endr\n"
                                 ".section .debug_line\n.long 3f - 1f\n1: .short 4\n.long 2f - . - 4\n"
                                 ".byte 1, 1, 1, -5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0\n"
                                 ".asciz \"x.c\"\n.byte 0, 0, 0, 0\n2: .byte 0, 9, 2\n.quad main\n"
                                 ".rept 4000\n.byte 0x20\n.endr\n.byte 0, 1, 1\n3:\n";

/* The work on such data ends by its count, not by a clock: every reading has the same result. */
static void work_is_limited_by_its_count(void **state)
{
  struct symbols_request request = {.path = path_of("repetition"), .debug_root = directory};
  struct symbols_location location;
  (void)state;
  need_x86_64();
  write_file("repetition.s", repetition, sizeof repetition - 1);
  must_run("gcc repetition.s -o repetition");
  uint64_t address = symbol_address("repetition", "main");
  for (int i = 0; i < 2; i++) {
    struct symbols *symbols;
    char message[512];
    assert_int_equal(symbols_open(&request, &symbols, message, sizeof message), SYMBOLS_DAMAGED);
    assert_non_null(strstr(message, "damaged in part"));
    assert_int_equal(symbols_lookup(symbols, address + 2, &location, 1), 1);
    assert_string_equal(location.file, "x.c");
    symbols_free(symbols);
  }
}

/* A function that lists its only call, a jump.  Its next entry is its last (0), or has an unknown abbreviation. */
static const char jump[] = ".globl main\n.text\nmain: jmp behind\nbehind: ret\n.size main, behind - main\n"
                           ".section .debug_abbrev\n.byte 1, 0x11, 1, 0x11, 1, 0x12, 6, 0, 0\n"
                           ".byte 2, 0x2e, 1, 0x11, 1, 0x12, 6, 0x7a, 0x19, 0, 0\n"
                           ".byte 3, 0x48, 0, 0x7d, 1, 0x82, 1, 0x19, 0, 0, 0\n"
                           ".section .debug_info\n.long 2f - 1f\n1: .short 5\n.byte 1, 8\n.long 0\n"
                           ".byte 1\n.quad main\n.long 4096\n.byte 2\n.quad main\n.long behind - main\n"
                           ".byte 3\n.quad behind\n.byte NEXT, 0, 0\n2:\n";

static void functions_of_damaged_units_do_not_list_all_jumps(void **state)
{
  static const int next[] = {0, 9};
  (void)state;
  need_x86_64();
  write_file("jump.s", jump, sizeof jump - 1);
  for (size_t i = 0; i < sizeof next / sizeof *next; i++) {
    assert_true(run("gcc -Wa,--defsym,NEXT=%d jump.s -o jump", next[i]));
    uint32_t start = (uint32_t)symbol_address("jump", "main");
    struct symbols_request request = {
        .path = path_of("jump"), .debug_root = directory, .offsets = &start, .offset_count = 1};
    size_t count, lists_all = next[i] == 0;
    struct symbols *symbols;
    char message[128];
    symbols_open(&request, &symbols, message, sizeof message);
    struct symbols_tail_call *calls = symbols_tail_calls(symbols, &request, &count);
    assert_int_equal(count, lists_all + 1);
    assert_int_equal(calls[0].kind, lists_all ? SYMBOLS_TAIL_ALL : SYMBOLS_TAIL_BEHIND);
    assert_int_equal(calls[lists_all].kind, SYMBOLS_TAIL_BEHIND);
    assert_int_equal(calls[lists_all].function, start);
    free(calls);
    symbols_free(symbols);
  }
}

/* The limits of reading follow the size of a package, of which a hole has nothing to read. */
static void holes_of_packages_do_not_count(void **state)
{
  const struct symbols_split split = {.program = path_of("sparse"), .debug = path_of("sparse")};
  (void)state;
  must_run("head -c 1M /dev/urandom > sparse.dwp && sync sparse.dwp && truncate -s 64G sparse.dwp");
  assert_in_range(symbols_split_bytes(&split), 2 << 20, 2 << 21);
  must_run("rm sparse.dwp");
  assert_int_equal(symbols_split_bytes(&split), 0);
}

static void work_aborts(void *argument, int out)
{
  (void)argument;
  (void)out;
  fputs("this must not be seen\n", stderr);
  abort();
}

static void work_crashes(void *argument, int out)
{
  (void)argument;
  (void)out;
  raise(SIGSEGV);
}

static void work_computes(void *argument, int out)
{
  (void)argument;
  (void)out;
  for (volatile bool endless = true; endless;)
    continue;
}

static void work_sleeps(void *argument, int out)
{
  (void)argument;
  (void)out;
  pause();
}

static void work_is_killed(void *argument, int out)
{
  (void)argument;
  (void)out;
  raise(SIGKILL);
}

static void work_lacks_memory(void *argument, int out)
{
  (void)argument;
  (void)out;
  xalloc_die();
}

/* Gets no core for a second, which a busy machine may do to any process, and then succeeds. */
static void work_is_delayed(void *argument, int out)
{
  const struct timespec second = {.tv_sec = 1}, moment = {.tv_nsec = 20000000};
  pid_t own = getpid();
  (void)argument;
  if (!fork()) {
    close(out);
    for (nanosleep(&second, NULL); getppid() == own; nanosleep(&moment, NULL))
      kill(own, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
  symbols_child_write(out, "done", 4);
}

static void a_child_that_gets_no_core_is_waited_for(void **state)
{
  const struct symbols_child_limits limits = {
      .cpu_ms = 300, .asleep_ms = 100, .memory_bytes = 64 << 20, .output_bytes = 1 << 20};
  const char *fault = NULL;
  uint8_t *bytes = NULL;
  size_t size;
  (void)state;
  enum symbols_child_end end = symbols_child_run(work_is_delayed, NULL, &limits, &bytes, &size, &fault);
  assert_null(fault);
  assert_int_equal(end, SYMBOLS_CHILD_DONE);
  assert_int_equal(size, 4);
  free(bytes);
}

static void work_eats_memory(void *argument, int out)
{
  (void)argument;
  (void)out;
  for (char *next; (next = malloc(1 << 20)) != NULL;)
    memset(next, 1, 1 << 20);
  abort();
}

static void work_writes(void *argument, int out)
{
  char block[4096] = "";
  (void)argument;
  for (;;)
    symbols_child_write(out, block, sizeof block);
}

static void a_child_that_fails_does_no_harm(void **state)
{
  static const struct {
    void (*work)(void *, int);
    enum symbols_child_end end;
    const char *fault;
  } works[] = {{work_aborts, SYMBOLS_CHILD_FAILED, "fails"},
               {work_crashes, SYMBOLS_CHILD_FAILED, "fails"},
               {work_computes, SYMBOLS_CHILD_LIMITED, "CPU"},
               {work_is_killed, SYMBOLS_CHILD_LIMITED, "killed"},
               {work_lacks_memory, SYMBOLS_CHILD_LIMITED, "memory"},
               {work_sleeps, SYMBOLS_CHILD_FAILED, "hangs"},
               {work_writes, SYMBOLS_CHILD_FAILED, "expand"},
               {work_eats_memory, 0, ""} /* a sanitizer reserves memory: there the time limit ends it */};
  const struct symbols_child_limits limits = {
      .cpu_ms = 300, .asleep_ms = 600, .memory_bytes = 64 << 20, .output_bytes = 1 << 20};
  unsigned before = open_descriptors();
  (void)state;
  for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
    const char *fault = NULL;
    uint8_t *bytes;
    size_t size;
    enum symbols_child_end end = symbols_child_run(works[i].work, NULL, &limits, &bytes, &size, &fault);
    assert_true(works[i].end ? end == works[i].end : end != SYMBOLS_CHILD_DONE);
    if (!strstr(fault, works[i].fault))
      fail_msg("work %zu: '%s', expected '%s'", i, fault, works[i].fault);
    assert_null(bytes);
  }
  assert_int_equal(open_descriptors(), before);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Exit statuses of a process without /proc. */
enum { NO_NAMESPACE = 10, NO_FAULT, OTHER_FAULT };

/* Hides /proc from the calling process, and runs a child that sleeps. */
static int run_without_proc(const struct symbols_child_limits *limits)
{
  const char *fault = NULL;
  uint8_t *bytes;
  size_t size;
  if ((unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("none", "/proc", "tmpfs", 0, NULL))
    return NO_NAMESPACE;
  alarm(60);
  if (symbols_child_run(work_sleeps, NULL, limits, &bytes, &size, &fault) == SYMBOLS_CHILD_DONE)
    return NO_FAULT;
  return strstr(fault, "hangs") ? EXIT_SUCCESS : OTHER_FAULT;
}

/* A child cannot be traced, and is not visible below a /proc that is mounted with hidepid. */
static void a_child_that_hangs_is_found_without_proc(void **state)
{
  const struct symbols_child_limits limits = {
      .cpu_ms = 300, .asleep_ms = 600, .memory_bytes = 64 << 20, .output_bytes = 1 << 20};
  int status;
  (void)state;
  pid_t without = fork();
  if (!without)
    _exit(run_without_proc(&limits));
  assert_int_equal(waitpid(without, &status, 0), without);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == NO_NAMESPACE)
    skip();
  assert_int_equal(WEXITSTATUS(status), EXIT_SUCCESS);
}

/* A shell may start programs with SIGCHLD ignored: then they cannot wait for a child. */
static void ignored_children_are_no_obstacle(void **state)
{
  (void)state;
  must_run("gcc -O2 -g chain.c -o chain.full");
  signal(SIGCHLD, SIG_IGN);
  struct symbols_location locations[LOCATIONS];
  struct symbols *symbols = open_fine("chain.full");
  signal(SIGCHLD, SIG_DFL);
  find_chain(symbols, "chain.full", "outer", 3, locations);
  symbols_free(symbols);
}

/* Writes a summary of three functions, each inlined into the previous one, for [100, 200), [110, 190) and [120, 180).
 */
static void work_summary(void *argument, int out)
{
  struct symbols_draft draft = {0};
  (void)argument;
  for (uint32_t i = 0; i < 3; i++) {
    char name[] = {'f', (char)('0' + i), 0};
    uint32_t file = symbols_draft_file(&draft, "/dir", NULL, name);
    struct symbols_function function = {symbols_draft_text(&draft, name), 0, file, i + 1};
    struct symbols_routine routine = {100, symbols_draft_function(&draft, function), i ? i - 1 : SYMBOLS_NONE, file,
                                      10 + i};
    symbols_draft_routine(&draft, routine);
    symbols_ranges_add(&draft.ranges, (struct symbols_range){100 + 10 * i, 200 - 10 * i, i, i});
    symbols_draft_row(&draft, 0, (struct symbols_row){100 + 10 * i, file, 20 + i}, true);
  }
  symbols_draft_sequence(&draft, 0, 200, true);
  symbols_draft_write(&draft, out);
}

static void damaged_indexes_do_no_harm(void **state)
{
  const struct symbols_child_limits limits = {1000, 10000, 64 << 20, 1 << 20};
  struct symbols_location locations[LOCATIONS];
  struct symbols_pool pool = {0};
  const char *fault, *file;
  uint64_t random = 88172645463325252u;
  uint8_t *bytes;
  uint32_t line;
  size_t size;
  (void)state;
  assert_int_equal(symbols_child_run(work_summary, NULL, &limits, &bytes, &size, &fault), SYMBOLS_CHILD_DONE);
  for (int round = 0; round < 20000; round++) {
    size_t length = round & 1 ? next_random(&random) % (size + 1) : size;
    uint8_t *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    for (int i = 0; i < round % 4 && length; i++)
      copy[next_random(&random) % length] = (uint8_t)(next_random(&random) >> 40);
    struct symbols_summary *summary = symbols_summary_new(copy, length);
    assert_true(summary || round);
    for (uint64_t at = 95; summary && at < 205; at += 5) {
      int count = symbols_summary_find(summary, &pool, at, locations, LOCATIONS, &file, &line);
      assert_in_range(count, 0, LOCATIONS);
      assert_true(round || count == (at >= 100 && at < 200) + (at >= 110 && at < 190) + (at >= 120 && at < 180));
    }
    symbols_summary_free(summary);
    if (!(round % 1000))
      symbols_pool_release(&pool);
  }
  symbols_pool_release(&pool);
  free(bytes);
}

/* The rows of a function's first address, behind one of the function before, as GCC writes them for inlined code. */
static void work_rows(void *argument, int out)
{
  static const struct {
    uint32_t line;
    bool statement;
  } rows[] = {{72, false}, {11, true}, {13, true}, {324, false}};
  struct symbols_draft draft = {0};
  (void)argument;
  uint32_t file = symbols_draft_file(&draft, "/dir", NULL, "f");
  symbols_draft_row(&draft, 0, (struct symbols_row){100, file, 7}, true);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    symbols_draft_row(&draft, 0, (struct symbols_row){110, file, rows[i].line}, rows[i].statement);
  symbols_draft_sequence(&draft, 0, 200, true);
  symbols_draft_write(&draft, out);
}

static void a_function_begins_with_its_first_statement(void **state)
{
  const struct symbols_child_limits limits = {1000, 10000, 64 << 20, 1 << 20};
  const char *fault, *file;
  uint8_t *bytes;
  uint32_t line;
  size_t size;
  (void)state;
  assert_int_equal(symbols_child_run(work_rows, NULL, &limits, &bytes, &size, &fault), SYMBOLS_CHILD_DONE);
  struct symbols_summary *summary = symbols_summary_new(bytes, size);
  assert_non_null(summary);
  symbols_summary_first(summary, 110, &file, &line);
  assert_int_equal(line, 11);
  symbols_summary_first(summary, 100, &file, &line);
  assert_int_equal(line, 7);
  symbols_summary_free(summary);
}

struct asker {
  const struct symbols *symbols;
  uint64_t address, size;
  unsigned deep;
};

static void *ask(void *opaque)
{
  struct asker *asker = opaque;
  struct symbols_location locations[LOCATIONS];
  for (int round = 0; round < 200; round++)
    for (uint64_t i = 0; i < asker->size; i++)
      if (symbols_lookup(asker->symbols, asker->address + i, locations, LOCATIONS) == 3 && locations[2].line == 3)
        asker->deep++;
  return NULL;
}

static void threads_may_share_an_index(void **state)
{
  struct asker askers[4];
  pthread_t threads[4];
  (void)state;
  must_run("gcc -O2 -g chain.c -o chain.full");
  struct symbols *symbols = open_fine("chain.full");
  for (int i = 0; i < 4; i++) {
    askers[i] = (struct asker){.symbols = symbols};
    assert_true(find_symbol("chain.full", "outer", &askers[i].address, &askers[i].size));
    assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
  }
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  assert_true(askers[0].deep > 0);
  for (int i = 1; i < 4; i++)
    assert_int_equal(askers[i].deep, askers[0].deep);
  symbols_free(symbols);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(truncated_files_do_no_harm),
      cmocka_unit_test(flipped_bits_do_no_harm),
      cmocka_unit_test(flipped_bits_of_embedded_symbols_do_no_harm),
      cmocka_unit_test(flipped_bits_of_split_dwarf_do_no_harm),
      cmocka_unit_test(damaged_debug_data_leave_the_symbol_table),
      cmocka_unit_test(work_is_limited_by_its_count),
      cmocka_unit_test(holes_of_packages_do_not_count),
      cmocka_unit_test(functions_of_damaged_units_do_not_list_all_jumps),
      cmocka_unit_test(a_child_that_fails_does_no_harm),
      cmocka_unit_test(a_child_that_gets_no_core_is_waited_for),
      cmocka_unit_test(a_child_that_hangs_is_found_without_proc),
      cmocka_unit_test(ignored_children_are_no_obstacle),
      cmocka_unit_test(damaged_indexes_do_no_harm),
      cmocka_unit_test(a_function_begins_with_its_first_statement),
      cmocka_unit_test(threads_may_share_an_index),
  };
  return UNIT_RUN(argc, argv, "symbols_damage", tests, make_directory, remove_directory);
}
