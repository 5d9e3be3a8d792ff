"""The debugger's command line: commands, what they print, and the user interfaces that show it."""
