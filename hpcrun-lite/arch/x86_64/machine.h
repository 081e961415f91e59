/* x86-64: see arch/machine.h. */
#ifndef HPCRUN_LITE_ARCH_X86_64_MACHINE_H
#define HPCRUN_LITE_ARCH_X86_64_MACHINE_H

#include <cpuid.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define MACHINE_NAME "x86-64"
#define MACHINE_ELF EM_X86_64
#define MACHINE_LOADER "ld-linux-x86-64"
#define MACHINE_RELOCATION_CALL R_X86_64_JUMP_SLOT
#define MACHINE_RELOCATION_DATA R_X86_64_GLOB_DAT
#define MACHINE_LIBUNWIND "libunwind-x86_64.so.8"
#define MACHINE_LIBUNWIND_PREFIX "_Ux86_64_"
enum {
  MACHINE_LINK_REGISTER = false,

  MACHINE_READS_COUNTERS = true,
  MACHINE_REGISTERS = NGREG
};

typedef greg_t machine_register_t;

static inline uint64_t machine_ticks(void)
{
  return __builtin_ia32_rdtsc();
}

static inline uint64_t machine_kernel_ticks(uint64_t ticks)
{
  return ticks;
}

static inline void machine_relax(void)
{
  __builtin_ia32_pause();
}

/* Processors that do not know the instruction do nothing; compilers use it only for those that do. */
static inline void machine_take_line(const void *place)
{
  __asm__ volatile("prefetchw %0" : : "m"(*(const char *)place));
}

static inline uint64_t machine_divide(uint64_t above, uint64_t below, uint64_t divisor)
{
  __asm__("divq %2" : "+a"(below), "+d"(above) : "r"(divisor) : "cc");
  return below;
}

/* One instruction, which no handler interrupts.  Every store of x86 is a release.  The thread sanitizer does not see
 * instructions. */
static inline void machine_increase(int *number)
{
#ifdef __SANITIZE_THREAD__
  __atomic_store_n(number, *number + 1, __ATOMIC_RELAXED);
#else
  __asm__ volatile("incl %0" : "+m"(*number) : : "memory", "cc");
#endif
}

static inline void machine_decrease(int *number)
{
#ifdef __SANITIZE_THREAD__
  __atomic_store_n(number, *number - 1, __ATOMIC_RELEASE);
#else
  __asm__ volatile("decl %0" : "+m"(*number) : : "memory", "cc");
#endif
}

static inline long machine_call(long number, long a, long b, long c, long d, long e, long f)
{
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

/* rdtscp also returns what the kernel has set to the number. */
static inline bool machine_knows_cpu(void)
{
  enum { FEATURES = 0x80000001, RDTSCP = 1 << 27 };
  unsigned a, b, c, d = 0;
  return __get_cpuid(FEATURES, &a, &b, &c, &d) && d & RDTSCP;
}

static inline uint32_t machine_cpu(void)
{
  enum { CPU_BITS = 12 }; /* the remaining ones are the node's */
  unsigned number;
  __builtin_ia32_rdtscp(&number);
  return number & ((1u << CPU_BITS) - 1);
}

static inline uint64_t machine_counter(uint32_t number)
{
  return (uint64_t)__builtin_ia32_rdpmc((int)number);
}

static inline uint64_t machine_default_floating(void)
{
  enum { ALL_MASKED = 0x1f80 };
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(ALL_MASKED);
  return before;
}

static inline void machine_restore_floating(uint64_t before)
{
  __builtin_ia32_ldmxcsr((unsigned)before);
}

/* The operand, relative to the instruction pointer, of the first "lock cmpxchg", or "xchg". */
static inline const void *machine_locked_variable(const uint8_t *code, uint64_t bytes, bool locks)
{
  enum { MODE = 0xc7, RELATIVE = 5 }; /* of the byte that follows the opcode */
  static const uint8_t lock[] = {0xf0, 0x0f, 0xb1}, unlock[] = {0x87};
  const uint8_t *opcode = locks ? lock : unlock;
  uint64_t opcode_bytes = locks ? sizeof lock : sizeof unlock;
  int32_t offset;
  uint64_t size = opcode_bytes + 1 + sizeof offset;
  for (uint64_t at = 0; at + size <= bytes; at++) {
    if (__builtin_memcmp(code + at, opcode, opcode_bytes) != 0 || (code[at + opcode_bytes] & MODE) != RELATIVE)
      continue;
    __builtin_memcpy(&offset, code + at + opcode_bytes + 1, sizeof offset);
    return code + at + size + offset;
  }
  return 0;
}

/* libc's storage begins with its own address, twice. */
static inline bool machine_storage_of_libc(void)
{
  uintptr_t first, third;
  __asm__ volatile("movq %%fs:0, %0\n"
                   "movq %%fs:16, %1\n"
                   : "=&r"(first), "=r"(third));
  return first && first == third;
}

static inline uint64_t machine_sp(void)
{
  uint64_t sp;
  __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
  return sp;
}

/* glibc mangles it: exclusive or with the thread's pointer guard, then rotated left by 17. */
static inline uint64_t machine_jump_sp(const void *place)
{
  enum { STACK_POINTER = 6 }; /* index in jmp_buf */
  uint64_t sp = ((const uint64_t *)place)[STACK_POINTER];
  __asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(sp) : : "cc");
  return sp;
}

static inline uint64_t machine_address(uint64_t word)
{
  return word;
}

static inline const machine_register_t *machine_registers(const ucontext_t *context)
{
  return context->uc_mcontext.gregs;
}

static inline uint64_t machine_ip_of(const machine_register_t *registers)
{
  return (uint64_t)registers[REG_RIP];
}

static inline uint64_t machine_sp_of(const machine_register_t *registers)
{
  return (uint64_t)registers[REG_RSP];
}

static inline uint64_t machine_fp_of(const machine_register_t *registers)
{
  return (uint64_t)registers[REG_RBP];
}

static inline uint64_t machine_link_of(const machine_register_t *registers)
{
  (void)registers;
  return 0;
}

static inline void machine_set_caller(machine_register_t *registers, uint64_t ip, uint64_t sp, uint64_t fp)
{
  registers[REG_RIP] = (greg_t)ip;
  registers[REG_RSP] = (greg_t)sp;
  registers[REG_RBP] = (greg_t)fp;
}

static inline __attribute__((always_inline)) void
machine_registers_here(machine_register_t registers[MACHINE_REGISTERS])
{
  __asm__ volatile("leaq 0f(%%rip), %%rax\n"
                   "0: movq %%rax, %[rip]\n"
                   "movq %%rsp, %[rsp]\n"
                   "movq %%rbp, %[rbp]\n"
                   "movq %%rbx, %[rbx]\n"
                   "movq %%r12, %[r12]\n"
                   "movq %%r13, %[r13]\n"
                   "movq %%r14, %[r14]\n"
                   "movq %%r15, %[r15]\n"
                   : [rip] "=m"(registers[REG_RIP]), [rsp] "=m"(registers[REG_RSP]), [rbp] "=m"(registers[REG_RBP]),
                     [rbx] "=m"(registers[REG_RBX]), [r12] "=m"(registers[REG_R12]), [r13] "=m"(registers[REG_R13]),
                     [r14] "=m"(registers[REG_R14]), [r15] "=m"(registers[REG_R15])
                   :
                   : "rax");
}

#endif
