/// Whether memory that the kernel has promised can be missing when it is touched.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace swapmeet::heap {

/// Whether the kernel counts the memory that it has promised (vm.overcommit_memory=2, in Linux's admin-guide/sysctl/vm).
/// Then touching one page more than there is kills the process, though memory is free. Also where this cannot be read.
inline bool kernel_counts_promises() {
  char mode = '0';
  const int file = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
  const bool known = file >= 0 && read(file, &mode, 1) == 1;
  if (file >= 0) close(file);
  return !known || mode == '2';
}

}  // namespace swapmeet::heap
