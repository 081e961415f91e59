/* The exported entry points of libgomp's interface, and some of libomp's: see arch/x86_64/jumps.S, which says what each
 * part is for.
 *
 * x16 and x17 are free at the entry of a function, x9 to x15 as well: calls may change them. */
#include "hpcrun-lite/gomp/entries.h"

#define RT_NOTED_GROUP 0                /* struct rt_noted (rt/core/rt.h) */
#define RT_NOTED_ALLOCATION 8
#define RT_NOTED_SECTIONS 16
#define RT_NOTED_TASKLOOP 32
#define RT_NOTED_CHUNK_SIZE 40
#define RT_NOTED_SCHEDULE 48
#define RT_NOTED_REDUCTION 56
#define RT_NOTED_REDUCTION_SINCE 64
#define IDENT_SECTIONS_BIT 10           /* of the flags of an ident_t of libomp: a static loop over sections */

        .hidden gomp_targets, gomp_bind
        .globl  gomp_targets
        .set    entry, 0

        .section .data.gomp_targets, "aw", %progbits
        .balign 64
gomp_targets:                           /* one element for each jump, in the order of enum gomp_entry (gomp.h) */

        .section gomp_text, "ax", %progbits
        .balign 16
        .type   bind, %function
bind:                                   /* w17: number of the entry; x30: the caller's return address */
        .cfi_startproc
        stp     x29, x30, [sp, -96]!
        .cfi_def_cfa_offset 96
        .cfi_offset x29, -96
        .cfi_offset x30, -88
        mov     x29, sp
        stp     x0, x1, [sp, 16]
        stp     x2, x3, [sp, 32]
        stp     x4, x5, [sp, 48]
        stp     x6, x7, [sp, 64]
        str     x8, [sp, 80]
        mov     w0, w17
        mov     x1, x30
        bl      gomp_bind
        mov     x16, x0
        ldp     x0, x1, [sp, 16]
        ldp     x2, x3, [sp, 32]
        ldp     x4, x5, [sp, 48]
        ldp     x6, x7, [sp, 64]
        ldr     x8, [sp, 80]
        ldp     x29, x30, [sp], 96
        .cfi_restore x30
        .cfi_restore x29
        .cfi_def_cfa_offset 0
        br      x16
        .cfi_endproc
        .size   bind, . - bind

        .macro  note_nothing
        .endm

        .macro  load_target             /* x16: where the entry point leads */
        adrp    x16, gomp_targets + 8 * entry
        ldr     x16, [x16, :lo12:gomp_targets + 8 * entry]
        .endm

        .macro  element name            /* the end of an entry point: its element of gomp_targets */
        .balign 16
.Lunbound_\name:
        mov     w17, entry
        b       bind
        .cfi_endproc
        .size   \name, . - \name
        .pushsection .data.gomp_targets, "aw", %progbits
        .xword  .Lunbound_\name
        .popsection
        .set    entry, entry + 1
        .endm

        .macro  entry_point name, note=note_nothing
        .balign 16
        .globl  \name
        .type   \name, %function
\name:
        .cfi_startproc
        \note
        load_target
        br      x16
        element \name
        .endm

        .macro  versioned_entry_point name
        entry_point v3_\name
        .symver v3_\name, \name@@OMP_3.0, remove
        .endm

        .macro  old_entry_point name
        entry_point v1_\name
        .symver v1_\name, \name@OMP_1.0, remove
        .endm

        .macro  thread_local register, symbol /* its address; changes x17 */
        adrp    \register, :gottprel:\symbol
        ldr     \register, [\register, :gottprel_lo12:\symbol]
        mrs     x17, tpidr_el0
        add     \register, \register, x17
        .endm

        /* An entry point that notes its caller in rt_undeferred.  The return address must be on the stack as long as
         * the call lasts: so this is a call.  x29 stays that of the caller, which libomp asks for. */
        .macro  noted_entry_point name
        .balign 16
        .globl  \name
        .type   \name, %function
\name:
        .cfi_startproc
        stp     x29, x30, [sp, -16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        thread_local x16, rt_undeferred
        stp     x30, x30, [x16]
        add     x17, sp, 8
        str     x17, [x16, 16]
        load_target
        blr     x16
        thread_local x16, rt_undeferred
        str     xzr, [x16, 16]
        ldp     x29, x30, [sp], 16
        .cfi_restore x30
        .cfi_restore x29
        .cfi_def_cfa_offset 0
        ret
        element \name
        .endm

        .macro  note_group              /* its place in the source, in rt_noted */
        thread_local x16, rt_noted
        str     x0, [x16, RT_NOTED_GROUP]
        .endm

        .macro  note_allocation
        thread_local x16, rt_noted
        str     x0, [x16, RT_NOTED_ALLOCATION]
        .endm

        .macro  note_taskloop           /* its place is that of the task that was allocated for it */
        thread_local x16, rt_noted
        ldr     x17, [x16, RT_NOTED_ALLOCATION]
        str     x17, [x16, RT_NOTED_TASKLOOP]
        str     xzr, [x16, RT_NOTED_ALLOCATION]
        .endm

        /* The schedule of a loop, in w2, and the size of its chunks, of 4 or 8 bytes. */
        .macro  note_schedule chunk
        thread_local x16, rt_noted
        str     w2, [x16, RT_NOTED_SCHEDULE]
        str     \chunk, [x16, RT_NOTED_CHUNK_SIZE]
        .endm
        .macro  note_loop_4
        mov     w9, w6
        note_schedule x9
        .endm
        .macro  note_loop_8
        note_schedule x6
        .endm
        .macro  note_dist_loop_4
        mov     w9, w7
        note_schedule x9
        .endm
        .macro  note_dist_loop_8
        note_schedule x7
        .endm
        .macro  note_static_loop_4
        ldr     w9, [sp]
        note_schedule x9
        .endm
        .macro  note_static_loop_8
        ldr     x9, [sp]
        note_schedule x9
        .endm

        .macro  note_sections           /* where libomp writes which sections the thread executes */
        note_static_loop_4
        cbz     x0, 1f                  /* compilers other than clang may pass no place */
        ldr     w17, [x0, 4]
        tbz     w17, IDENT_SECTIONS_BIT, 1f
        stp     x4, x5, [x16, RT_NOTED_SECTIONS]
1:
        .endm

        .macro  note_reduction          /* machine_ticks() */
        thread_local x16, rt_noted
        mrs     x9, cntfrq_el0
        orr     w10, w9, 0x100000
        clz     w10, w10
        lsr     w9, w9, 31
        eor     w9, w9, 1
        sub     w10, w10, w9
        mrs     x9, cntvct_el0
        lsl     x9, x9, x10
        stp     x30, x9, [x16, RT_NOTED_REDUCTION]
        .endm

#define ENTRY_POINT(name) entry_point name;
#define NOTED_ENTRY_POINT(name) noted_entry_point name;
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

/* gomp_taskloop_bodies. */
        .balign 16
        .type   taskloop_body, %function
taskloop_body:                          /* w17: number of the function */
        .cfi_startproc
        stp     x29, x30, [sp, -32]!
        .cfi_def_cfa_offset 32
        .cfi_offset x29, -32
        .cfi_offset x30, -24
        mov     x29, sp
        stp     x0, x1, [sp, 16]
        mov     w0, w17
        bl      gomp_taskloop_task
        mov     x16, x0
        ldp     x0, x1, [sp, 16]
        ldp     x29, x30, [sp], 32
        .cfi_restore x30
        .cfi_restore x29
        .cfi_def_cfa_offset 0
        br      x16
        .cfi_endproc
        .size   taskloop_body, . - taskloop_body

        .balign 16
        .globl  gomp_taskloop_bodies
        .hidden gomp_taskloop_bodies, gomp_taskloop_task
        .type   gomp_taskloop_bodies, %function
gomp_taskloop_bodies:
        .cfi_startproc
        .set    number, 0
        .rept   KMPC_TASKLOOPS
        .balign 16
        mov     w17, number
        b       taskloop_body
        .set    number, number + 1
        .endr
        .balign 16
        .cfi_endproc
        .size   gomp_taskloop_bodies, . - gomp_taskloop_bodies

/* gomp_task_bodies. */
        .balign 16
        .globl  gomp_task_bodies
        .hidden gomp_task_bodies, gomp_run_body
        .type   gomp_task_bodies, %function
gomp_task_bodies:
        .cfi_startproc
        .set    number, 0
        .rept   GOMP_TASK_BODIES
        .balign 16
        mov     w1, number
        b       gomp_run_body
        .set    number, number + 1
        .endr
        .balign 16
        .cfi_endproc
        .size   gomp_task_bodies, . - gomp_task_bodies

/* void gomp_call_longs(void (*function)(long, ...), unsigned count, const long *arguments): calls a function that takes
 * any number of long. */
        .balign 16
        .globl  gomp_call_longs
        .hidden gomp_call_longs
        .type   gomp_call_longs, %function
gomp_call_longs:
        .cfi_startproc
        stp     x29, x30, [sp, -16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x29, sp
        .cfi_def_cfa_register x29
        mov     x9, x0
        mov     x10, x2
        mov     w11, w1
        subs    w12, w11, 8
        b.ls    2f
        add     w13, w12, 1             /* words on the stack: an even number */
        and     w13, w13, 0xfffffffe
        sub     sp, sp, w13, uxtw 3
        mov     x13, sp
        add     x14, x10, 64
1:      ldr     x15, [x14], 8
        str     x15, [x13], 8
        subs    w12, w12, 1
        b.ne    1b
2:      ldr     x0, [x10]
        cmp     w11, 2
        b.lo    3f
        ldr     x1, [x10, 8]
        b.eq    3f
        ldr     x2, [x10, 16]
        cmp     w11, 4
        b.lo    3f
        ldr     x3, [x10, 24]
        b.eq    3f
        ldr     x4, [x10, 32]
        cmp     w11, 6
        b.lo    3f
        ldr     x5, [x10, 40]
        b.eq    3f
        ldr     x6, [x10, 48]
        cmp     w11, 8
        b.lo    3f
        ldr     x7, [x10, 56]
3:      blr     x9
        mov     sp, x29
        .cfi_def_cfa_register sp
        ldp     x29, x30, [sp], 16
        .cfi_restore x30
        .cfi_restore x29
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        .size   gomp_call_longs, . - gomp_call_longs

        .section .note.GNU-stack, "", %progbits
