# The core as a module of Python.
option(SWAPMEET_STABLE_ABI "Compile the module for its Python, from 3.12 on, and all later ones" OFF)
if(SWAPMEET_STABLE_ABI)
  set(stable STABLE_ABI)
  set(development Development.SABIModule)
endif()
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module ${development})
if(NOT nanobind_ROOT)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
find_package(nanobind CONFIG REQUIRED)
nanobind_add_module(_core NB_STATIC ${stable} bindings.cpp choice_bindings.cpp count_bindings.cpp estimate_bindings.cpp
                    memory_bindings.cpp network_bindings.cpp order_bindings.cpp price_bindings.cpp
                    schedule_bindings.cpp sparse_bindings.cpp trials_bindings.cpp verify_bindings.cpp
                    workload_bindings.cpp)
target_link_libraries(_core PRIVATE swapmeet_tools)
install(TARGETS _core LIBRARY DESTINATION swapmeet COMPONENT python)
if(NOT SWAPMEET_CORE)  # an installed package links it into the libraries that it builds
  install(TARGETS swapmeet_core ARCHIVE DESTINATION swapmeet/lib COMPONENT python)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/compiler.txt "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\n")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/compiler.txt DESTINATION swapmeet/lib COMPONENT python)
endif()
