/* bool handler_sample_on(const siginfo_t *info, void *context, void *stack_top): see handler.c. */

        .hidden handler_sample, handler_sample_on
        .text
        .balign 16
        .globl  handler_sample_on
        .type   handler_sample_on, %function
handler_sample_on:
        .cfi_startproc
        stp     x29, x30, [sp, -16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x29, sp
        .cfi_def_cfa_register x29
        mov     sp, x2
        bl      handler_sample
        mov     sp, x29
        .cfi_def_cfa_register sp
        ldp     x29, x30, [sp], 16
        .cfi_restore x30
        .cfi_restore x29
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        .size   handler_sample_on, . - handler_sample_on

        .section .note.GNU-stack, "", %progbits
