"""The one exception that users see: what is wrong, where, and what to do next, in one line."""


class SwapmeetError(Exception):
    """Something the user can put right. The command line prints it without a traceback and exits with status 2."""
