# by_handle.jl LIBRARY KIND: an all-to-all as MPI.jl calls it, by `ccall` of a function in the library that it loaded.
# KIND: mpich or openmpi, whose handles differ.
const library, kind = ARGS
const Handle = kind == "openmpi" ? Ptr{Cvoid} : Cint
const world = kind == "openmpi" ? cglobal((:ompi_mpi_comm_world, library), Cvoid) : Cint(0x44000000)
const int = kind == "openmpi" ? cglobal((:ompi_mpi_int, library), Cvoid) : Cint(0x4c000405)

ccall((:MPI_Init, library), Cint, (Ptr{Cvoid}, Ptr{Cvoid}), C_NULL, C_NULL)
const rank, ranks = Ref{Cint}(-1), Ref{Cint}(0)
ccall((:MPI_Comm_rank, library), Cint, (Handle, Ptr{Cint}), world, rank)
ccall((:MPI_Comm_size, library), Cint, (Handle, Ptr{Cint}), world, ranks)
const sent = Cint[100rank[] + i for i in 0:ranks[]-1]
const received = fill(Cint(-1), ranks[])
ccall((:MPI_Alltoall, library), Cint, (Ptr{Cint}, Cint, Handle, Ptr{Cint}, Cint, Handle, Handle),
      sent, 1, int, received, 1, int, world)
const wrong = count(received .!= Cint[100i + rank[] for i in 0:ranks[]-1])
rank[] == 0 && println("wrong: $wrong")
ccall((:MPI_Finalize, library), Cint, ())
exit(wrong != 0)
