/* The exported entry points: MPI_NAME and PMPI_NAME of each function.  They pass on any arguments, without knowledge of
 * their types: the registers for six of them, and 16 words of the stack. */
#define ARGUMENTS 22
#define STACK_WORDS 16
#define ENTRY (8 * ARGUMENTS)           /* struct mpi_frame (mpi_wrappers.c) */
#define CODE (ENTRY + 8)
#define SP (ENTRY + 16)
#define SEEN (ENTRY + 24)
#define FRAME_BYTES 240 /* at least that structure; a multiple of 16 */

        .hidden mpi_enter, mpi_leave
        .text
        .balign 16
        .type   entered, @function
entered:                                /* %eax: 2 * number of the function, + 1: PMPI_NAME */
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
        .set    word, 0
        .rept   STACK_WORDS / 2
        movups  16 + 8 * word(%rbp), %xmm0
        movups  %xmm0, 48 + 8 * word(%rsp)
        .set    word, word + 2
        .endr
        movq    %rsp, %rdi
        call    mpi_enter
        movq    %rax, %r11
        cmpq    $0, SEEN(%rsp)
        je      1f
        movq    %rsp, %rax
        subq    $8 * STACK_WORDS, %rsp
        .set    word, 0
        .rept   STACK_WORDS / 2
        movups  48 + 8 * word(%rax), %xmm0
        movups  %xmm0, 8 * word(%rsp)
        .set    word, word + 2
        .endr
        movq    (%rax), %rdi
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
1:      movq    (%rsp), %rdi            /* the function returns to the caller itself */
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

        .macro  entry_point name, entry
        .balign 16
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        endbr64
        movl    $\entry, %eax
        jmp     entered
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .set    number, 0
        .macro  entry_points name
        .set    number, number + 2
        entry_point MPI_\name, number
        entry_point PMPI_\name, number + 1
        .endm

#define MPI_FUNCTION(name, kind) entry_points name;
#include "common/mpi_functions.def"

        .section .note.GNU-stack, "", @progbits
