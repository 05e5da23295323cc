package main

import "github.com/spf13/cobra"

// nouns are the kinds of things that a server keeps. A new one is a line here,
// and a file that says which commands are for it. Further verbs of a noun are a
// list, a change of many things, or written out.
func nouns() []*noun {
	return []*noun{
		webhookNoun(), providerNoun(), quarantineNoun(), pipelineNoun(), deadletterNoun(), secretNoun(),
		userNoun(), roleNoun(), clientNoun(),
	}
}

func nounCommands(t *terminal) []*cobra.Command {
	all := make([]*cobra.Command, len(nouns()))
	for i, n := range nouns() {
		all[i] = nounCommand(t, n)
	}
	return all
}
