package main

import (
	"strings"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/exit"
	"sluice/serve"
)

func rootCommand(t *cli, hurry <-chan struct{}) *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "Receive webhooks durably",
		Long: `Receive webhooks durably.

			sluice serve runs the server; everything else talks to one. Log in with sluice login, or set SLUICE_URL
			with SLUICE_TOKEN, with SLUICE_CLIENT_ID and SLUICE_CLIENT_SECRET, or with SLUICE_USERNAME and
			SLUICE_PASSWORD.`,
		Version:       serve.Release(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddGroup(
		&cobra.Group{ID: "things", Title: "What a server keeps:"},
		&cobra.Group{ID: "calls", Title: "Calls and events:"},
		&cobra.Group{ID: "login", Title: "Logins:"},
		&cobra.Group{ID: "server", Title: "The server:"},
	)
	for group, commands := range map[string][]*cobra.Command{
		"things": resourceCommands(t),
		"calls": {
			callCommand(t), resultCommand(t), listenCommand(t), traceCommand(t), retryCommand(t), replayCommand(t),
			workCommand(t),
		},
		"login": {loginCommand(t), logoutCommand(t), profileCommand(t)},
		"server": {
			commandCommand(t), auditCommand(t), alertCommand(t), statsCommand(t), exportCommand(t), applyCommand(t),
			backupCommand(t), doctorCommand(t),
		},
	} {
		for _, cmd := range commands {
			cmd.GroupID = group
			t.AddFlags(cmd)
			root.AddCommand(cmd)
		}
	}
	for _, cmd := range []*cobra.Command{
		serveCommand(hurry), healthCommand(), checkCommand(t), restoreCommand(t), adminCommand(t),
	} {
		cmd.GroupID = "server"
		root.AddCommand(cmd)
	}
	exitCodes := &cobra.Command{
		Use: "exit-codes", Short: "What the exit codes mean", Long: strings.TrimSpace(exit.Summary),
	}
	root.AddCommand(exitCodes, versionCommand(t), completionCommand(), manCommand())
	t.Prepare(root)
	return root
}

// resourceCommands returns the commands of all resources.
func resourceCommands(t *cli) (all []*cobra.Command) {
	for _, r := range []*resource{
		webhookResource(t), providerResource(t), quarantineResource(t), pipelineResource(t), deadletterResource(t),
		secretResource(t),
		userResource(t), roleResource(t), clientResource(t),
	} {
		all = append(all, r.newCommand())
	}
	return all
}
