package main

import "sluice/cmd/sluice/terminal"

// A cli is the command line: its verbs are methods, and do their work at a terminal.
type cli struct{ *terminal.Terminal }
