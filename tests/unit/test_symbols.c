/* Symbols: functions, lines and inlined chains of programs compiled here, names, separate debug files, changed files,
 * and files that are not programs. */
#include "common/symbols/callees.h"
#include "common/symbols/symbols_names.h"
#include "common/symbols/symbols_ranges.h"
#include "tests/support/symbols_sources.h"

#include <elf.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void expect_location(const struct symbols_location *location, const char *function, uint32_t line,
                            uint32_t decl_line, bool inlined)
{
  assert_string_equal(location->function, function);
  assert_int_equal(location->line, line);
  assert_int_equal(location->decl_line, decl_line);
  assert_int_equal(location->inlined, inlined);
  assert_string_equal(location->file, path_of("chain.c"));
  assert_string_equal(location->decl_file, path_of("chain.c"));
}

static void expect_chain(const char *name)
{
  struct symbols_location locations[LOCATIONS];
  struct symbols *symbols = open_fine(name);
  assert_int_equal(symbols_flags(symbols) & ~(unsigned)SYMBOLS_SEPARATE,
                   SYMBOLS_HAS_TABLE | SYMBOLS_HAS_LINES | SYMBOLS_HAS_INLINES);
  find_chain(symbols, "chain.full", "outer", 3, locations);
  uint64_t low = symbol_address("chain.full", "outer");
  expect_location(&locations[0], "outer", 8, 7, false);
  expect_location(&locations[1], "middle", 5, 4, true);
  expect_location(&locations[2], "inner", 3, 2, true);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(locations[i].low, low);
    assert_null(locations[i].raw);
  }
  symbols_free(symbols);
}

/* Compiles chain.c in one way and checks it, unless the compiler is missing or does not support that way. */
static void try_chain(const char *compiler, const char *options)
{
  if (run("%s -O2 %s $PWD/./sub/../chain.c -o chain.full", compiler, options))
    expect_chain("chain.full");
  else if (!strcmp(compiler, "gcc"))
    fail_msg("gcc cannot compile with %s", options);
}

static void inlined_chains_are_found(void **state)
{
  static const char *const options[] = {"-g",
                                        "-gdwarf-4",
                                        "-g -ffunction-sections -Wl,--gc-sections",
                                        "-gdwarf-4 -ffunction-sections",
                                        "-g -gz=zlib",
                                        "-g -static-pie",
                                        "-gdwarf-4 -gsplit-dwarf",
                                        "-gdwarf-5 -gsplit-dwarf",
                                        "-gdwarf-5 -gsplit-dwarf -gz=zlib -ffunction-sections",
                                        "-g -no-pie"};
  static const char *const compilers[] = {"gcc", "clang", "clang-19"};
  (void)state;
  for (size_t c = 0; c < sizeof compilers / sizeof *compilers; c++)
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
      if (!UNIT_SANITIZED || i % 2 == c % 2) /* compiling takes the time: there, each option by one or two of them */
        try_chain(compilers[c], options[i]);
}

static void zstd_sections_are_read(void **state)
{
  (void)state;
  must_run("gcc -O2 -g chain.c -o chain.full");
  if (!run("objcopy --compress-debug-sections=zstd chain.full chain.zstd"))
    skip();
  expect_chain("chain.zstd");
}

static void sections_compressed_by_older_tools_are_read(void **state)
{
  (void)state;
  must_run("gcc -O2 -g chain.c -o chain.full");
  if (!run("objcopy --compress-debug-sections=zlib-gnu chain.full chain.zdebug && "
           "readelf -SW chain.zdebug | grep -q zdebug_info"))
    skip();
  expect_chain("chain.zdebug");
  must_run("objcopy --dump-section .zdebug_info=info chain.zdebug && printf '\\377' >> info && "
           "sed -i 's/^ZLIB/BLIZ/' info && objcopy --update-section .zdebug_info=info chain.zdebug chain.broken");
  struct symbols_request request = {.path = path_of("chain.broken"), .debug_root = directory};
  struct symbols *symbols;
  char message[512];
  assert_int_equal(symbols_open(&request, &symbols, message, sizeof message), SYMBOLS_DAMAGED);
  assert_non_null(strstr(message, "--decompress-debug-sections"));
  symbols_free(symbols);
}

/* Marks a section as one that is compressed as ELF describes it. */
static void mark_compressed(const char *name, const char *section_name)
{
  Elf64_Ehdr file;
  Elf64_Shdr section, names;
  size_t size, at;
  uint8_t *bytes = read_file(name, &size);
  memcpy(&file, bytes, sizeof file);
  memcpy(&names, bytes + file.e_shoff + file.e_shstrndx * sizeof names, sizeof names);
  for (unsigned i = 0; i < file.e_shnum; i++) {
    at = file.e_shoff + i * sizeof section;
    memcpy(&section, bytes + at, sizeof section);
    if (strcmp((char *)bytes + names.sh_offset + section.sh_name, section_name))
      continue;
    section.sh_flags |= SHF_COMPRESSED;
    memcpy(bytes + at, &section, sizeof section);
  }
  write_file(name, bytes, size);
  free(bytes);
}

/* Has a command write the file `part`, embeds it, and expects that it is refused. */
static void expect_embedded_fault(const char *command, bool compressed, const char *fault)
{
  struct symbols_request request = {.path = path_of("chain.embedded"), .debug_root = directory};
  struct symbols *symbols;
  char message[512];
  assert_true(run("%s && objcopy --add-section .gnu_debugdata=part chain.stripped chain.embedded", command));
  if (compressed)
    mark_compressed("chain.embedded", ".gnu_debugdata");
  assert_int_equal(symbols_open(&request, &symbols, message, sizeof message), SYMBOLS_DAMAGED);
  assert_non_null(strstr(message, ".gnu_debugdata"));
  assert_non_null(strstr(message, fault));
  symbols_free(symbols);
}

/* As Fedora makes its packages: a stripped file has the functions that it does not export in a section. */
static void embedded_symbols_name_functions(void **state)
{
  struct symbols_location location;
  (void)state;
  if (!run("command -v xz >found"))
    skip();
  must_run("gcc -O2 -g -rdynamic -Wl,--version-script=exported chain.c -o chain.full && "
           "objcopy --only-keep-debug chain.full mini && strip --strip-debug -N main -N middle -o mini2 mini && "
           "xz -f mini2 && strip -o chain.stripped chain.full && "
           "objcopy --add-section .gnu_debugdata=mini2.xz chain.stripped chain.embedded");
  uint64_t outer = symbol_address("chain.full", "outer"), main = symbol_address("chain.full", "main");
  struct symbols *symbols = open_fine("chain.stripped");
  assert_int_equal(symbols_lookup(symbols, outer, &location, 1), 0);
  symbols_free(symbols);
  symbols = open_fine("chain.embedded");
  assert_int_equal(symbols_flags(symbols), SYMBOLS_HAS_TABLE);
  assert_int_equal(symbols_lookup(symbols, outer, &location, 1), 1);
  assert_string_equal(location.function, "outer");
  assert_int_equal(symbols_lookup(symbols, main, &location, 1), 1); /* exported, and not in the embedded table */
  assert_string_equal(location.function, "main");
  symbols_free(symbols);
  expect_embedded_fault("head -c 200 mini2.xz > part", false, "cannot be decompressed");
}

/* Embedded files that expand to much data do so twice, or by less than the ratio that is damaged. */
static void embedded_symbols_are_limited(void **state)
{
  struct rlimit before;
  (void)state;
  if (!run("command -v xz >found"))
    skip();
  must_run("gcc -O2 chain.c -o mini && strip -o chain.stripped mini && xz -kf mini && "
           "objcopy --add-section .gnu_debugdata=mini.xz chain.stripped chain.embedded");
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, before.rlim_max}), 0);
  symbols_free(open_fine("chain.embedded")); /* no file is written */
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  expect_embedded_fault("(head -c 1M /dev/urandom; head -c 64M /dev/zero) | xz -0 > part", false, "too much data");
  expect_embedded_fault("python3 -c \"import struct, zlib; data = open('mini.xz', 'rb').read(); open('part', 'wb')"
                        ".write(struct.pack('<IIQQ', 1, 0, len(data), 1) + zlib.compress(data))\"",
                        true, "cannot be decompressed");
}

static void a_short_buffer_ends_at_the_call(void **state)
{
  struct symbols_location locations[LOCATIONS];
  (void)state;
  must_run("gcc -O2 -g chain.c -o chain.full");
  struct symbols *symbols = open_fine("chain.full");
  uint64_t address = symbol_address("chain.full", "outer"), size, at = 0;
  assert_true(find_symbol("chain.full", "outer", &address, &size));
  for (uint64_t i = 0; i < size && !at; i++)
    at = symbols_lookup(symbols, address + i, locations, LOCATIONS) == 3 ? address + i : 0;
  assert_int_equal(symbols_lookup(symbols, at, locations, 2), 2);
  expect_location(&locations[1], "middle", 5, 4, true);
  assert_int_equal(symbols_lookup(symbols, at, locations, 1), 1);
  expect_location(&locations[0], "outer", 8, 7, false);
  assert_int_equal(symbols_lookup(symbols, at, locations, 0), 0);
  symbols_free(symbols);
}

static void addresses_without_code_are_unknown(void **state)
{
  struct symbols_location location;
  (void)state;
  must_run("gcc -O2 -g chain.c -o chain.full");
  struct symbols *symbols = open_fine("chain.full");
  assert_int_equal(symbols_lookup(symbols, 0, &location, 1), 0);
  assert_int_equal(symbols_lookup(symbols, 16, &location, 1), 0);
  assert_int_equal(symbols_lookup(symbols, UINT64_MAX, &location, 1), 0);
  assert_int_equal(symbols_lookup(symbols, 1ULL << 40, &location, 1), 0);
  symbols_free(symbols);
}

static void without_debug_information_the_symbol_table_answers(void **state)
{
  struct symbols_location location;
  bool stub = false;
  (void)state;
  must_run("gcc -O2 chain.c -o chain.plain && gcc -O2 -g chain.c -o chain.full");
  uint64_t low = symbol_address("chain.plain", "outer");
  struct symbols *symbols = open_fine("chain.plain");
  assert_int_equal(symbols_flags(symbols), SYMBOLS_HAS_TABLE);
  assert_int_equal(symbols_lookup(symbols, low + 2, &location, 1), 1);
  assert_string_equal(location.function, "outer");
  assert_int_equal(location.low, low);
  assert_null(location.file);
  assert_int_equal(location.line, 0);
  for (uint64_t at = 0x400; at < 0x1200; at++)
    stub = stub || (symbols_lookup(symbols, at, &location, 1) == 1 && !strcmp(location.function, "puts@plt"));
  assert_true(stub);
  symbols_free(symbols);
}

/* Whether some address of a file has this name. */
static bool is_named(const char *name, const char *function)
{
  struct symbols_location location;
  struct symbols *symbols = open_fine(name);
  bool found = false;
  for (uint64_t at = 0x400; at < 0x4000 && !found; at += 2)
    found = symbols_lookup(symbols, at, &location, 1) == 1 && !strcmp(location.function, function);
  symbols_free(symbols);
  return found;
}

/* Each linker arranges stubs in its own way, with section and symbol names of its own. */
static void stubs_of_any_linker_are_named(void **state)
{
  static const char *const linkers[] = {"bfd", "gold", "lld", "mold"};
  static const char *const options[] = {"", "-Wl,-z,now", "-fcf-protection=full -Wl,-z,ibtplt",
                                        "-fcf-protection=full -Wl,-z,force-ibt", "-s"};
  (void)state;
  for (size_t l = 0; l < sizeof linkers / sizeof *linkers; l++)
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
      if (!run("gcc -O2 chain.c -fuse-ld=%s %s -o chain.stubs", linkers[l], options[i])) {
        assert_true(l > 0 || i > (makes_x86_64() ? 2 : 1));
        continue;
      }
      assert_true(is_named("chain.stubs", "puts@plt"));
      assert_false(is_named("chain.stubs", "puts$plt"));
    }
  must_run("gcc -O2 chain.c -Wl,-z,now -o chain.full && "
           "objcopy --rename-section .plt=.a --rename-section .plt.got=.b --rename-section .rela.plt=.c chain.full "
           "chain.stubs");
  assert_true(is_named("chain.stubs", "puts@plt"));
}

/* The jump to puts() looks like a stub, but belongs to its function. */
static void a_tail_call_is_no_stub(void **state)
{
  (void)state;
  must_run("gcc -O2 -fno-plt tail.c -o tail");
  assert_true(is_named("tail", "show"));
  assert_false(is_named("tail", "puts@plt"));
}

/* Ranges of split parts are in other tables than those of whole units. */
static void ranges_of_split_dwarf_are_read(void **state)
{
  static const char *const compilers[] = {"gcc", "clang", "clang-19"};
  struct symbols_location locations[LOCATIONS];
  (void)state;
  for (size_t c = 0; c < sizeof compilers / sizeof *compilers; c++)
    for (int version = 4; version <= 5; version++) {
      if (!run("rm -f *.dwo && %s -O2 -gdwarf-%d -gsplit-dwarf cold.c -o cold", compilers[c], version))
        continue;
      struct symbols *symbols = open_fine("cold");
      uint64_t low = symbol_address("cold", "part"), cold, size;
      if (find_symbol("cold", "part.cold", &cold, &size)) {
        assert_int_equal(symbols_lookup(symbols, cold, locations, LOCATIONS), 1);
        assert_int_equal(locations[0].low, low);
      }
      assert_true(symbols_lookup(symbols, low, locations, LOCATIONS) >= 1);
      assert_string_equal(locations[0].function, "part");
      assert_int_equal(locations[0].decl_line, 3);
      symbols_free(symbols);
    }
}

/* Opens chain.full, some of whose split parts are missing: lines and names remain. */
static void expect_missing_parts(const char *file)
{
  struct symbols_request request = {.path = path_of("chain.full"), .debug_root = directory};
  struct symbols_location locations[LOCATIONS];
  struct symbols *symbols;
  char message[512];
  assert_int_equal(symbols_open(&request, &symbols, message, sizeof message), SYMBOLS_UNREAD);
  if (!strstr(message, "1 of the .dwo files") || !strstr(message, file) || strchr(message, '\n'))
    fail_msg("message '%s' lacks '%s'", message, file);
  assert_int_equal(symbols_flags(symbols), SYMBOLS_HAS_TABLE | SYMBOLS_HAS_LINES);
  assert_int_equal(symbols_lookup(symbols, symbol_address("chain.full", "outer"), locations, LOCATIONS), 1);
  assert_string_equal(locations[0].function, "outer");
  assert_string_equal(locations[0].file, path_of("chain.c"));
  assert_in_range(locations[0].line, 2, 8); /* of any inlined function */
  symbols_free(symbols);
}

static void parts_of_split_dwarf_are_found_or_reported(void **state)
{
  (void)state;
  for (int version = 4; version <= 5; version++) {
    assert_true(run("rm -rf *.dwo *.dwp moved && mkdir moved && cd moved && "
                    "gcc -O2 -gdwarf-%d -gsplit-dwarf -c ../chain.c -o part.o && gcc part.o -o ../chain.full",
                    version));
    expect_chain("chain.full");
    must_run("mv moved/part.dwo . && rm -r moved"); /* beside the program */
    expect_chain("chain.full");
    must_run("objcopy --only-keep-debug chain.full chain.debug && cp chain.full chain.whole && "
             "objcopy --strip-debug --add-gnu-debuglink=chain.debug chain.full && mv chain.full chain.stripped && "
             "mv chain.whole chain.full");
    expect_chain("chain.stripped");
    must_run("cp part.dwo kept.dwo && gcc -O2 -g -gsplit-dwarf -c shape.cc -o part.o");
    expect_missing_parts("moved/part.dwo"); /* of another unit */
    must_run("rm part.dwo");
    expect_missing_parts("moved/part.dwo");
    if (run("timeout 10 %s kept.dwo -o chain.full.dwp", version == 4 ? "dwp" : "llvm-dwp"))
      expect_chain("chain.full");
    must_run("rm -f chain.full.dwp kept.dwo chain.stripped chain.debug");
  }
}

/* Each unit is another part of the package's sections, which are read once. */
static void packages_may_have_many_units(void **state)
{
  enum { UNITS = 12 };
  struct symbols_location locations[LOCATIONS];
  (void)state;
  must_run("rm -f *.dwo && for i in $(seq 12); do printf 'volatile int s%d;\\nstatic inline "
           "__attribute__((always_inline)) void in%d(int x)\\n{ s%d += x; }\\nvoid out%d(int x)\\n{ in%d(x); }\\n' "
           "$i $i $i $i $i > unit$i.c && gcc -O2 -gdwarf-4 -gsplit-dwarf -c unit$i.c || exit 1; done; "
           "echo 'int main(void) { return 0; }' > unit.c && gcc unit.c unit*.o -o units");
  if (!run("timeout 10 dwp -e units -o units.dwp"))
    skip();
  must_run("rm *.dwo");
  struct symbols *symbols = open_fine("units");
  for (int i = 1; i <= UNITS; i++) {
    char outer[16], inner[16];
    snprintf(outer, sizeof outer, "out%d", i);
    snprintf(inner, sizeof inner, "in%d", i);
    find_chain(symbols, "units", outer, 2, locations);
    assert_string_equal(locations[1].function, inner);
    assert_int_equal(locations[1].line, 3);
  }
  symbols_free(symbols);
  must_run("rm unit*");
}

static void overloads_have_different_names(void **state)
{
  static const struct {
    const char *raw, *readable;
    uint32_t line;
  } expected[] = {{"_ZNK3geo5Shape4areaEi", "geo::Shape::area(int) const", 4},
                  {"_ZNK3geo5Shape4areaEd", "geo::Shape::area(double) const", 5},
                  {"_ZN3geo5twiceIdEET_S1_", "double geo::twice<double>(double)", 6}};
  static const char *const options[] = {"-g", "-gdwarf-4", ""};
  struct symbols_location location;
  (void)state;
  for (size_t o = 0; o < 3; o++) {
    assert_true(run("g++ -O2 %s shape.cc -o shape", options[o]));
    struct symbols *symbols = open_fine("shape");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
      uint64_t low = symbol_address("shape", expected[i].raw);
      assert_int_equal(symbols_lookup(symbols, low, &location, 1), 1);
      assert_string_equal(location.function, expected[i].readable);
      assert_string_equal(location.raw, expected[i].raw);
      assert_int_equal(location.line, *options[o] ? expected[i].line : 0);
      assert_int_equal(location.low, low);
    }
    symbols_free(symbols);
  }
}

static void outlined_functions_carry_their_construct(void **state)
{
  struct symbols_location location;
  char base[64];
  (void)state;
  must_run("gcc -O2 -g -fopenmp openmp.c -o openmp");
  struct symbols *symbols = open_fine("openmp");
  uint64_t low = symbol_address("openmp", "solve._omp_fn.0");
  assert_int_equal(symbols_lookup(symbols, low, &location, 1), 1);
  assert_string_equal(location.function, "solve._omp_fn.0");
  assert_int_equal(location.decl_line, 4);
  assert_string_equal(location.decl_file, path_of("openmp.c"));
  assert_int_equal(symbols_outlined(location.raw ? location.raw : location.function, base, sizeof base),
                   SYMBOLS_OUTLINED);
  assert_string_equal(base, "solve");
  symbols_free(symbols);
}

static void fortran_names_are_those_of_the_source(void **state)
{
  struct symbols_location location;
  (void)state;
  if (!run("gfortran -O1 -g heat.f90 -o heat"))
    skip();
  struct symbols *symbols = open_fine("heat");
  assert_int_equal(symbols_lookup(symbols, symbol_address("heat", "__heat_MOD_step"), &location, 1), 1);
  assert_string_equal(location.function, "heat::step");
  assert_string_equal(location.raw, "__heat_MOD_step");
  assert_int_equal(location.decl_line, 3);
  assert_int_equal(symbols_lookup(symbols, symbol_address("heat", "MAIN__"), &location, 1), 1);
  assert_string_equal(location.function, "sim");
  assert_string_equal(location.raw, "MAIN__");
  symbols_free(symbols);
}

static void cold_parts_belong_to_their_function(void **state)
{
  static const char *const options[] = {"-g", ""};
  struct symbols_location location;
  (void)state;
  need_x86_64();
  for (size_t o = 0; o < 2; o++) {
    assert_true(run("gcc -O2 %s cold.c -o cold", options[o]));
    struct symbols *symbols = open_fine("cold");
    uint64_t cold = symbol_address("cold", "part.cold");
    assert_int_equal(symbols_lookup(symbols, cold, &location, 1), 1);
    assert_string_equal(location.function, "part");
    assert_string_equal(location.raw, "part.cold");
    assert_int_equal(location.low, symbol_address("cold", "part"));
    symbols_free(symbols);
  }
}

static void a_line_table_may_begin_with_its_first_file(void **state)
{
  static const char *const compilers[] = {"gcc", "clang-14", "clang-19"};
  struct symbols_location location;
  (void)state;
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
    if (!run("%s -O1 -g included.c -o included", compilers[i]))
      continue;
    struct symbols *symbols = open_fine("included");
    assert_int_equal(symbols_lookup(symbols, symbol_address("included", "first"), &location, 1), 1);
    assert_string_equal(location.file, path_of("first.h"));
    assert_in_range(location.line, 2, 3);
    assert_int_equal(symbols_lookup(symbols, symbol_address("included", "main"), &location, 1), 1);
    assert_string_equal(location.file, path_of("included.c"));
    symbols_free(symbols);
  }
}

/* Opens a file for a few addresses only. */
static struct symbols *open_for(const char *name, const uint32_t *offsets, uint32_t count)
{
  struct symbols_request request = {
      .path = path_of(name), .debug_root = directory, .offsets = offsets, .offset_count = count};
  struct symbols *symbols = NULL;
  char message[512];
  assert_int_equal(symbols_open(&request, &symbols, message, sizeof message), SYMBOLS_OK);
  return symbols;
}

static void wanted_addresses_are_read_in_full(void **state)
{
  struct symbols_location all[LOCATIONS], wanted[LOCATIONS];
  uint64_t address, size;
  (void)state;
  must_run("gcc -O2 -g chain.c -o chain.full");
  struct symbols *whole = open_fine("chain.full");
  assert_true(find_symbol("chain.full", "outer", &address, &size));
  for (uint32_t i = 0; i < size; i++) {
    uint32_t offset = (uint32_t)address + i;
    struct symbols *part = open_for("chain.full", &offset, 1);
    int count = symbols_lookup(whole, offset, all, LOCATIONS);
    assert_int_equal(symbols_flags(part), symbols_flags(whole));
    assert_int_equal(symbols_lookup(part, offset, wanted, LOCATIONS), count);
    for (int j = 0; j < count; j++) {
      assert_string_equal(wanted[j].function, all[j].function);
      assert_int_equal(wanted[j].line, all[j].line);
      assert_int_equal(wanted[j].low, all[j].low);
    }
    symbols_free(part);
  }
  symbols_free(whole);
}

static void nested_procedures_are_found(void **state)
{
  struct symbols_location location;
  (void)state;
  if (!run("gfortran -O0 -g nested.f90 -o nested"))
    skip();
  uint64_t low = symbol_address("nested", "nested.0");
  uint32_t offset = (uint32_t)low + 4;
  struct symbols *symbols = open_for("nested", &offset, 1);
  assert_int_equal(symbols_lookup(symbols, offset, &location, 1), 1);
  assert_string_equal(location.file, path_of("nested.f90"));
  assert_int_equal(location.low, low);
  assert_int_equal(location.decl_line, 8);
  symbols_free(symbols);
}

static void names_are_made_readable(void **state)
{
  static const char *const names[][2] = {
      {"main", "main"},
      {"solve.constprop.0", "solve"},
      {"solve.isra.0.part.1.cold", "solve"},
      {"solve.llvm.4711", "solve"},
      {"solve.avx2", "solve.avx2"},
      {"_ZN3foo3barEv.cold", "foo::bar()"},
      {"_ZN3foo3barEv._omp_fn.0.isra.0", "foo::bar()._omp_fn.0"},
      {"_Z1fv.omp_outlined_debug__", "f().omp_outlined_debug__"},
      {".omp_outlined..5", ".omp_outlined..5"},
      {"__heat_MOD_step._omp_fn.3", "heat::step._omp_fn.3"},
      {"memcpy@@GLIBC_2.14", "memcpy"},
      {"puts@plt", "puts@plt"},
      {"_Znonsense", "_Znonsense"},
      {"_RNvCs6GmmlP4bgsG_1r4main", "r::main"},
      {"_RINvNtCs6GmmlP4bgsG_1r6shapes7generichKj3_EB4_", "r::shapes::generic::<u8, 3>"},
      {"_RNvXNtCs6GmmlP4bgsG_1r6shapesINtB2_4DiscdENtB2_4Area4area", "<r::shapes::Disc<f64> as r::shapes::Area>::area"},
      {"_RNCINvNtCsjrHSEGnQ3l9_3std2rt10lang_startuE0Cs6GmmlP4bgsG_1r.llvm.9",
       "std::rt::lang_start::<()>::{closure#0}"},
      {"_RNvCs6GmmlP4bgsG_1ru8nave_6pa", "r::na\xc3\xafve"},
      {"_Rnonsense", "_Rnonsense"},
      {"_ZN1r6shapes7generic17h930b740aa94f1d3aE", "r::shapes::generic"},
      {"_ZN43_$LT$r..Disc$u20$as$u20$r..shapes..Area$GT$4area17h0f1e2d3c4b5a6978E",
       "<r::Disc as r::shapes::Area>::area"},
      {"_ZN1r4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.12", "r::main::{{closure}}"},
      {"_ZN1r6shapes7generic17h0000000000000000E", "r::shapes::generic::h0000000000000000"}, /* no hash */
      {".cold", ".cold"}};
  char out[256];
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_int_equal(symbols_readable(names[i][0], out, sizeof out), strlen(names[i][1]));
    assert_string_equal(out, names[i][1]);
  }
  assert_int_equal(symbols_readable("", out, sizeof out), 0);
  assert_int_equal(symbols_readable("a_name_that_does_not_fit", out, 8), 0);
}

static void plain_names_have_no_scopes(void **state)
{
  static const char *const names[][2] = {{"void ns::f<int>(long)", "f<int>"},
                                         {"ns::g(int) const", "g"},
                                         {"r::shapes::generic::<u8, 3>", "generic::<u8, 3>"},
                                         {"<r::Disc<f64> as r::shapes::Area>::area", "area"}};
  char out[256];
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_int_equal(symbols_plain(names[i][0], out, sizeof out), strlen(names[i][1]));
    assert_string_equal(out, names[i][1]);
  }
}

/* Each argument is twice the previous one: 2^30 bytes if it were written out. */
static void names_that_would_be_huge_are_kept_mangled(void **state)
{
  char bomb[512] = "_Z1f1PIiiES_IS0_S0_E", out[SYMBOLS_NAME_MAX], part[32];
  (void)state;
  for (int i = 1; i < 30; i++) {
    char digit = (char)(i < 10 ? '0' + i : 'A' + i - 10);
    snprintf(part, sizeof part, "S_IS%c_S%c_E", digit, digit);
    strcat(bomb, part);
  }
  assert_int_equal(symbols_readable(bomb, out, sizeof out), strlen(bomb));
  assert_string_equal(out, bomb);
  strcpy(bomb, "_RIC1aTTTuuEB5_EB4_EE"); /* of Rust: each pair consists of the one inside it, twice */
  assert_int_equal(symbols_readable(bomb, out, sizeof out),
                   strlen("a::<((((), ()), ((), ())), (((), ()), ((), ())))>"));
  strcpy(bomb, "_RIC1aTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTuuEBC_EBB_EBA_EBz_EBy_EBx_EBw_EBv_EBu_EBt_EBs_EBr_EBq_EBp_"
               "EBo_EBn_EBm_EBl_EBk_EBj_EBi_EBh_EBg_EBf_EBe_EBd_EBc_EBb_EBa_EB9_EB8_EB7_EB6_EB5_EB4_EE");
  assert_int_equal(symbols_readable(bomb, out, sizeof out), strlen(bomb));
  assert_string_equal(out, bomb);
}

static void outlined_names_are_distinguished(void **state)
{
  static const struct {
    const char *raw, *base;
    enum symbols_outline what;
  } names[] = {{"_ZN3foo3barEv._omp_fn.0", "foo::bar()", SYMBOLS_OUTLINED},
               {"MAIN__._omp_fn.0", "MAIN__", SYMBOLS_OUTLINED},
               {"__heat_MOD_step._omp_fn.1.constprop.0", "heat::step", SYMBOLS_OUTLINED},
               {"solve.isra.0._omp_fn.2", "solve", SYMBOLS_OUTLINED},
               {".omp_outlined.", "", SYMBOLS_OUTLINED},
               {".omp_outlined..5", "", SYMBOLS_OUTLINED},
               {".omp_outlined._debug__", "", SYMBOLS_OUTLINED},
               {".omp_outlined_debug__", "", SYMBOLS_OUTLINED},
               {"_Z1fv.omp_outlined", "f()", SYMBOLS_OUTLINED},
               {"main.omp_outlined_debug__.3", "main", SYMBOLS_OUTLINED},
               {".omp_task_entry.", "", SYMBOLS_TASK_ENTRY},
               {".omp_task_entry..7", "", SYMBOLS_TASK_ENTRY},
               {"solve._omp_cpyfn.4", "solve", SYMBOLS_TASK_HELPER},
               {"solve.constprop.0", "", SYMBOLS_ORDINARY},
               {"my_omp_fn", "", SYMBOLS_ORDINARY}};
  char base[64];
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_int_equal(symbols_outlined(names[i].raw, base, sizeof base), names[i].what);
    assert_string_equal(base, names[i].base);
  }
  assert_int_equal(symbols_outlined(NULL, base, sizeof base), SYMBOLS_ORDINARY);
  assert_int_equal(symbols_outlined(".omp_outlined.", NULL, 0), SYMBOLS_OUTLINED);
}

static void paths_are_joined_and_normalised(void **state)
{
  static const char *const paths[][4] = {
      {"/a", "b", "c.c", "/a/b/c.c"}, {"/a/./b", "../c", "d.c", "/a/c/d.c"}, {"/a", "/b", "c.c", "/b/c.c"},
      {"/a", "b", "/c.c", "/c.c"},    {"", "src", "../c.c", "c.c"},          {NULL, NULL, "../../c.c", "../../c.c"},
      {"/", "..", "../c.c", "/c.c"},  {"/a//b/", "", "c.c", "/a/b/c.c"},     {NULL, "../x", "../c.c", "../c.c"}};
  struct symbols_pool pool = {0};
  (void)state;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    assert_string_equal(symbols_join(&pool, paths[i][0], paths[i][1], paths[i][2]), paths[i][3]);
  assert_null(symbols_join(&pool, NULL, NULL, ""));
  symbols_pool_release(&pool);
}

static void the_innermost_range_wins(void **state)
{
  static const struct symbols_range ranges[] = {{10, 100, 1, 0}, {20, 30, 2, 1}, {25, 30, 3, 2},  {90, 120, 4, 1},
                                                {10, 100, 9, 0}, {10, 12, 5, 1}, {200, 200, 6, 0}};
  static const uint32_t expected[][2] = {{9, SYMBOLS_NONE},
                                         {10, 5},
                                         {12, 1},
                                         {20, 2},
                                         {25, 3},
                                         {29, 3},
                                         {30, 1},
                                         {95, 4},
                                         {100, SYMBOLS_NONE},
                                         {119, SYMBOLS_NONE},
                                         {200, SYMBOLS_NONE}};
  struct symbols_ranges r = {0};
  (void)state;
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    symbols_ranges_add(&r, ranges[i]);
  symbols_ranges_build(&r);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_int_equal(symbols_ranges_find(&r, expected[i][0]), expected[i][1]);
  symbols_ranges_release(&r);
}

#define ID_OPTION "-Wl,--build-id=0x0102030405060708090a0b0c0d0e0f1011121314"

static const uint8_t build_id[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

static void a_rebuilt_program_is_not_used(void **state)
{
  uint8_t other[20];
  char message[512];
  struct symbols *symbols;
  struct symbols_location location;
  (void)state;
  must_run("gcc -O2 -g " ID_OPTION " chain.c -o chain.id");
  uint64_t low = symbol_address("chain.id", "outer");
  struct symbols_request request = {
      .path = path_of("chain.id"), .build_id = build_id, .build_id_size = sizeof build_id, .debug_root = directory};
  assert_int_equal(symbols_open(&request, &symbols, message, sizeof message), SYMBOLS_OK);
  assert_int_equal(symbols_lookup(symbols, low, &location, 1), 1);
  symbols_free(symbols);
  memcpy(other, build_id, sizeof other);
  other[19] ^= 1;
  request.build_id = other;
  assert_int_equal(symbols_open(&request, &symbols, message, sizeof message), SYMBOLS_MISMATCH);
  assert_non_null(strstr(message, "chain.id"));
  assert_non_null(strstr(message, "0102030405"));
  assert_null(strchr(message, '\n'));
  assert_int_equal(symbols_lookup(symbols, low, &location, 1), 0);
  assert_int_equal(symbols_flags(symbols), 0);
  symbols_free(symbols);
}

static void separate_debug_files_are_found(void **state)
{
  char message[512];
  struct symbols *symbols;
  struct symbols_location locations[LOCATIONS];
  (void)state;
  must_run("gcc -O2 -g " ID_OPTION " chain.c -o chain.full && mkdir -p .build-id/01 .debug && "
           "objcopy --only-keep-debug chain.full .build-id/01/02030405060708090a0b0c0d0e0f1011121314.debug && "
           "strip -o chain.stripped chain.full");
  expect_chain("chain.stripped");
  struct symbols_request gone = {
      .path = path_of("chain.gone"), .build_id = build_id, .build_id_size = sizeof build_id, .debug_root = directory};
  assert_int_equal(symbols_open(&gone, &symbols, message, sizeof message), SYMBOLS_UNREADABLE);
  find_chain(symbols, "chain.full", "outer", 3, locations);
  assert_string_equal(locations[2].function, "inner");
  assert_int_equal(symbols_flags(symbols) & SYMBOLS_SEPARATE, SYMBOLS_SEPARATE);
  symbols_free(symbols);
  must_run("rm -r .build-id && gcc -O2 -g -Wl,--build-id=none chain.c -o chain.full && "
           "objcopy --only-keep-debug chain.full .debug/chain.debug && strip -o chain.stripped chain.full && "
           "objcopy --add-gnu-debuglink=.debug/chain.debug chain.stripped");
  expect_chain("chain.stripped");
}

/* The directory of --symbols has the measured file, which lacks what the debug file elsewhere has. */
static void the_measured_file_does_not_hide_its_debug_file(void **state)
{
  static const char *const strips[] = {"strip", "strip -g"};
  const char *const found[] = {path_of("found")};
  const struct symbols_search search = {.directories = found, .directories_count = 1};
  struct symbols_request request = {.path = path_of("chain.stripped"), .search = &search, .debug_root = directory};
  (void)state;
  for (size_t i = 0; i < sizeof strips / sizeof *strips; i++) {
    struct symbols *symbols;
    struct symbols_location locations[LOCATIONS];
    char message[512];
    assert_true(run("rm -rf found .build-id && mkdir -p found .build-id/01 && gcc -O2 -g " ID_OPTION
                    " chain.c -o chain.full && "
                    "objcopy --only-keep-debug chain.full .build-id/01/02030405060708090a0b0c0d0e0f1011121314.debug && "
                    "%s -o chain.stripped chain.full && cp chain.stripped found",
                    strips[i]));
    assert_int_equal(symbols_open(&request, &symbols, message, sizeof message), SYMBOLS_OK);
    find_chain(symbols, "chain.full", "outer", 3, locations);
    assert_string_equal(locations[2].function, "inner");
    symbols_free(symbols);
  }
  must_run("rm -r found .build-id");
}

static void a_linked_debug_file_must_have_the_right_checksum(void **state)
{
  struct symbols_location location;
  (void)state;
  must_run("gcc -O2 -g -Wl,--build-id=none chain.c -o chain.full && rm -rf .debug .build-id && "
           "objcopy --only-keep-debug chain.full chain.debug && strip -o chain.stripped chain.full && "
           "objcopy --add-gnu-debuglink=chain.debug chain.stripped");
  expect_chain("chain.stripped");
  must_run("printf x >> chain.debug");
  struct symbols *symbols = open_fine("chain.stripped");
  assert_int_equal(symbols_flags(symbols) & (SYMBOLS_SEPARATE | SYMBOLS_HAS_TABLE), 0);
  assert_int_equal(symbols_lookup(symbols, symbol_address("chain.full", "outer"), &location, 1), 0);
  symbols_free(symbols);
}

/* Labels stand behind instructions: rN behind calls, xN behind others. */
static const char call_forms[] = ".macro label name\n.type \\name, @function\n.size \\name, 1\n\\name:\n.endm\n"
                                 ".text\n.globl _start\n_start: .fill 16, 1, 0x90\n"
                                 "call _start\nlabel r0\n"
                                 "call *%rax\nlabel r1\n"
                                 "call *%r12\nlabel r2\n"
                                 "call *(%rax)\nlabel r3\n"
                                 "call *(%rsp)\nlabel r4\n"
                                 "call *8(%rax)\nlabel r5\n"
                                 "call *8(%rsp)\nlabel r6\n"
                                 "call *512(%rbx)\nlabel r7\n"
                                 "call *512(%rsp,%rcx,8)\nlabel r8\n"
                                 "call *512(,%rcx,8)\nlabel r9\n"
                                 "call *512(%rip)\nlabel r10\n"
                                 "call *(%rax,%rcx,4)\nlabel r11\n"
                                 "call *(%r13)\nlabel r12\n"
                                 "notrack call *%rdx\nlabel r13\n"
                                 "nop\nlabel x0\n"
                                 "mov %rax, %rbx\nlabel x1\n"
                                 "jmp *%rax\nlabel x2\n"
                                 "push 8(%rax)\nlabel x3\n"
                                 "mov $5, %eax\nlabel x4\n"
                                 "jmp _start\nlabel x5\n"
                                 "ret\nlabel x6\n"
                                 "nop\n";

static void calls_are_known_by_their_last_bytes(void **state)
{
  char name[16];
  (void)state;
  need_x86_64();
  write_file("calls.s", call_forms, sizeof call_forms - 1);
  must_run("gcc -nostdlib -no-pie calls.s -o calls");
  struct callees *callees = callees_open(path_of("calls"));
  assert_non_null(callees);
  for (int i = 0; i <= 13; i++) {
    snprintf(name, sizeof name, "r%d", i);
    if (!callees_ends_call(callees, symbol_address("calls", name)))
      fail_msg("no call before %s", name);
  }
  for (int i = 0; i <= 6; i++) {
    snprintf(name, sizeof name, "x%d", i);
    if (callees_ends_call(callees, symbol_address("calls", name)))
      fail_msg("a call before %s", name);
  }
  callees_free(callees);
}

static void expect_refused(const char *path, const char *part)
{
  struct symbols_request request = {.path = path, .debug_root = directory};
  struct symbols *symbols;
  struct symbols_location location;
  char message[512];
  assert_int_equal(symbols_open(&request, &symbols, message, sizeof message), SYMBOLS_UNREADABLE);
  if (!strstr(message, part))
    fail_msg("message '%s' lacks '%s'", message, part);
  assert_int_equal(symbols_lookup(symbols, 4096, &location, 1), 0);
  symbols_free(symbols);
}

static void other_files_are_refused(void **state)
{
  size_t size;
  (void)state;
  expect_refused(path_of("missing"), "No such file");
  expect_refused(directory, "not a regular file");
  expect_refused(NULL, "no file");
  write_file("text", "hello\n", 6);
  expect_refused(path_of("text"), "not an ELF file");
  write_file("empty", "", 0);
  expect_refused(path_of("empty"), "not an ELF file");
  assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
  expect_refused(path_of("fifo"), "not a regular file");
  must_run("gcc -O2 chain.c -o chain.plain");
  uint8_t *bytes = read_file("chain.plain", &size);
  bytes[4] = 1;
  write_file("narrow", bytes, size);
  free(bytes);
  expect_refused(path_of("narrow"), "32-bit");
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inlined_chains_are_found),
      cmocka_unit_test(zstd_sections_are_read),
      cmocka_unit_test(sections_compressed_by_older_tools_are_read),
      cmocka_unit_test(embedded_symbols_name_functions),
      cmocka_unit_test(embedded_symbols_are_limited),
      cmocka_unit_test(a_short_buffer_ends_at_the_call),
      cmocka_unit_test(addresses_without_code_are_unknown),
      cmocka_unit_test(without_debug_information_the_symbol_table_answers),
      cmocka_unit_test(stubs_of_any_linker_are_named),
      cmocka_unit_test(a_tail_call_is_no_stub),
      cmocka_unit_test(ranges_of_split_dwarf_are_read),
      cmocka_unit_test(parts_of_split_dwarf_are_found_or_reported),
      cmocka_unit_test(packages_may_have_many_units),
      cmocka_unit_test(overloads_have_different_names),
      cmocka_unit_test(outlined_functions_carry_their_construct),
      cmocka_unit_test(fortran_names_are_those_of_the_source),
      cmocka_unit_test(cold_parts_belong_to_their_function),
      cmocka_unit_test(a_line_table_may_begin_with_its_first_file),
      cmocka_unit_test(wanted_addresses_are_read_in_full),
      cmocka_unit_test(nested_procedures_are_found),
      cmocka_unit_test(names_are_made_readable),
      cmocka_unit_test(plain_names_have_no_scopes),
      cmocka_unit_test(names_that_would_be_huge_are_kept_mangled),
      cmocka_unit_test(outlined_names_are_distinguished),
      cmocka_unit_test(paths_are_joined_and_normalised),
      cmocka_unit_test(the_innermost_range_wins),
      cmocka_unit_test(a_rebuilt_program_is_not_used),
      cmocka_unit_test(separate_debug_files_are_found),
      cmocka_unit_test(the_measured_file_does_not_hide_its_debug_file),
      cmocka_unit_test(a_linked_debug_file_must_have_the_right_checksum),
      cmocka_unit_test(calls_are_known_by_their_last_bytes),
      cmocka_unit_test(other_files_are_refused),
  };
  return UNIT_RUN(argc, argv, "symbols", tests, make_directory, remove_directory);
}
