/* Code that unwinders know little about: hand-written assembler without call frame information, generated code, and
 * coroutines.  The argument says which; each calls leaf_work() for SECONDS a thread, and prints "done". */
#include "leaf_work.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SECONDS 0.2
#define PAUSE_FREE_STEP 0.005

/* Functions that call the function in %rdi with a frame of that many bytes, which they do not write to, so that return
 * addresses of earlier calls remain there.  They have no call frame information, and the assembler before them ends
 * the section's. */
#define BY_HAND(name, bytes)                                                                                           \
  void name(void (*function)(void));                                                                                   \
  __asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n"                                           \
          "  push %rbx\n  sub $" #bytes ", %rsp\n  call *%rdi\n  add $" #bytes ", %rsp\n  pop %rbx\n  ret\n"           \
          ".size " #name ", .-" #name "\n")

BY_HAND(small_frame, 1024);
BY_HAND(huge_frame, 8192);

/* The same, but it uses the frame pointer's register for something else. */
void other_register(void (*function)(void));
__asm__(".text\n.globl other_register\n.type other_register,@function\nother_register:\n"
        "  push %rbp\n  push %rbx\n  sub $264, %rsp\n  xor %ebp, %ebp\n  call *%rdi\n  add $264, %rsp\n"
        "  pop %rbx\n  pop %rbp\n  ret\n"
        ".size other_register, .-other_register\n");

static volatile double sink;

static NOINLINE void called_back(void)
{
  leaf_work(PAUSE_FREE_STEP);
  sink = sink + 1;
}

static int compare(const void *a, const void *b)
{
  return *(const char *)a - *(const char *)b;
}

/* Leaves return addresses of calls of other functions, direct and by pointers, below the caller's frame. */
static NOINLINE void leave_words(int number)
{
  char text[200] = "";
  snprintf(text, sizeof text, "%d %g", number, number * 1.5);
  qsort(text, 50, 1, compare);
  sink = sink + text[0];
}

static NOINLINE void caller_of_small(void)
{
  small_frame(called_back);
  sink = sink + 1;
}

static NOINLINE void caller_by_pointer(void)
{
  void (*volatile function)(void (*)(void)) = other_register;
  function(called_back);
  sink = sink + 1;
}

/* Below more frames than a sample keeps. */
static NOINLINE void descend(int frames)
{
  if (frames)
    descend(frames - 1);
  else
    caller_by_pointer();
  sink = sink + 1;
}

static NOINLINE void deep_pointer(void)
{
  descend(1100);
}

static NOINLINE void caller_of_other(void)
{
  other_register(called_back);
  sink = sink + 1;
}

static NOINLINE void caller_of_huge(void)
{
  huge_frame(called_back);
  sink = sink + 1;
}

static NOINLINE void repeat(void (*part)(void))
{
  double end = burn_clock() + SECONDS;
  for (int i = 0; burn_clock() < end; i++) {
    leave_words(i);
    part();
  }
}

/* A function of machine code: push %rbp; mov %rsp, %rbp; sub $16, %rsp; call *%rdi; leave; ret.  `outer` calls `inner`
 * with the function that it gets in %rsi. */
typedef void generated(void (*function)(void), void (*argument)(void));
static generated *outer;
static void (*inner)(void);

static void generate(void)
{
  static const uint8_t inner_code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xff, 0xd7, 0xc9, 0xc3},
                       outer_code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0x48,
                                       0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0, 0xc9, 0xc3};
  uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED)
    abort();
  memcpy(code, inner_code, sizeof inner_code);
  memcpy(code + 256, outer_code, sizeof outer_code);
  inner = (void (*)(void))(uintptr_t)code;
  outer = (generated *)(uintptr_t)(code + 256);
}

static NOINLINE void caller_of_generated(void)
{
  outer(inner, called_back);
  sink = sink + 1;
}

/* Switches stacks: saves the stack pointer at *from, continues at to. */
void switch_stack(void **from, void *to);
__asm__(".text\n.globl switch_stack\n.type switch_stack,@function\nswitch_stack:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  mov %rsp, (%rdi)\n  mov %rsi, %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n  ret\n"
        ".size switch_stack, .-switch_stack\n");

static __thread void *resumer, *coroutine;

static NOINLINE void coroutine_body(void)
{
  for (;;) {
    called_back();
    switch_stack(&coroutine, resumer);
  }
}

static NOINLINE void resume_coroutine(void)
{
  enum { STACK = 1 << 16, REGISTERS = 6 };
  if (!coroutine) {
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
      abort();
    void **top = (void **)(void *)(stack + STACK) - 3 - REGISTERS;
    top[REGISTERS] = (void *)(uintptr_t)coroutine_body;
    coroutine = top;
  }
  switch_stack(&resumer, coroutine);
}

static NOINLINE void in_region(void (*part)(void))
{
#pragma omp parallel num_threads(2)
  repeat(part);
}

/* The caller of the assembler is the code of the region itself. */
static NOINLINE void in_body(void)
{
#pragma omp parallel num_threads(2) /* its body */
  {
    double end = burn_clock() + SECONDS;
    while (burn_clock() < end)
      small_frame(called_back);
  }
}

/* Goes on after the process's first thread has ended. */
static NOINLINE void *outlive(void *first)
{
  pthread_join(*(pthread_t *)first, NULL);
  repeat(called_back);
  puts("done");
  return NULL;
}

static NOINLINE void end_first_thread(void)
{
  static pthread_t first;
  pthread_t other;
  first = pthread_self();
  pthread_create(&other, NULL, outlive, &first);
  pthread_exit(NULL);
}

int main(int count, char **arguments)
{
  static const struct {
    const char *name;
    void (*part)(void);
  } parts[] = {{"small", caller_of_small}, {"pointer", caller_by_pointer},     {"other", caller_of_other},
               {"huge", caller_of_huge},   {"generated", caller_of_generated}, {"coroutine", resume_coroutine},
               {"deep", deep_pointer}};
  generate();
  if (count > 2 && !strcmp(arguments[2], "outlive"))
    end_first_thread();
  if (count > 2 && !strcmp(arguments[2], "body")) {
    in_body();
    puts("done");
  }
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (count > 2 && !strcmp(arguments[2], parts[i].name)) {
      if (!strcmp(arguments[1], "region"))
        in_region(parts[i].part);
      else
        repeat(parts[i].part);
      puts("done");
    }
  return 0;
}
