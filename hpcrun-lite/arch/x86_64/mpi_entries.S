/* The exported entry points: MPI_NAME and PMPI_NAME of each function.  They pass on the arguments without knowledge of
 * their types: the registers for six of them, and a word of the stack for each further one.  What is above those is not
 * read: the caller's stack may end there. */
#define ARGUMENTS 22
#define STACK_WORDS 16
#define ENTRY (8 * ARGUMENTS)           /* struct mpi_frame (mpi_wrappers.c) */
#define CODE (ENTRY + 8)
#define SP (ENTRY + 16)
#define SEEN (ENTRY + 24)
#define STACKED (ENTRY + 32)
#define FRAME_BYTES 240 /* at least that structure; a multiple of 16 */

        .hidden mpi_enter, mpi_leave
        .text
        .balign 16
        .type   entered, @function
entered:                                /* %eax: 2 * number of the function, + 1: PMPI_NAME; %r10d: words of the stack */
        .cfi_startproc
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        subq    $FRAME_BYTES, %rsp
        movq    %rdi, (%rsp)
        movq    %rsi, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movq    %rcx, 24(%rsp)
        movq    %r8, 32(%rsp)
        movq    %r9, 40(%rsp)
        movq    %rax, ENTRY(%rsp)
        movq    8(%rbp), %rax
        movq    %rax, CODE(%rsp)
        leaq    16(%rbp), %rax
        movq    %rax, SP(%rsp)
        movq    %r10, STACKED(%rsp)
        testq   %r10, %r10
        je      2f
1:      movq    8(%rbp, %r10, 8), %rax
        movq    %rax, 40(%rsp, %r10, 8)
        decq    %r10
        jne     1b
2:      movq    %rsp, %rdi
        call    mpi_enter
        movq    %rax, %r11
        cmpq    $0, SEEN(%rsp)
        je      5f
        movq    %rsp, %rax
        movq    STACKED(%rax), %r10
        subq    $8 * STACK_WORDS, %rsp
        testq   %r10, %r10
        je      4f
3:      movq    40(%rax, %r10, 8), %rcx
        movq    %rcx, -8(%rsp, %r10, 8)
        decq    %r10
        jne     3b
4:      movq    (%rax), %rdi
        movq    8(%rax), %rsi
        movq    16(%rax), %rdx
        movq    24(%rax), %rcx
        movq    32(%rax), %r8
        movq    40(%rax), %r9
        call    *%r11
        addq    $8 * STACK_WORDS, %rsp
        movq    %rsp, %rdi
        movq    %rax, %rsi
        call    mpi_leave
        leave
        .cfi_remember_state
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_restore_state
5:      movq    (%rsp), %rdi            /* the function returns to the caller itself */
        movq    8(%rsp), %rsi
        movq    16(%rsp), %rdx
        movq    24(%rsp), %rcx
        movq    32(%rsp), %r8
        movq    40(%rsp), %r9
        leave
        .cfi_def_cfa %rsp, 8
        jmp     *%r11
        .cfi_endproc
        .size   entered, . - entered

        .macro  entry_point name, entry, stacked
        .balign 16
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        endbr64
        movl    $\entry, %eax
        movl    $\stacked, %r10d
        jmp     entered
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .set    number, 0
        .macro  entry_points name, arguments
        .set    number, number + 2
        .set    stacked, 0
        .if     \arguments > 6
        .set    stacked, \arguments - 6
        .endif
        entry_point MPI_\name, number, stacked
        entry_point PMPI_\name, number + 1, stacked
        .endm

#define MPI_FUNCTION(name, kind, arguments) entry_points name, arguments;
#include "common/mpi_functions.def"

        .section .note.GNU-stack, "", @progbits
