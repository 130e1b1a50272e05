"""`swapmeet doctor`: whether the library works here, and what is in its way."""
