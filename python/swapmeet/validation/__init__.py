"""`swapmeet validate`: models and estimates compared with published measurements (docs/validation.md)."""
