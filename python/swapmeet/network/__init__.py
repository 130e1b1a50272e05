"""Networks: what all-to-alls ask of their links, and orders that suit them. Formats, definitions: docs/networks.md."""
