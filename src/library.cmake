# libswapmeet.so for one MPI, with which it is not linked (mpi/symbols.hpp). It exports what interpose/exports.map lists,
# nothing else.
find_package(Threads REQUIRED)
set(SWAPMEET_IPO OFF)
if(SWAPMEET_LTO)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT SWAPMEET_IPO OUTPUT ipo_problem LANGUAGES CXX)
endif()

# The libraries stay loaded whatever a program closes (-z nodelete): MPI keeps callbacks of ours, which MPI_Finalize calls,
# and programs keep memory of the heap.

# Messages between the ranks of a node and copies between datatypes, without MPI.
add_library(swapmeet_transport STATIC node/node.cpp node/node_layout.cpp node/oversubscription.cpp node/regions.cpp node/segment.cpp node/arenas.cpp node/single_copy.cpp
            typemap/copy.cpp typemap/type_map.cpp typemap/type_tree.cpp)
target_include_directories(swapmeet_transport PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(swapmeet_transport BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/cmake/no-mpi)
target_link_libraries(swapmeet_transport PRIVATE swapmeet_warnings rt)
if(SWAPMEET_IPO AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(swapmeet_transport PRIVATE -ffat-lto-objects)  # machine code, too, for who links it without
  set(SWAPMEET_NO_IPO -fno-lto PARENT_SCOPE)
endif()

# The reader of a datatype's type map, for programs that use it without the library.
add_library(swapmeet_type_reader INTERFACE)
foreach(source IN ITEMS faults loaded outcome symbols type_reader world_ranks)
  target_sources(swapmeet_type_reader INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/mpi/${source}.cpp)
endforeach()
target_link_libraries(swapmeet_type_reader INTERFACE swapmeet_transport)

# Blocks that other processes can map. And libswapmeet-heap.so, by which malloc gives them: a library of its own, for who
# does not ask for that is not to pay for it.
set(heap_sources heap/heap.cpp heap/page_file.cpp)
add_library(swapmeet_heap SHARED ${heap_sources} heap/interposed.cpp)
target_include_directories(swapmeet_heap PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(swapmeet_heap BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/cmake/no-mpi)
target_compile_options(swapmeet_heap PRIVATE -fno-builtin -fno-exceptions -fno-rtti)
target_link_libraries(swapmeet_heap PRIVATE swapmeet_warnings Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(swapmeet_heap PRIVATE -static-libstdc++ -static-libgcc -Wl,-z,now -Wl,-z,nodelete)
set_target_properties(swapmeet_heap PROPERTIES OUTPUT_NAME swapmeet-heap LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

set(interpose ${PROJECT_SOURCE_DIR}/src/interpose)
# Each call passes through the files of the first list; those of the second set up, choose, watch and report.
set(calls_pass "/(exchange/.*|buffers/(block_copies|kept_arrays|staging)|interpose/(entry|serve|start|requests|progressed)|session/(call|started|under_way)|mpi/(progress|progress_thread|coroutine|faults|outcome|native|datatype))[.]cpp$")
file(GLOB mpi_sources CONFIGURE_DEPENDS mpi/*.cpp team/*.cpp buffers/*.cpp node/node_peers.cpp node/node_group.cpp observe/*.cpp exchange/*.cpp
     session/*.cpp api/*.cpp interpose/*.cpp)
set(call_sources ${mpi_sources})
list(FILTER call_sources INCLUDE REGEX ${calls_pass})
set(around_sources ${mpi_sources})
list(FILTER around_sources EXCLUDE REGEX ${calls_pass})
add_library(swapmeet_around OBJECT ${around_sources})
add_library(swapmeet SHARED ${call_sources} ${heap_sources} $<TARGET_OBJECTS:swapmeet_around>)
foreach(part swapmeet_around swapmeet)
  target_include_directories(${part} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_definitions(${part} PRIVATE SWAPMEET_VERSION="${PROJECT_VERSION}")
  target_compile_options(${part} PRIVATE -ffp-contract=off)  # the same decisions on all processors, also by headers
  target_link_libraries(${part} PRIVATE swapmeet_core swapmeet_transport swapmeet_warnings mpi_headers Threads::Threads ${CMAKE_DL_LIBS})
  swapmeet_precompile_headers(${part})
endforeach()
swapmeet_compile_for_size(swapmeet_around)
swapmeet_compile_folders_as_one(swapmeet_around session api observe team mpi interpose buffers)
swapmeet_compile_folders_as_one(swapmeet exchange interpose buffers mpi)
target_link_options(swapmeet PRIVATE -Wl,--version-script=${interpose}/exports.map -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete
                                     -Wl,--gc-sections)  # a quarter of the text: what nothing calls, ours and the C++ library's
# Not every MPI has all names of the map, which LLD takes for a mistake.
swapmeet_link_options_if_known(swapmeet -Wl,--exclude-libs,ALL -Wl,--undefined-version)
if(SWAPMEET_SIMULATED)
  target_compile_definitions(swapmeet_transport PUBLIC SWAPMEET_SIMULATED)
  target_link_libraries(swapmeet PRIVATE mpi_c)
endif()
if(NOT SWAPMEET_SANITIZE)
  target_link_options(swapmeet PRIVATE -static-libstdc++ -static-libgcc)
else()
  target_link_options(swapmeet PRIVATE -Wl,-z,undefs)
endif()
set_target_properties(swapmeet swapmeet_around swapmeet_transport PROPERTIES INTERPROCEDURAL_OPTIMIZATION ${SWAPMEET_IPO})
set_target_properties(swapmeet PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                      LINK_DEPENDS ${interpose}/exports.map
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

include(CMakePackageConfigHelpers)
install(TARGETS swapmeet EXPORT swapmeet LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
install(TARGETS swapmeet_heap LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
# The Fortran module as source: what a compiler makes of it is of no use to another.
install(FILES ${PROJECT_SOURCE_DIR}/include/swapmeet/swapmeet.h ${PROJECT_SOURCE_DIR}/fortran/swapmeet.f90
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/swapmeet COMPONENT mpi)
install(EXPORT swapmeet NAMESPACE swapmeet:: FILE swapmeet-config.cmake COMPONENT mpi
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/swapmeet)
install(FILES ${PROJECT_SOURCE_DIR}/docs/man/libswapmeet.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 COMPONENT mpi)
write_basic_package_version_file(swapmeet-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/swapmeet-config-version.cmake COMPONENT mpi
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/swapmeet)
file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/swapmeet.pc.in swapmeet.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/swapmeet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT mpi)
# It names the prefix, which is known for certain only when installing (cmake --install --prefix).
configure_file(${PROJECT_SOURCE_DIR}/cmake/swapmeet.module.in swapmeet.module.in @ONLY)
install(CODE "configure_file(\"${CMAKE_CURRENT_BINARY_DIR}/swapmeet.module.in\" \"${CMAKE_CURRENT_BINARY_DIR}/swapmeet.module\")"
        COMPONENT mpi)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/swapmeet.module RENAME ${PROJECT_VERSION} COMPONENT mpi
        DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/swapmeet)
