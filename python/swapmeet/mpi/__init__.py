"""The MPIs of this machine: where they are, the library for each, and programs launched with it."""
