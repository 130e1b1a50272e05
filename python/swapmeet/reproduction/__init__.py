"""`swapmeet reproduce`: the papers' figures and claims, done again, each with a verdict (docs/reproduction.md)."""
