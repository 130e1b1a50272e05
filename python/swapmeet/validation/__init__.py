"""`swapmeet validate`: models and estimates held against published measurements (docs/validation.md)."""
