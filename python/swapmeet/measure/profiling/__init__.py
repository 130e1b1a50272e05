"""What an application's all-to-alls are, and what Swapmeet would save: `swapmeet profile` (docs/profile.md)."""
