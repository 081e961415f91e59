/* Lengths of machine instructions, and which are atomic; tests/advice/machine_code.py compares whole libraries. */
#include "common/symbols/instruction.h"
#include "tests/support/unit.h"

#include <elf.h>

struct known {
  const char *code; /* its NUL is not part of it */
  unsigned length;
  bool atomic;
};

static const struct known x86[] = {
    {"\x90", 1, false},
    {"\x55", 1, false},
    {"\x48\x89\xe5", 3, false},                                                     /* mov %rsp,%rbp */
    {"\x48\x8b\x05\x01\x02\x03\x04", 7, false},                                     /* mov 0x4030201(%rip),%rax */
    {"\x8b\x44\x24\x08", 4, false},                                                 /* mov 0x8(%rsp),%eax */
    {"\x8b\x04\x25\x01\x02\x03\x04", 7, false},                                     /* mov 0x4030201,%eax */
    {"\x66\x05\x34\x12", 4, false},                                                 /* add $0x1234,%ax */
    {"\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, false},                        /* movabs */
    {"\xf7\x00\x01\x02\x03\x04", 6, false},                                         /* testl */
    {"\xf7\xd8", 2, false},                                                         /* neg %eax */
    {"\xe8\x01\x02\x03\x04", 5, false},                                             /* call */
    {"\x0f\x84\x01\x02\x03\x04", 6, false},                                         /* je */
    {"\xc8\x10\x20\x01", 4, false},                                                 /* enter */
    {"\x0f\x3a\x0f\xc1\x08", 5, false},                                             /* palignr */
    {"\xc5\xf8\x77", 3, false},                                                     /* vzeroupper */
    {"\xc4\xe3\x7d\x19\xc1\x01", 6, false},                                         /* vextractf128 */
    {"\x62\xf1\x7c\x48\x10\x44\x24\x01", 8, false},                                 /* vmovups 0x40(%rsp),%zmm0 */
    {"\xf0\x48\x0f\xb1\x0f", 5, true},                                              /* lock cmpxchg %rcx,(%rdi) */
    {"\xf0\x83\x07\x01", 4, true},                                                  /* lock addl $1,(%rdi) */
    {"\x87\x07", 2, true},                                                          /* xchg %eax,(%rdi) */
    {"\x87\xc3", 2, false},                                                         /* xchg %eax,%ebx */
    {"\x06", 0, false},                                                             /* not in 64-bit code */
    {"\x48\x8b\x05\x01\x02", 0, false},                                             /* cut short */
    {"\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", 0, false}, /* too long */
};

static const struct known arm[] = {
    {"\x1f\x20\x03\xd5", 4, false}, /* nop */
    {"\x20\x00\x40\xf9", 4, false}, /* ldr x0, [x1] */
    {"\x20\xfc\xdf\x88", 4, false}, /* ldar w0, [x1] */
    {"\x20\xfc\x5f\x88", 4, true},  /* ldaxr w0, [x1] */
    {"\x20\xfc\x02\x88", 4, true},  /* stlxr w2, w0, [x1] */
    {"\x20\x00\x22\xb8", 4, true},  /* ldadd w2, w0, [x1] */
    {"\x20\x7c\xa2\x88", 4, true},  /* cas w2, w0, [x1] */
    {"\x20\x68\x62\xb8", 4, false}, /* ldr w0, [x1, x2] */
};

static void expect(uint16_t machine, const struct known *known, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    bool atomic;
    size_t size = strlen(known[i].code) > known[i].length ? strlen(known[i].code) : known[i].length;
    assert_int_equal(instruction_length(machine, (const uint8_t *)known[i].code, size, &atomic), known[i].length);
    if (known[i].length)
      assert_int_equal(atomic, known[i].atomic);
  }
}

static void test_lengths(void **state)
{
  (void)state;
  expect(EM_X86_64, x86, sizeof x86 / sizeof *x86);
  expect(EM_AARCH64, arm, sizeof arm / sizeof *arm);
}

/* A prefix of an instruction is never taken for all of it, and nothing behind it is read. */
static void test_cut_short(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof x86 / sizeof *x86; i++)
    for (unsigned size = 0; size < x86[i].length; size++) {
      bool atomic;
      uint8_t *code = test_malloc(size + !size);
      memcpy(code, x86[i].code, size);
      assert_int_equal(instruction_length(EM_X86_64, code, size, &atomic), 0);
      test_free(code);
    }
}

static void test_other_machines(void **state)
{
  bool atomic = true;
  (void)state;
  assert_int_equal(instruction_length(EM_RISCV, (const uint8_t *)"\x90\x90\x90\x90", 4, &atomic), 0);
  assert_false(atomic);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lengths), cmocka_unit_test(test_cut_short),
                                     cmocka_unit_test(test_other_machines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
