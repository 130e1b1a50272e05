# The MPI behind one compiler wrapper, as the targets mpi_headers and mpi_c: what `mpicc -show` says, and nothing that C++
# bindings need.
execute_process(COMMAND ${SWAPMEET_MPICC} -show OUTPUT_VARIABLE shown OUTPUT_STRIP_TRAILING_WHITESPACE
                RESULT_VARIABLE failed ERROR_VARIABLE complaint)
if(failed)
  message(FATAL_ERROR "SWAPMEET_MPICC=${SWAPMEET_MPICC}: `${SWAPMEET_MPICC} -show` failed: ${complaint}")
endif()
separate_arguments(words UNIX_COMMAND "${shown}")
list(POP_FRONT words)  # the compiler
set(mpi_compile_flags ${words})
list(FILTER mpi_compile_flags INCLUDE REGEX "^-(I|D|isystem|pthread)")
set(mpi_link_flags ${words})
list(FILTER mpi_link_flags EXCLUDE REGEX "^-(I|D|isystem|W[^l]|O|g|f)|^-include$|\\.h$")

# Not after minutes of compiling other things.
set(probe ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/mpi.c)
file(WRITE ${probe} "#include <mpi.h>\nMPI_Comm everybody(void) { return MPI_COMM_WORLD; }\n")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
try_compile(mpi_h_is_usable ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles SOURCES ${probe}
            COMPILE_DEFINITIONS ${mpi_compile_flags} OUTPUT_VARIABLE complaint)
unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
if(NOT mpi_h_is_usable)
  message(FATAL_ERROR "SWAPMEET_MPICC=${SWAPMEET_MPICC}: its mpi.h cannot be compiled: ${complaint}")
endif()

add_library(mpi_headers INTERFACE)
target_compile_options(mpi_headers INTERFACE ${mpi_compile_flags})
target_compile_definitions(mpi_headers INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

add_library(mpi_c INTERFACE)
target_link_options(mpi_c INTERFACE ${mpi_link_flags})
list(FILTER words INCLUDE REGEX "^-l")
target_link_libraries(mpi_c INTERFACE mpi_headers ${words} ${CMAKE_DL_LIBS})

# SimGrid's programs are shared objects, which it loads, and all of its MPI is always there.
if("-lsimgrid" IN_LIST words)
  set(SWAPMEET_SIMULATED TRUE)
  target_compile_options(mpi_c INTERFACE -fPIC)
endif()
