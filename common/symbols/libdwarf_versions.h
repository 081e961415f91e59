/* libdwarf of any version.  Since 0.3 the functions and fields by which a program gives it sections have other names;
 * those are used here, and stand for the older ones where these are installed.  Its headers are in different folders.
 *
 * Context: BATCH.  Only names; no state.
 */
#ifndef COMMON_SYMBOLS_LIBDWARF_VERSIONS_H
#define COMMON_SYMBOLS_LIBDWARF_VERSIONS_H

#if __has_include(<libdwarf/libdwarf.h>)
#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#else
#include <dwarf.h>
#include <libdwarf.h>
#endif

#ifdef DW_LIBDWARF_VERSION_MAJOR

typedef Dwarf_Unsigned libdwarf_section_number;
typedef Dwarf_Small libdwarf_byte_order;

#else

typedef Dwarf_Half libdwarf_section_number;
typedef Dwarf_Endianness libdwarf_byte_order;
typedef Dwarf_Obj_Access_Interface Dwarf_Obj_Access_Interface_a;
typedef Dwarf_Obj_Access_Methods Dwarf_Obj_Access_Methods_a;
typedef Dwarf_Obj_Access_Section Dwarf_Obj_Access_Section_a;
#define as_name name
#define as_size size
#define ai_object object
#define ai_methods methods
#define om_get_section_info get_section_info
#define om_get_byte_order get_byte_order
#define om_get_length_size get_length_size
#define om_get_pointer_size get_pointer_size
#define om_get_section_count get_section_count
#define om_load_section load_section
#define dwarf_dealloc_ranges dwarf_ranges_dealloc
#undef DW_END_little
#define DW_END_little DW_OBJECT_LSB

#endif
#endif
