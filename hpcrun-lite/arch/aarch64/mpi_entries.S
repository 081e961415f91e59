/* The exported entry points: MPI_NAME and PMPI_NAME of each function.  They pass on the arguments without knowledge of
 * their types: the registers for eight of them, and a word of the stack for each further one.  What is above those is
 * not read: the caller's stack may end there.  The word below the caller's stack pointer is the return address. */
#define ARGUMENTS 22
#define STACK_WORDS 14
#define ENTRY (8 * ARGUMENTS)           /* struct mpi_frame (mpi_wrappers.c) */
#define CODE (ENTRY + 8)
#define SP (ENTRY + 16)
#define SEEN (ENTRY + 24)
#define STACKED (ENTRY + 32)
#define FRAME_BYTES 240 /* at least that structure; a multiple of 16 */

        .hidden mpi_enter, mpi_leave
        .text
        .balign 16
        .type   entered, %function
entered:                                /* w17: 2 * number of the function, + 1: PMPI_NAME; w16: words of the stack */
        .cfi_startproc
        stp     x29, x30, [sp, -16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x29, sp
        .cfi_def_cfa_register x29
        sub     sp, sp, FRAME_BYTES
        stp     x0, x1, [sp]
        stp     x2, x3, [sp, 16]
        stp     x4, x5, [sp, 32]
        stp     x6, x7, [sp, 48]
        add     x9, x29, 16
        stp     x17, x30, [sp, ENTRY]
        str     x9, [sp, SP]
        str     x16, [sp, STACKED]
        cbz     x16, 2f
        add     x10, sp, 64
1:      ldr     x11, [x9], 8
        str     x11, [x10], 8
        subs    x16, x16, 1
        b.ne    1b
2:      mov     x0, sp
        bl      mpi_enter
        mov     x16, x0
        ldr     x9, [sp, SEEN]
        cbz     x9, 5f
        mov     x9, sp
        ldr     x10, [x9, STACKED]
        sub     sp, sp, 8 * STACK_WORDS
        cbz     x10, 4f
        mov     x11, sp
        add     x12, x9, 64
3:      ldr     x13, [x12], 8
        str     x13, [x11], 8
        subs    x10, x10, 1
        b.ne    3b
4:      ldp     x0, x1, [x9]
        ldp     x2, x3, [x9, 16]
        ldp     x4, x5, [x9, 32]
        ldp     x6, x7, [x9, 48]
        blr     x16
        add     sp, sp, 8 * STACK_WORDS
        mov     x1, x0
        mov     x0, sp
        bl      mpi_leave
        .cfi_remember_state
        mov     sp, x29
        .cfi_def_cfa_register sp
        ldp     x29, x30, [sp], 16
        .cfi_restore x30
        .cfi_restore x29
        .cfi_def_cfa_offset 0
        ret
        .cfi_restore_state
5:      ldp     x0, x1, [sp]            /* the function returns to the caller itself */
        ldp     x2, x3, [sp, 16]
        ldp     x4, x5, [sp, 32]
        ldp     x6, x7, [sp, 48]
        mov     sp, x29
        .cfi_def_cfa_register sp
        ldp     x29, x30, [sp], 16
        .cfi_restore x30
        .cfi_restore x29
        .cfi_def_cfa_offset 0
        br      x16
        .cfi_endproc
        .size   entered, . - entered

        .macro  entry_point name, entry, stacked
        .balign 16
        .globl  \name
        .type   \name, %function
\name:
        .cfi_startproc
        mov     w17, \entry
        mov     w16, \stacked
        b       entered
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .set    number, 0
        .macro  entry_points name, arguments
        .set    number, number + 2
        .set    stacked, 0
        .if     \arguments > 8
        .set    stacked, \arguments - 8
        .endif
        entry_point MPI_\name, number, stacked
        entry_point PMPI_\name, number + 1, stacked
        .endm

#define MPI_FUNCTION(name, kind, arguments) entry_points name, arguments;
#include "common/mpi_functions.def"

        .section .note.GNU-stack, "", %progbits
