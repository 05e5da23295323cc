// Package terminal is the side of the command line that a person or a script sees: the flags that
// all verbs share, the connection to a server, questions, progress, and answers in the wanted form.
// What the verbs do is in package main; how documents look is in package view.
package terminal

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/view"
	"sluice/command"
)

// A Terminal is what all verbs share: the flags that choose the server and the form
// of the output, and the person's terminal, if there is one.
type Terminal struct {
	In, Out, Err *os.File
	Commands     command.Set
	Release      func() // lets the next interrupt kill the program

	// The verb that is being done.
	Cmd      *cobra.Command
	Verb     *Verb
	Resource *Resource // that it is about
	Args     []string
	Params   url.Values // of its command, from flags

	Server     *client.Client // that Connect has chosen
	FormGiven  bool           // the person has chosen the form of the output
	ShowTokens bool           // of webhooks, in tables
	HelpFailed error          // why there was no help, which cobra does not ask for

	form  string // of the output: table, json or yaml
	begun bool   // the command line was understood
}

// begin is called when the command line was understood.
func (t *Terminal) begin(cmd *cobra.Command, _ []string) error {
	t.begun, t.Cmd = true, cmd
	t.ShowTokens = t.On("show-token")
	if cmd.Name() == "serve" {
		return nil // it takes its time to stop; see interrupts
	}
	context.AfterFunc(cmd.Context(), func() {
		t.Release()
		// No context ends a write to a pipe that nobody reads, for one.
		time.AfterFunc(lastGrace, func() { os.Exit(exit.Interrupted) })
	})
	if err := trust(cmp.Or(t.Text("ca"), os.Getenv("SLUICE_CA"))); err != nil {
		return err
	}
	return t.chooseForm()
}

// trust lets all connections of the program trust the certificates in a file, besides those of the system.
func trust(file string) error {
	if file == "" {
		return nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	content, err := os.ReadFile(file) //nolint:gosec // the person names the file
	if err != nil || !roots.AppendCertsFromPEM(content) {
		return exit.Usage("--ca: %s is no file with a certificate in PEM that can be read.", file)
	}
	http.DefaultTransport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return nil
}

// lastGrace is how long the program may take to end once it was interrupted.
const lastGrace = 3 * time.Second

// IsTerminal reports whether a stream is a person's terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Asks reports whether there is a person to ask.
func (t *Terminal) Asks() bool { return IsTerminal(t.In) }

// Paint returns a text for people in a colour, if the output shows colours.
func (t *Terminal) Paint(colour, text string) string {
	return view.Paint(Colours(t.Out), colour, view.Printable(text))
}

// Colours reports whether a stream shows colours.
func Colours(stream any) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && IsTerminal(stream)
}
