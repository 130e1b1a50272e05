"""What schedules are, need and cost, without MPI."""
