"""The command line: a module for each command, and the options, the parser and the errors that they share."""
