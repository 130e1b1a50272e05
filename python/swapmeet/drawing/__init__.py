"""Pictures of schedules: `swapmeet draw` (docs/drawing.md)."""
