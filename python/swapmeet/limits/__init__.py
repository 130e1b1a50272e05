"""How far exchanges are from what no exchange can be faster than: bounds, and the map of distances."""
