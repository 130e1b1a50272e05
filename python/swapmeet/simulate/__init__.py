"""`swapmeet simulate`: the real library on simulated machines, by SimGrid (docs/simulation.md)."""
