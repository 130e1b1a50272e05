"""What exchanges cost (`swapmeet model --plot`) and what was measured (`swapmeet plot`), as pictures."""
