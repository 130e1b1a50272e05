#include "session/warm_up.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "algorithms/generate.hpp"
#include "buffers/device.hpp"
#include "choose/select.hpp"
#include "exchange/plan.hpp"
#include "mpi/simulation.hpp"
#include "node/oversubscription.hpp"
#include "session/rank_records.hpp"

namespace swapmeet {

namespace {

/// MADV_POPULATE_READ of Linux 5.14; madvise() fails without effect on earlier kernels.
constexpr int populate_read = 22;

/// Maps the code of this library at once. Otherwise the kernel maps it page by page in the first calls.
void load_code() {
  const auto load = [](dl_phdr_info* info, std::size_t, void* own) {
    const auto address = reinterpret_cast<std::uintptr_t>(own);
    const auto holds = [&](const ElfW(Phdr) & part) {
      return part.p_type == PT_LOAD && address - info->dlpi_addr - part.p_vaddr < part.p_memsz;
    };
    const std::span parts(info->dlpi_phdr, info->dlpi_phnum);
    if (std::ranges::none_of(parts, holds)) return 0;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (const ElfW(Phdr) & part : parts) {
      if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
      const std::uintptr_t begin = (info->dlpi_addr + part.p_vaddr) / page * page;
      madvise(reinterpret_cast<void*>(begin), info->dlpi_addr + part.p_vaddr + part.p_memsz - begin, populate_read);
    }
    return 1;
  };
  if (!simulated) dl_iterate_phdr(load, reinterpret_cast<void*>(&load_code));
}

/// Throws an exception once, so that exceptions of the application can later pass through our functions. They come from
/// its error handlers and attribute callbacks, and libgcc unwinds them. For our frames libgcc asks the part of it that
/// is linked into this library. This part makes its tables at our first exception; before that it would end the program
/// (GCC 12).
void prepare_for_exceptions() {
  try {
    throw std::bad_alloc();
  } catch (const std::bad_alloc&) {}
}

/// Executes once what the first call of the process will do, so that tables and pages are made before it.
void rehearse(Context& all) {
  const Shape two{2};
  host_number();
  processors();
  device_in_use();
  tries(Collective::alltoall, two, all.options);
  const Spec spec = choose(Collective::alltoall, two, 0, Options{}, {true, true}).spec;
  to_text(spec);
  const Plan plan(spec, generate(spec, two, 0), nullptr);
  std::uint64_t number = 0;
  const RemotePiece from{reinterpret_cast<std::uintptr_t>(&two), sizeof number};
  const Piece to{reinterpret_cast<char*>(&number), sizeof number};
  read_from(getpid(), {&from, 1}, {&to, 1});
}

}  // namespace

void warm_up(Context& all) {
  load_code();
  prepare_for_exceptions();
  rehearse(all);
}

}  // namespace swapmeet
