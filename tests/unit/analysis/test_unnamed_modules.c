/* Modules without symbols or source lines: what most of their time shows decides. */
#include "hpcprof-lite/analysis/unnamed_modules.h"
#include "tests/support/unit.h"

static const struct tree_columns columns = {.count = 1,
                                            .samples = MODEL_NONE,
                                            .overhead = MODEL_NONE,
                                            .lockwait = MODEL_NONE,
                                            .idleness = MODEL_NONE,
                                            .critical = MODEL_NONE,
                                            .mpi = MODEL_NONE};

/* Finds the modules of a run that spent so much in a function with that name and in one without. */
static uint32_t find_beside(const char *name, uint64_t named, uint64_t nameless, bool lined,
                            struct unnamed_module *first)
{
  struct names_function functions[] = {{.name = name}, {.name = "app+0x1", .unknown = true}};
  struct names_module module = {.looked_up = true, .named = named > 0, .lined = lined};
  struct names names = {.functions = functions, .functions_count = 2, .modules = &module, .modules_count = 1};
  struct unnamed_module found[UNNAMED_MODULES_MAX];
  struct tree tree;
  uint32_t count = 0;
  const struct tree_order order = {.columns = &columns};
  tree_init(&tree, 1, "run");
  for (uint32_t i = 0; i < 2; i++) {
    struct tree_row row = {.module = 0, .kind = ROW_FUNCTION, .function = i, .name = functions[i].name, .file = ""};
    uint32_t added = tree_add(&tree, &row, NULL);
    assert_int_not_equal(added, MODEL_NONE);
    tree_value(&tree, added, 0, i ? nameless : named);
  }
  tree_inclusive(&tree);
  tree_finish(&tree, &order, false);
  unnamed_modules(&tree, &columns, &names, found, &count);
  tree_release(&tree);
  *first = found[0];
  return count;
}

static uint32_t find(uint64_t named, uint64_t nameless, bool lined, struct unnamed_module *first)
{
  return find_beside("f", named, nameless, lined, first);
}

static void an_interpreter_lacks_names_of_python(void **state)
{
  struct unnamed_module found;
  (void)state;
  assert_int_equal(find_beside(tree_interpreter, 100, 0, true, &found), 1); /* also with symbols and lines of its own */
  assert_int_equal(found.what, UNNAMED_PYTHON);
  assert_int_equal(find_beside(tree_interpreter, 10, 90, false, &found), 1);
  assert_int_equal(found.what, UNNAMED_PYTHON);
  assert_int_equal(found.weight, 100);
}

static void most_time_decides(void **state)
{
  struct unnamed_module found;
  (void)state;
  assert_int_equal(find(10, 90, false, &found), 1); /* one name resolves: no symbols nevertheless */
  assert_true(found.what == UNNAMED_FUNCTIONS && found.weight == 100);
  assert_int_equal(find(10, 90, true, &found), 1);
  assert_int_equal(found.what, UNNAMED_FUNCTIONS);
  assert_int_equal(find(90, 10, false, &found), 1);
  assert_int_equal(found.what, UNNAMED_LINES);
  assert_int_equal(find(0, 100, false, &found), 1);
  assert_int_equal(found.what, UNNAMED_FUNCTIONS);
  assert_int_equal(find(90, 10, true, &found), 0);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(most_time_decides),
                                     cmocka_unit_test(an_interpreter_lacks_names_of_python)};
  return UNIT_RUN(argc, argv, "unnamed_modules", tests, NULL, NULL);
}
