/* aarch64: see arch/machine.h. */
#ifndef HPCRUN_LITE_ARCH_AARCH64_MACHINE_H
#define HPCRUN_LITE_ARCH_AARCH64_MACHINE_H

#include <elf.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define MACHINE_NAME "aarch64"
#define MACHINE_ELF EM_AARCH64
#define MACHINE_LOADER "ld-linux-aarch64"
#define MACHINE_RELOCATION_CALL R_AARCH64_JUMP_SLOT
#define MACHINE_RELOCATION_DATA R_AARCH64_GLOB_DAT
#define MACHINE_LIBUNWIND "libunwind-aarch64.so.8"
#define MACHINE_LIBUNWIND_PREFIX "_Uaarch64_"
/* The kernel lets a program read its counters only if the event and the system's settings ask for it, by default it
 * does not. */
enum { MACHINE_LINK_REGISTER = true, MACHINE_READS_COUNTERS = false };

/* x0 to x30, the stack pointer, the instruction pointer: consecutive in struct sigcontext, numbered as in DWARF. */
enum { MACHINE_FP = 29, MACHINE_LINK = 30, MACHINE_SP = 31, MACHINE_IP = 32, MACHINE_REGISTERS = 33 };
typedef unsigned long long machine_register_t;
_Static_assert(offsetof(mcontext_t, sp) == offsetof(mcontext_t, regs) + 8 * MACHINE_SP &&
                   offsetof(mcontext_t, pc) == offsetof(mcontext_t, regs) + 8 * MACHINE_IP,
               "the registers are consecutive");

/* The counter has a frequency of its own, often 25 MHz, so that a step is 40 ns; since version 8.6 of the architecture
 * it is 1 GHz.  A step is worth a power of 2 of ticks, so that there are at least 2^30 a second.  (Firmware may have
 * forgotten to set the frequency.) */
static inline unsigned machine_tick_shift(void)
{
  enum { LEAST_HZ = 1 << 20 };
  uint64_t frequency;
  __asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
  return (unsigned)__builtin_clz((uint32_t)frequency | LEAST_HZ) - (frequency < 1u << 31);
}

static inline uint64_t machine_ticks(void)
{
  uint64_t count;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count << machine_tick_shift();
}

static inline uint64_t machine_kernel_ticks(uint64_t ticks)
{
  return ticks >> machine_tick_shift();
}

/* "yield" does nothing on most processors, this takes about as long as the instruction of x86. */
static inline void machine_relax(void)
{
  __asm__ volatile("isb" : : : "memory");
}

static inline void machine_take_line(const void *place)
{
  __builtin_prefetch(place, 1);
}

static inline uint64_t machine_divide(uint64_t above, uint64_t below, uint64_t divisor)
{
  return (uint64_t)(((unsigned __int128)above << 64 | below) / divisor);
}

/* A handler that interrupts between the load and the store has left the number as it was. */
static inline void machine_increase(int *number)
{
  __atomic_store_n(number, *number + 1, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void machine_decrease(int *number)
{
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(number, *number - 1, __ATOMIC_RELEASE);
}

static inline long machine_call(long number, long a, long b, long c, long d, long e, long f)
{
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
  return x0;
}

static inline bool machine_knows_cpu(void)
{
  return false;
}

static inline uint32_t machine_cpu(void)
{
  return UINT32_MAX;
}

static inline uint64_t machine_counter(uint32_t number)
{
  (void)number; /* not called: MACHINE_READS_COUNTERS */
  return 0;
}

/* The control register, and above it the flags. */
static inline uint64_t machine_default_floating(void)
{
  uint64_t control, flags;
  __asm__ volatile("mrs %0, fpcr\n"
                   "mrs %1, fpsr\n"
                   "msr fpcr, xzr\n"
                   : "=r"(control), "=r"(flags));
  return control | flags << 32;
}

static inline void machine_restore_floating(uint64_t before)
{
  __asm__ volatile("msr fpcr, %0\n"
                   "msr fpsr, %1\n"
                   :
                   : "r"(before & UINT32_MAX), "r"(before >> 32));
}

/* The address of the first "adrp x, page; add x, x, offset": the function names no other variable, and may call a
 * function of the compiler for the atomic operation. */
static inline const void *machine_locked_variable(const uint8_t *code, uint64_t bytes, bool locks)
{
  uint32_t page, add;
  (void)locks;
  for (uint64_t at = 0; at + 8 <= bytes; at += 4) {
    __builtin_memcpy(&page, code + at, sizeof page);
    __builtin_memcpy(&add, code + at + 4, sizeof add);
    unsigned to = page & 31;
    if ((page & 0x9f000000u) != 0x90000000u || (add & 0xffc00000u) != 0x91000000u || (add >> 5 & 31) != to)
      continue;
    uint64_t pages = (page >> 29 & 3) | (page >> 5 & 0x7ffff) << 2, sign = 1 << 20;
    uint64_t base = ((uint64_t)code + at) & ~(uint64_t)0xfff;
    return (const void *)(base + (((pages ^ sign) - sign) << 12) + (add >> 10 & 0xfff));
  }
  return 0;
}

/* Go leaves the register to libc. */
static inline bool machine_storage_of_libc(void)
{
  return __builtin_thread_pointer() != NULL;
}

static inline uint64_t machine_sp(void)
{
  uint64_t sp;
  __asm__ volatile("mov %0, sp" : "=r"(sp));
  return sp;
}

/* glibc mangles it: exclusive or with the process's pointer guard, which it keeps to itself.  A jmp_buf with a known
 * stack pointer shows it. */
static inline uint64_t machine_jump_sp(const void *place)
{
  enum { STACK_POINTER = 13 }; /* index in jmp_buf */
  jmp_buf here;
  if (_setjmp(here)) /* never jumped to */
    return 0;
  uint64_t guard = ((const uint64_t *)(const void *)here)[STACK_POINTER] ^ machine_sp();
  return ((const uint64_t *)place)[STACK_POINTER] ^ guard;
}

/* Addresses of programs have at most 48 bits, unless they ask for more.  The signature is in those above. */
static inline uint64_t machine_address(uint64_t word)
{
  return word & (((uint64_t)1 << 48) - 1);
}

static inline const machine_register_t *machine_registers(const ucontext_t *context)
{
  return context->uc_mcontext.regs;
}

static inline uint64_t machine_ip_of(const machine_register_t *registers)
{
  return registers[MACHINE_IP];
}

static inline uint64_t machine_sp_of(const machine_register_t *registers)
{
  return registers[MACHINE_SP];
}

static inline uint64_t machine_fp_of(const machine_register_t *registers)
{
  return registers[MACHINE_FP];
}

static inline uint64_t machine_link_of(const machine_register_t *registers)
{
  return machine_address(registers[MACHINE_LINK]);
}

static inline void machine_set_caller(machine_register_t *registers, uint64_t ip, uint64_t sp, uint64_t fp)
{
  registers[MACHINE_IP] = ip;
  registers[MACHINE_SP] = sp;
  registers[MACHINE_FP] = fp;
}

static inline __attribute__((always_inline)) void
machine_registers_here(machine_register_t registers[MACHINE_REGISTERS])
{
  __asm__ volatile("stp x19, x20, [%0, 8 * 19]\n"
                   "stp x21, x22, [%0, 8 * 21]\n"
                   "stp x23, x24, [%0, 8 * 23]\n"
                   "stp x25, x26, [%0, 8 * 25]\n"
                   "stp x27, x28, [%0, 8 * 27]\n"
                   "stp x29, x30, [%0, 8 * 29]\n"
                   "mov x9, sp\n"
                   "adr x10, .\n"
                   "stp x9, x10, [%0, 8 * 31]\n"
                   :
                   : "r"(registers)
                   : "x9", "x10", "memory");
}

#endif
