"""Pictures: of schedules (`swapmeet draw`), networks, and what was measured or expected (plots)."""
