"""Pictures: of what exchanges cost (`swapmeet model --plot`) and of what was measured (`swapmeet plot`)."""

from swapmeet.plots.model import plot_radices, plot_times, require_plotting

__all__ = ["plot_radices", "plot_times", "require_plotting"]
