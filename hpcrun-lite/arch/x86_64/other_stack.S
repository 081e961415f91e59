/* bool handler_sample_on(const siginfo_t *info, void *context, void *stack_top): see handler.c. */
        .hidden handler_sample, handler_sample_on
        .text
        .balign 16
        .globl  handler_sample_on
        .type   handler_sample_on, @function
handler_sample_on:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movq    %rdx, %rsp
        call    handler_sample
        leave
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   handler_sample_on, . - handler_sample_on

        .section .note.GNU-stack, "", @progbits
