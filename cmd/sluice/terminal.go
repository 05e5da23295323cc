package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"sluice/client"
	"sluice/command"
)

// A terminal is what all verbs share: the flags that choose the server and the form
// of the output, and the person's terminal, if there is one.
type terminal struct {
	url     string
	profile string
	form    string // of the output: table, json or yaml
	json    bool

	formGiven  bool
	showTokens bool
	yes        bool
	opens      bool // a page of the portal instead of an answer
	commands   command.Set
	server     *client.Client // that connect has chosen

	in       *os.File
	out, err *os.File

	release    func() // lets the next interrupt kill the program
	begun      bool   // the command line was understood
	helpFailed error
}

// addFlags gives a verb the flags that all clients have.
func (t *terminal) addFlags(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&t.url, "url", "", "URL of the server (SLUICE_URL; default: that of the profile)")
	flags.StringVar(&t.profile, "profile", "",
		"name of the stored login to use (SLUICE_PROFILE; default: the current one)")
	flags.BoolVar(&t.showTokens, "show-token", false, "show the tokens of webhooks in tables")
	complete(cmd, "profile", t.completeProfiles)
	t.addForm(cmd)
}

// addForm gives a verb the flags for the form of its output.
func (t *terminal) addForm(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVarP(&t.form, "output", "o", "",
		"form of the output: table, json or yaml (default: table on a terminal, otherwise json)")
	flags.BoolVar(&t.json, "json", false, "the same as -o json")
	complete(cmd, "output", cobra.FixedCompletions(forms, noFiles))
}

// begin is called when the command line was understood.
func (t *terminal) begin(cmd *cobra.Command, _ []string) error {
	t.begun = true
	if cmd.Name() == "serve" {
		return nil // it takes its time to stop; see interrupts
	}
	context.AfterFunc(cmd.Context(), func() {
		t.release()
		// No context ends a write to a pipe that nobody reads, for one.
		time.AfterFunc(lastGrace, func() { os.Exit(exitInterrupted) })
	})
	return t.chooseForm()
}

// lastGrace is how long the program may take to end once it was interrupted.
const lastGrace = 3 * time.Second

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func colours(stream any) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(stream)
}
