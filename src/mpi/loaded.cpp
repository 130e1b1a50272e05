#include "mpi/loaded.hpp"

#include <cstdint>
#include <cstring>

namespace swapmeet {

namespace {

/// The tables of an object's dynamic section in which symbols are looked up.
struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t *gnu = nullptr, *sysv = nullptr;  ///< hash tables

  explicit Tables(const dl_phdr_info& object) {
    for (int part = 0; part < object.dlpi_phnum; ++part)
      if (object.dlpi_phdr[part].p_type == PT_DYNAMIC)
        read(reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[part].p_vaddr), object.dlpi_addr);
  }

  /// The symbol at `index` if it is a global definition of `name`, or nullptr.
  const ElfW(Sym) * found(std::uint32_t index, const char* name) const {
    const ElfW(Sym) & symbol = symbols[index];
    const bool defined =
        symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL;
    return defined && std::strcmp(strings + symbol.st_name, name) == 0 ? &symbol : nullptr;
  }

 private:
  void read(const ElfW(Dyn) * entry, ElfW(Addr) base) {
    for (; entry->d_tag != DT_NULL; ++entry) {
      // The loader has already added the base, except in sections that are read-only (the kernel's vdso).
      const ElfW(Addr) address = entry->d_un.d_ptr < base ? entry->d_un.d_ptr + base : entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(address);
      if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(address);
      if (entry->d_tag == DT_GNU_HASH) gnu = reinterpret_cast<const std::uint32_t*>(address);
      if (entry->d_tag == DT_HASH) sysv = reinterpret_cast<const std::uint32_t*>(address);
    }
  }
};

/// Look-up in the hash table of GNU linkers, whose buckets are contiguous symbols.
const ElfW(Sym) * by_gnu_hash(const Tables& tables, const char* name) {
  std::uint32_t hash = 5381;
  for (const char* letter = name; *letter; ++letter) hash = hash * 33 + static_cast<unsigned char>(*letter);
  const std::uint32_t buckets = tables.gnu[0], first = tables.gnu[1], words = tables.gnu[2];
  const std::uint32_t* const bucket = tables.gnu + 4 + words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* const chain = bucket + buckets;
  if (buckets == 0) return nullptr;
  std::uint32_t index = bucket[hash % buckets];
  if (index < first) return nullptr;
  for (;; ++index) {
    const std::uint32_t other = chain[index - first];
    if ((other | 1) == (hash | 1))
      if (const ElfW(Sym)* const symbol = tables.found(index, name)) return symbol;
    if (other & 1) return nullptr;  // the lowest bit marks the last symbol of a bucket
  }
}

/// Look-up in the hash table of System V, whose buckets are linked lists.
const ElfW(Sym) * by_sysv_hash(const Tables& tables, const char* name) {
  std::uint32_t hash = 0;
  for (const char* letter = name; *letter; ++letter) {
    hash = (hash << 4) + static_cast<unsigned char>(*letter);
    hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
  }
  const std::uint32_t buckets = tables.sysv[0];
  if (buckets == 0) return nullptr;
  for (std::uint32_t index = tables.sysv[2 + hash % buckets]; index; index = tables.sysv[2 + buckets + index])
    if (const ElfW(Sym)* const symbol = tables.found(index, name)) return symbol;
  return nullptr;
}

/// The arguments of find_object().
struct Search {
  const char *name, *lacked;
  char* path;
  std::size_t room;
};

/// Callback of dl_iterate_phdr(), called for each object. Returns 1, which ends the iteration, if the object matches.
int look(dl_phdr_info* object, std::size_t, void* what) {
  const Search& search = *static_cast<const Search*>(what);
  const std::size_t length = object->dlpi_name ? std::strlen(object->dlpi_name) : 0;
  if (length == 0 || length >= search.room || object->dlpi_addr == reinterpret_cast<ElfW(Addr)>(&own_header)) return 0;
  if (!symbol_of(*object, search.name)) return 0;
  if (symbol_of(*object, search.lacked)) return 0;
  std::memcpy(search.path, object->dlpi_name, length + 1);
  return 1;
}

}  // namespace

const ElfW(Sym) * symbol_of(const dl_phdr_info& object, const char* name) {
  const Tables tables(object);
  if (!tables.symbols || !tables.strings) return nullptr;
  return tables.gnu ? by_gnu_hash(tables, name) : tables.sysv ? by_sysv_hash(tables, name) : nullptr;
}

bool find_object(const char* name, const char* lacked, char* path, std::size_t room) {
  Search search{name, lacked, path, room};
  return dl_iterate_phdr(look, &search) == 1;
}

}  // namespace swapmeet
