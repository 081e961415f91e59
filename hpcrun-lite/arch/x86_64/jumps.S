/* The exported entry points of libgomp's interface, and some of libomp's.  Each is a jump through its element of
 * gomp_targets, which leads to gomp_bind() at the first call, and then to what that function has chosen: a wrapper, or
 * the runtime's own function.
 * So a function of a runtime that is left alone is called as if this library were not there.
 *
 * They are in the section gomp_text, whose addresses count as code of the runtime (rt/sampling/context.c). */
#include "hpcrun-lite/gomp/entries.h"

#define RT_NOTED_GROUP 0                /* struct rt_noted (rt/core/rt.h) */
#define RT_NOTED_ALLOCATION 8
#define RT_NOTED_SECTIONS 16
#define RT_NOTED_TASKLOOP 32
#define RT_NOTED_CHUNK_SIZE 40
#define RT_NOTED_SCHEDULE 48
#define RT_NOTED_REDUCTION 56
#define RT_NOTED_REDUCTION_SINCE 64
#define IDENT_SECTIONS 0x400            /* of the flags of an ident_t of libomp: a static loop over sections */

        .hidden gomp_targets, gomp_bind
        .globl  gomp_targets
        .set    entry, 0

        .section .data.gomp_targets, "aw", @progbits
        .balign 64
gomp_targets:                           /* one element for each jump, in the order of enum gomp_entry (gomp.h) */

        .section gomp_text, "ax", @progbits
        .balign 16
        .type   bind, @function
bind:                                   /* (%rsp): number of the entry; above it the caller's return address */
        .cfi_startproc
        .cfi_def_cfa_offset 16
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rcx
        .cfi_adjust_cfa_offset 8
        pushq   %r8
        .cfi_adjust_cfa_offset 8
        pushq   %r9
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    64(%rsp), %rdi
        movq    72(%rsp), %rsi
        call    gomp_bind
        movq    %rax, %r11
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r9
        .cfi_adjust_cfa_offset -8
        popq    %r8
        .cfi_adjust_cfa_offset -8
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        popq    %rax
        .cfi_adjust_cfa_offset -8
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        jmp     *%r11
        .cfi_endproc
        .size   bind, . - bind

        .macro  note_nothing
        .endm

        .macro  entry_point name, note=note_nothing
        .balign 16
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        endbr64
        \note
        jmp     *gomp_targets + 8 * entry(%rip)
        .balign 16
.Lunbound_\name:
        pushq   $entry
        .cfi_adjust_cfa_offset 8
        jmp     bind
        .cfi_endproc
        .size   \name, . - \name
        .pushsection .data.gomp_targets, "aw", @progbits
        .quad   .Lunbound_\name
        .popsection
        .set    entry, entry + 1
        .endm

        .macro  versioned_entry_point name
        entry_point v3_\name
        .symver v3_\name, \name@@OMP_3.0, remove
        .endm

        .macro  old_entry_point name
        entry_point v1_\name
        .symver v1_\name, \name@OMP_1.0, remove
        .endm

        .macro  note_caller             /* in rt_undeferred; changes registers that calls may change */
        movq    rt_undeferred@gottpoff(%rip), %rax
        movq    (%rsp), %r11
        movq    %r11, %fs:(%rax)
        movq    %r11, %fs:8(%rax)
        movq    %rsp, %fs:16(%rax)
        .endm

        .macro  note_group              /* its place in the source, in rt_noted */
        movq    rt_noted@gottpoff(%rip), %rax
        movq    %rdi, %fs:RT_NOTED_GROUP(%rax)
        .endm

        .macro  note_allocation
        movq    rt_noted@gottpoff(%rip), %rax
        movq    %rdi, %fs:RT_NOTED_ALLOCATION(%rax)
        .endm

        .macro  note_taskloop           /* its place is that of the task that was allocated for it */
        movq    rt_noted@gottpoff(%rip), %rax
        movq    %fs:RT_NOTED_ALLOCATION(%rax), %r11
        movq    %r11, %fs:RT_NOTED_TASKLOOP(%rax)
        movq    $0, %fs:RT_NOTED_ALLOCATION(%rax)
        .endm

        /* The schedule of a loop, in %edx, and the size of its chunks, on the stack: of 4 or 8 bytes. */
        .macro  note_schedule
        movq    rt_noted@gottpoff(%rip), %rax
        movl    %edx, %fs:RT_NOTED_SCHEDULE(%rax)
        movq    %r11, %fs:RT_NOTED_CHUNK_SIZE(%rax)
        .endm
        .macro  note_loop_4
        movl    8(%rsp), %r11d
        note_schedule
        .endm
        .macro  note_loop_8
        movq    8(%rsp), %r11
        note_schedule
        .endm
        .macro  note_dist_loop_4
        movl    16(%rsp), %r11d
        note_schedule
        .endm
        .macro  note_dist_loop_8
        movq    16(%rsp), %r11
        note_schedule
        .endm
        .macro  note_static_loop_4
        movl    24(%rsp), %r11d
        note_schedule
        .endm
        .macro  note_static_loop_8
        movq    24(%rsp), %r11
        note_schedule
        .endm

        .macro  note_sections           /* where libomp writes which sections the thread executes */
        note_static_loop_4
        testq   %rdi, %rdi              /* compilers other than clang may pass no place */
        jz      1f
        testl   $IDENT_SECTIONS, 4(%rdi)
        jz      1f
        movq    %r8, %fs:RT_NOTED_SECTIONS(%rax)
        movq    %r9, %fs:RT_NOTED_SECTIONS + 8(%rax)
1:
        .endm

        .macro  note_reduction          /* keeps %rdx, a parameter */
        movq    %rdx, %r10
        rdtsc
        shlq    $32, %rdx
        orq     %rdx, %rax
        movq    %r10, %rdx
        movq    rt_noted@gottpoff(%rip), %r11
        movq    %rax, %fs:RT_NOTED_REDUCTION_SINCE(%r11)
        movq    (%rsp), %rax
        movq    %rax, %fs:RT_NOTED_REDUCTION(%r11)
        .endm

#define ENTRY_POINT(name) entry_point name;
#define NOTED_ENTRY_POINT(name) entry_point name, note_caller;
#define ALLOCATION_ENTRY_POINT(name) entry_point name, note_allocation;
#define TASKLOOP_ENTRY_POINT(name) entry_point name, note_taskloop;
#define GROUP_ENTRY_POINT(name) entry_point name, note_group;
#define SECTIONS_ENTRY_POINT(name) entry_point name, note_sections;
#define REDUCTION_ENTRY_POINT(name) entry_point name, note_reduction;
#define LOOP_ENTRY_POINT_4(name) entry_point name, note_loop_4;
#define LOOP_ENTRY_POINT_8(name) entry_point name, note_loop_8;
#define STATIC_ENTRY_POINT_4(name) entry_point name, note_static_loop_4;
#define STATIC_ENTRY_POINT_8(name) entry_point name, note_static_loop_8;
#define DIST_ENTRY_POINT_4(name) entry_point name, note_dist_loop_4;
#define DIST_ENTRY_POINT_8(name) entry_point name, note_dist_loop_8;
#define DEVICE_ENTRY_POINT(name, kind, parameters) entry_point name;
#define VERSIONED_ENTRY_POINT(name) versioned_entry_point name;
#define OLD_ENTRY_POINT(name) old_entry_point name;
GOMP_WRAPPED(ENTRY_POINT)
KMPC_TIMED(ENTRY_POINT)
KMPC_TASKLOOP_CALLS(TASKLOOP_ENTRY_POINT)
KMPC_ALLOCATION(ALLOCATION_ENTRY_POINT)
KMPC_UNWRAPPED(NOTED_ENTRY_POINT)
KMPC_GROUP(GROUP_ENTRY_POINT)
KMPC_SECTIONS(SECTIONS_ENTRY_POINT)
KMPC_INITS_4(LOOP_ENTRY_POINT_4)
KMPC_INITS_8(LOOP_ENTRY_POINT_8)
KMPC_STATIC_INITS_4(STATIC_ENTRY_POINT_4)
KMPC_STATIC_INITS_8(STATIC_ENTRY_POINT_8)
KMPC_DIST_INITS_4(DIST_ENTRY_POINT_4)
KMPC_DIST_INITS_8(DIST_ENTRY_POINT_8)
KMPC_OTHER_CHUNKS(ENTRY_POINT)
KMPC_TESTS(ENTRY_POINT)
KMPC_DOACROSS(ENTRY_POINT)
KMPC_REDUCTIONS(REDUCTION_ENTRY_POINT)
TGT_CALLS(DEVICE_ENTRY_POINT)
GOMP_LOCKS(VERSIONED_ENTRY_POINT)
GOMP_LOCKS(OLD_ENTRY_POINT)

/* gomp_taskloop_bodies: functions of 16 bytes, each of which stands for a task function of a taskloop, void (int thread,
 * void *task).  It reports the task's iterations, and jumps to the task function. */
        .balign 16
        .type   taskloop_body, @function
taskloop_body:                          /* %eax: number of the function */
        .cfi_startproc
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movl    %eax, %edi
        movq    8(%rsp), %rsi
        call    gomp_taskloop_task
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *%rax
        .cfi_endproc
        .size   taskloop_body, . - taskloop_body

        .balign 16
        .globl  gomp_taskloop_bodies
        .hidden gomp_taskloop_bodies, gomp_taskloop_task
        .type   gomp_taskloop_bodies, @function
gomp_taskloop_bodies:
        .cfi_startproc
        .set    number, 0
        .rept   KMPC_TASKLOOPS
        .balign 16
        endbr64
        movl    $number, %eax
        jmp     taskloop_body
        .set    number, number + 1
        .endr
        .cfi_endproc
        .size   gomp_taskloop_bodies, . - gomp_taskloop_bodies

/* gomp_task_bodies: functions of 16 bytes, each of which stands for a task function of GCC's code, void (void *block). */
        .balign 16
        .globl  gomp_task_bodies
        .hidden gomp_task_bodies, gomp_run_body
        .type   gomp_task_bodies, @function
gomp_task_bodies:
        .cfi_startproc
        .set    number, 0
        .rept   GOMP_TASK_BODIES
        .balign 16
        endbr64
        movl    $number, %esi
        jmp     gomp_run_body
        .set    number, number + 1
        .endr
        .cfi_endproc
        .size   gomp_task_bodies, . - gomp_task_bodies

/* void gomp_call_longs(void (*function)(long, ...), unsigned count, const long *arguments): calls a function that takes
 * any number of long. */
        .balign 16
        .globl  gomp_call_longs
        .hidden gomp_call_longs
        .type   gomp_call_longs, @function
gomp_call_longs:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movq    %rdi, %r11
        movq    %rdx, %r10
        movl    %esi, %eax
        cmpl    $6, %eax
        jbe     2f
        testl   $1, %eax
        jz      1f
        subq    $8, %rsp
1:      pushq   -8(%r10, %rax, 8)
        decl    %eax
        cmpl    $6, %eax
        ja      1b
2:      movq    (%r10), %rdi
        cmpl    $2, %esi
        jb      3f
        movl    %esi, %eax
        movq    8(%r10), %rsi
        cmpl    $3, %eax
        jb      3f
        movq    16(%r10), %rdx
        cmpl    $4, %eax
        jb      3f
        movq    24(%r10), %rcx
        cmpl    $5, %eax
        jb      3f
        movq    32(%r10), %r8
        cmpl    $6, %eax
        jb      3f
        movq    40(%r10), %r9
3:      xorl    %eax, %eax
        call    *%r11
        leave
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   gomp_call_longs, . - gomp_call_longs

        .section .note.GNU-stack, "", @progbits
