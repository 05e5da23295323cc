// Command sluice receives webhooks durably, and is the client of servers that do.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"sluice/serve"
)

func main() {
	ctx, hurry, release := interrupts()
	t := newTerminal(release)
	cmd, err := rootCommand(t, hurry).ExecuteContextC(ctx)
	switch {
	case err == nil:
		err = t.helpFailed
	case !t.begun:
		err = usage("%v; %s --help explains.", err, cmd.CommandPath())
	}
	release()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sluice:", explain(err))
	}
	os.Exit(exitCode(err))
}

// interrupts gives a context that ends at the first SIGINT or SIGTERM, and a
// channel that is closed at the second. The third ends the program the hard way,
// as does any after release.
func interrupts() (first context.Context, second <-chan struct{}, release func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	release = func() { signal.Stop(signals) }
	first, stop := context.WithCancel(context.Background())
	hurry := make(chan struct{})
	go func() {
		<-signals
		stop()
		<-signals
		release()
		close(hurry)
	}()
	return first, hurry, release
}

func rootCommand(t *terminal, hurry <-chan struct{}) *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "Receive webhooks durably",
		Long: "Receive webhooks durably.\n\n" +
			"sluice serve runs the server; everything else talks to one. Log in with sluice login, or set\n" +
			"SLUICE_URL with SLUICE_TOKEN, or with SLUICE_USERNAME and SLUICE_PASSWORD.",
		Version:       serve.Release(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddGroup(&cobra.Group{ID: "client", Title: "Talk to a server:"}, &cobra.Group{ID: "server", Title: "Be one:"})
	server := serveCommand(hurry)
	server.GroupID = "server"
	health := healthCommand()
	health.GroupID = "server"
	root.AddCommand(server, health, exitCodesTopic(), versionCommand(t))
	for _, cmd := range []*cobra.Command{
		loginCommand(t), logoutCommand(t), profileCommand(t),
		commandCommand(t), pipelineCommand(t),
		callCommand(t), resultCommand(t), listenCommand(t),
		traceCommand(t), replayCommand(t), deadletterCommand(t),
	} {
		cmd.GroupID = "client"
		t.addFlags(cmd)
		root.AddCommand(cmd)
	}
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { t.begin(cmd) }
	return root
}
