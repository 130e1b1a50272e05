#error "The core (schedule, algorithms, model, options, choose) must not know MPI: see src/CMakeLists.txt"
