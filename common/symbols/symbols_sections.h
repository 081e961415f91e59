/* The sections of debug data that are read.
 *
 * Context: BATCH.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_SECTIONS_H
#define COMMON_SYMBOLS_SYMBOLS_SECTIONS_H

enum symbols_section {
  SYMBOLS_INFO,
  SYMBOLS_ABBREV,
  SYMBOLS_STR,
  SYMBOLS_LINE,
  SYMBOLS_LINE_STR,
  SYMBOLS_RANGE_LISTS, /* .debug_ranges, before DWARF 5 */
  SYMBOLS_RNGLISTS,    /* .debug_rnglists, DWARF 5      */
  SYMBOLS_ADDR,
  SYMBOLS_STR_OFFSETS,
  SYMBOLS_SECTIONS
};

static inline const char *symbols_section_name(enum symbols_section section)
{
  static const char *const names[SYMBOLS_SECTIONS] = {[SYMBOLS_INFO] = ".debug_info",
                                                      [SYMBOLS_ABBREV] = ".debug_abbrev",
                                                      [SYMBOLS_STR] = ".debug_str",
                                                      [SYMBOLS_LINE] = ".debug_line",
                                                      [SYMBOLS_LINE_STR] = ".debug_line_str",
                                                      [SYMBOLS_RANGE_LISTS] = ".debug_ranges",
                                                      [SYMBOLS_RNGLISTS] = ".debug_rnglists",
                                                      [SYMBOLS_ADDR] = ".debug_addr",
                                                      [SYMBOLS_STR_OFFSETS] = ".debug_str_offsets"};
  return names[section];
}

/* The name of the section in files of split DWARF, "" if they have none of the kind. */
static inline const char *symbols_split_section_name(enum symbols_section section)
{
  static const char *const names[SYMBOLS_SECTIONS] = {
      [SYMBOLS_INFO] = ".debug_info.dwo",         [SYMBOLS_ABBREV] = ".debug_abbrev.dwo",
      [SYMBOLS_STR] = ".debug_str.dwo",           [SYMBOLS_LINE] = ".debug_line.dwo",
      [SYMBOLS_RNGLISTS] = ".debug_rnglists.dwo", [SYMBOLS_STR_OFFSETS] = ".debug_str_offsets.dwo"};
  return names[section] ? names[section] : "";
}

#endif
