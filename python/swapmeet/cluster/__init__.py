"""A cluster in one machine: hosts made of namespaces, and a switch with latency and limited rates between them."""
