/* Where the code of libswapmeet.so lies in this process, to know its calls by their return addresses. The including file
 * defines _GNU_SOURCE first. */
#pragma once

#include <link.h>
#include <stdint.h>
#include <string.h>

static uintptr_t library_begin, library_end; /* both 0: it is not here, or was not looked for */

static int note_library(struct dl_phdr_info* object, size_t size, void* unused) {
  (void)size, (void)unused;
  if (!strstr(object->dlpi_name, "libswapmeet.so")) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const header = &object->dlpi_phdr[i];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
    library_begin = object->dlpi_addr + header->p_vaddr;
    library_end = library_begin + header->p_memsz;
  }
  return 1;
}

static void find_library(void) { dl_iterate_phdr(note_library, NULL); }
static int is_of_library(uintptr_t address) { return address >= library_begin && address < library_end; }
