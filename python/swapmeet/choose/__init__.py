"""Which spec a call gets: tuning files and memory, from measurements to rules (docs/tuning.md), and regret."""
