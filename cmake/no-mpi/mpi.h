#error "The core (schedule, algorithms, verify, options, select) must not know MPI: see src/CMakeLists.txt"
