# What the compiler and its library must have, tried before minutes of compiling.
set(probe ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/compiler.cpp)
file(WRITE ${probe} "#include <algorithm>\n#include <span>\nint main() { return std::ranges::count(std::span<const int>(), 1); }\n")
function(swapmeet_require result advice)
  if(DEFINED CACHE{${result}})
    return()
  endif()
  try_compile(${result} ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles SOURCES ${probe} ${ARGN} OUTPUT_VARIABLE complaint
              CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  if(NOT ${result})
    unset(${result} CACHE)
    message(FATAL_ERROR "${advice}\n${complaint}")
  endif()
endfunction()

swapmeet_require(SWAPMEET_COMPILER_KNOWS_CXX20
                 "Swapmeet takes C++20: GCC 10 or newer, or Clang 16 or newer, not ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}. \
On RHEL 8: dnf install gcc-toolset-13, then scl enable gcc-toolset-13 bash. Or name one: CC=gcc-12 CXX=g++-12")
# The library is in programs of any compiler, and brings no C++ runtime along.
if(SWAPMEET_MPICC AND NOT SWAPMEET_SANITIZE)
  swapmeet_require(SWAPMEET_COMPILER_LINKS_STATICALLY
                   "libswapmeet.so contains the C++ library, but libstdc++.a is missing. On RHEL and Fedora: dnf install libstdc++-static"
                   LINK_OPTIONS -static-libstdc++ -static-libgcc)
endif()

# Options of the GNU linker that others may lack, and do without.
include(CheckLinkerFlag)
function(swapmeet_link_options_if_known target)
  foreach(option ${ARGN})
    string(MAKE_C_IDENTIFIER "SWAPMEET_LINKER_KNOWS${option}" known)
    check_linker_flag(CXX ${option} ${known})
    if(${known})
      target_link_options(${target} PRIVATE ${option})
    endif()
  endforeach()
endfunction()

# What runs once for a job or a communicator is compiled to be small, where what users run is compiled to be fast: the
# library is in every process of a job.
function(swapmeet_compile_for_size target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
endfunction()
