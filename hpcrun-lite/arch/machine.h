/* What depends on the machine: the processor, its calling convention, and what the kernel and glibc do in another way
 * there.  A folder for each machine defines all of this, in files of the same names: machine.h, the functions declared
 * here; unwinding.c, those of arch/unwinding.h; jumps.S, the entry points of runtimes (gomp/gomp.h); mpi_entries.S,
 * those of MPI (mpi/mpi_wrappers.c); other_stack.S, handler_sample_on() (handler.c).  No other file of the preloaded
 * library names a machine, a register or an instruction.  doc/architecture.md, Ports, says what else a port needs.
 *
 * Context: RT and CTL.  No state.  Async-signal-safe. */
#ifndef HPCRUN_LITE_ARCH_MACHINE_H
#define HPCRUN_LITE_ARCH_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#if defined __x86_64__
#include "hpcrun-lite/arch/x86_64/machine.h"
#elif defined __aarch64__
#include "hpcrun-lite/arch/aarch64/machine.h"
#endif

/* ---- constants of a machine ----
 *
 * MACHINE_NAME, as users call it; MACHINE_ELF, its e_machine; MACHINE_LOADER, the beginning of the name of glibc's
 * loader.  MACHINE_RELOCATION_CALL and MACHINE_RELOCATION_DATA, of slots that the loader fills with
 * the addresses of functions.  MACHINE_LIBUNWIND and MACHINE_LIBUNWIND_PREFIX, the library and the beginning of its
 * names.  MACHINE_LINK_REGISTER: a call leaves its return address in a register, and functions store it themselves.
 * They may sign it.  MACHINE_READS_COUNTERS: machine_counter() works. */

/* ---- time ---- */

/* The time-stamp counter, in ticks: the same on all processors, and never slower than 1 GHz, since intervals in the
 * code are given in ticks.  The resolution may be coarser than a tick. */
static inline uint64_t machine_ticks(void);

/* A value of machine_ticks() as the kernel counts: in pages of perf events. */
static inline uint64_t machine_kernel_ticks(uint64_t ticks);

/* ---- instructions ---- */

/* The thread waits for another one, in a loop. */
static inline void machine_relax(void);

/* The thread is going to write to the cache line at that address: the processor begins to take it from the caches of
 * others.  Any address is allowed. */
static inline void machine_take_line(const void *place);

/* The quotient of above * 2^64 + below by a divisor larger than `above`. */
static inline uint64_t machine_divide(uint64_t above, uint64_t below, uint64_t divisor);

/* Change a number that only the thread and its handlers write, these so that they leave it as they find it.  Compilers
 * move no access across.  A thread that sees the lower number, with acquire, sees everything written before. */
static inline void machine_increase(int *number);
static inline void machine_decrease(int *number);

/* A system call.  Returns -errno on failure. */
static inline long machine_call(long number, long a, long b, long c, long d, long e, long f);

/* Does the processor know the number of the CPU on which it runs?  To be asked once. */
static inline bool machine_knows_cpu(void);

/* That number, where the processor knows it; UINT32_MAX elsewhere. */
static inline uint32_t machine_cpu(void);

/* The processor's event counter of that number, where MACHINE_READS_COUNTERS. */
static inline uint64_t machine_counter(uint32_t number);

/* Floating point: sets the default, without traps.  Returns the program's settings and flags for
 * machine_restore_floating(). */
static inline uint64_t machine_default_floating(void);
static inline void machine_restore_floating(uint64_t before);

/* The variable that the code of a short function locks, or else frees; NULL if the code does not show it. */
static inline const void *machine_locked_variable(const uint8_t *code, uint64_t bytes, bool locks);

/* ---- threads and stacks ---- */

/* Does the calling thread's storage belong to libc?  A Go program that is position independent and does not use libc
 * may have storage of its own. */
static inline bool machine_storage_of_libc(void);

/* The stack pointer. */
static inline uint64_t machine_sp(void);

/* The stack pointer to which a longjmp() leads.  place: glibc's jmp_buf. */
static inline uint64_t machine_jump_sp(const void *place);

/* A return address without its signature, if the processor has signed it. */
static inline uint64_t machine_address(uint64_t word);

/* ---- registers of a context ----
 *
 * machine_register_t: one; MACHINE_REGISTERS: their number.  Those of a signal; their instruction pointer, stack
 * pointer, frame pointer, and the register in which a call leaves its return address (0 where it does not). */
static inline const machine_register_t *machine_registers(const ucontext_t *context);
static inline uint64_t machine_ip_of(const machine_register_t *registers);
static inline uint64_t machine_sp_of(const machine_register_t *registers);
static inline uint64_t machine_fp_of(const machine_register_t *registers);
static inline uint64_t machine_link_of(const machine_register_t *registers);
static inline void machine_set_caller(machine_register_t *registers, uint64_t ip, uint64_t sp, uint64_t fp);

/* Those at this place that functions preserve, the instruction pointer and the stack pointer.  Inlined, for the
 * function that needs them. */
static inline void machine_registers_here(machine_register_t registers[MACHINE_REGISTERS])
    __attribute__((always_inline));

#endif
