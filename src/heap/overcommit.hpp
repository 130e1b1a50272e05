/// The kernel's policy for memory that it has promised but not yet allocated.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace swapmeet::heap {

/// Whether the kernel counts the memory that it has promised (vm.overcommit_memory=2, see Linux's
/// admin-guide/sysctl/vm). Then access to one page more than allowed kills the process, even if memory is free. Returns
/// true also if the policy cannot be read.
inline bool kernel_counts_promises() {
  char mode = '0';
  const int file = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
  const bool known = file >= 0 && read(file, &mode, 1) == 1;
  if (file >= 0) close(file);
  return !known || mode == '2';
}

}  // namespace swapmeet::heap
