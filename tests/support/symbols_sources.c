#include "tests/support/symbols_sources.h"

char directory[64];

/* The tests name line numbers of these sources. */
static const char chain_source[] = "volatile int sink;\n"
                                   "static inline __attribute__((always_inline)) int inner(int x)\n"
                                   "{ return x * 3 + sink; }\n"
                                   "static inline __attribute__((always_inline)) int middle(int x)\n"
                                   "{ return inner(x) + 1; }\n"
                                   "\n"
                                   "__attribute__((noinline)) int outer(int x)\n"
                                   "{ return middle(x); }\n"
                                   "int puts(const char *);\n"
                                   "int main(int argc, char **argv) { return outer(argc) + puts(argv[0]); }\n";

static const char shape_source[] = "volatile double sink;\n"
                                   "namespace geo {\n"
                                   "struct Shape { double area(int) const; double area(double) const; };\n"
                                   "__attribute__((noinline)) double Shape::area(int x) const { return sink * x; }\n"
                                   "__attribute__((noinline)) double Shape::area(double x) const { return sink + x; }\n"
                                   "template <class T> __attribute__((noinline)) T twice(T x) { return x + sink; }\n"
                                   "}\n"
                                   "int main() { geo::Shape s; return s.area(1) + s.area(2.0) + geo::twice(3.0); }\n";

static const char openmp_source[] = "double a[1000];\n"
                                    "void solve(int n)\n"
                                    "{\n"
                                    "#pragma omp parallel for\n"
                                    "  for (int i = 0; i < n; i++)\n"
                                    "    a[i % 1000] += i;\n"
                                    "}\n"
                                    "int main(int argc, char **argv) { (void)argv; solve(argc); return 0; }\n";

static const char fortran_source[] =
    "module heat\ncontains\nsubroutine step(a, n)\n  integer :: n, i\n  real(8) :: a(n)\n"
    "  do i = 1, n\n    a(i) = a(i) * 0.5d0 + i\n  end do\nend subroutine\nend module\n"
    "program sim\n  use heat\n  real(8) :: a(100)\n  a = 1\n  call step(a, 100)\n"
    "  print *, a(3)\nend program\n";

/* The entry of the nested procedure is inside that of its host, its code is not. */
static const char nested_source[] =
    "subroutine outer(a, n)\n  integer :: n, i\n  real(8) :: a(n)\n"
    "  do i = 1, n\n    call nested(i)\n  end do\ncontains\nsubroutine nested(k)\n  integer :: k\n"
    "  a(k) = a(k) + n\nend subroutine\nend subroutine\n"
    "program sim\n  real(8) :: a(10)\n  a = 1\n  call outer(a, 10)\n  print *, a(3)\nend program\n";

/* Its first line of code is in a header: its line table (DWARF 5) begins with file 1, without an opcode that sets
 * it. */
static const char included_source[] = "#include \"first.h\"\n"
                                      "int main(int argc, char **argv) { (void)argv; return first(argc); }\n";
static const char first_source[] = "volatile int sink;\n__attribute__((noinline)) int first(int x)\n"
                                   "{ sink = x;\n  return x + sink; }\n";

static const char cold_source[] = "#include <stdlib.h>\n"
                                  "volatile int sink;\n"
                                  "__attribute__((noinline)) int part(int x)\n"
                                  "{ if (__builtin_expect(x == 7, 0)) { sink = 1; abort(); } return x + sink; }\n"
                                  "int main(int argc, char **argv) { (void)argv; return part(argc); }\n";

static const char tail_source[] = "int puts(const char *);\n"
                                  "__attribute__((noinline, aligned(8))) int show(const char *s) { return puts(s); }\n"
                                  "int main(int argc, char **argv) { return show(argv[argc - 1]) < 0; }\n";

bool run(const char *format, ...)
{
  char command[1024];
  size_t used = (size_t)snprintf(command, sizeof command, "cd %s && ", directory);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command + used, sizeof command - used, format, arguments);
  va_end(arguments);
  strncat(command, " 2>errors", sizeof command - strlen(command) - 1);
  return system(command) == 0;
}

bool makes_x86_64(void)
{
  return run("gcc -dumpmachine | grep -q x86_64");
}

void need_x86_64(void)
{
  if (!makes_x86_64())
    skip();
}

void must_run(const char *command)
{
  if (!run("%s", command))
    fail_msg("'%s' failed in %s: see the file errors there", command, directory);
}

const char *path_of(const char *name)
{
  static char paths[4][128];
  static int next;
  char *path = paths[next++ & 3];
  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

void write_file(const char *name, const void *bytes, size_t size)
{
  FILE *file = fopen(path_of(name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

uint8_t *read_file(const char *name, size_t *size)
{
  FILE *file = fopen(path_of(name), "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  *size = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = malloc(*size + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, *size, file), *size);
  fclose(file);
  return bytes;
}

/* The address and size of a symbol by nm, which reads the file independently. */
bool find_symbol(const char *name, const char *symbol, uint64_t *address, uint64_t *size)
{
  char command[256], line[4096], found[2048], type;
  bool known = false;
  snprintf(command, sizeof command, "nm -S %s", path_of(name));
  FILE *nm = popen(command, "r");
  assert_non_null(nm);
  while (fgets(line, sizeof line, nm))
    if (sscanf(line, "%lx %lx %c %2047s", address, size, &type, found) == 4 && !strcmp(found, symbol)) {
      known = true;
      break;
    }
  while (fgets(line, sizeof line, nm))
    continue;
  pclose(nm);
  return known;
}

uint64_t symbol_address(const char *name, const char *symbol)
{
  uint64_t address = 0, size;
  if (!find_symbol(name, symbol, &address, &size))
    fail_msg("%s has no symbol %s", name, symbol);
  return address;
}

struct symbols *open_fine(const char *name)
{
  struct symbols_request request = {.path = path_of(name), .debug_root = directory};
  struct symbols *symbols = NULL;
  char message[512];
  int error = symbols_open(&request, &symbols, message, sizeof message);
  if (error)
    fail_msg("%s: %d, %s", name, error, message);
  assert_string_equal(message, "");
  assert_non_null(symbols);
  return symbols;
}

/* The first address of a function at which count locations are found; fails without. */
void find_chain(const struct symbols *symbols, const char *name, const char *symbol, int count,
                struct symbols_location *locations)
{
  uint64_t address, size;
  assert_true(find_symbol(name, symbol, &address, &size));
  for (uint64_t i = 0; i < size; i++)
    if (symbols_lookup(symbols, address + i, locations, LOCATIONS) == count)
      return;
  fail_msg("no address of %s in %s has %d locations", symbol, name, count);
}

int make_directory(void **state)
{
  (void)state;
  strcpy(directory, "/tmp/test-symbols-XXXXXX");
  if (!mkdtemp(directory) || !run("mkdir sub"))
    return -1;
  write_file("chain.c", chain_source, sizeof chain_source - 1);
  write_file("shape.cc", shape_source, sizeof shape_source - 1);
  write_file("openmp.c", openmp_source, sizeof openmp_source - 1);
  write_file("heat.f90", fortran_source, sizeof fortran_source - 1);
  write_file("cold.c", cold_source, sizeof cold_source - 1);
  write_file("nested.f90", nested_source, sizeof nested_source - 1);
  write_file("exported", "{ global: main; local: *; };\n", 29);
  write_file("tail.c", tail_source, sizeof tail_source - 1);
  write_file("included.c", included_source, sizeof included_source - 1);
  write_file("first.h", first_source, sizeof first_source - 1);
  return 0;
}

int remove_directory(void **state)
{
  char command[128];
  (void)state;
  snprintf(command, sizeof command, "rm -rf '%s'", directory);
  return system(command);
}
