package main

import (
	"github.com/spf13/cobra"

	"sluice"
)

// resources returns all resources of the command line.
func resources() []*resource {
	return []*resource{
		webhookResource(), providerResource(), quarantineResource(), pipelineResource(), deadletterResource(), secretResource(),
		userResource(), roleResource(), clientResource(),
	}
}

func resourceCommands(t *terminal) []*cobra.Command {
	all := make([]*cobra.Command, len(resources()))
	for i, r := range resources() {
		all[i] = resourceCommand(t, r)
	}
	return all
}

func quarantineResource() *resource {
	return &resource{
		Resource: sluice.Resource{Name: "quarantine", Key: "id", Get: "quarantine.get"},
		thing:    "refused call", short: "See refused calls that are kept, let them in, and delete them",
		word: "id", example: "8e28f2:mwi5dwlm8z03z34e",
		columns: columnsOf("id", "time", "eventKey", "code", "size", "remoteAddr", "diagnosis"),
		none:    "No refused calls are kept.",
		verbs: func(t *terminal, r *resource) []*cobra.Command {
			admit := change{"admit", "Let refused calls in after all", "quarantine.admit", "admitted", false, ""}
			remove := change{"delete", "Delete refused calls for good", "quarantine.delete", "deleted", true, ""}
			return []*cobra.Command{admit.of(t, r), remove.of(t, r)}
		},
	}
}

func providerResource() *resource {
	return &resource{
		Resource: sluice.Resource{Name: "provider", Key: "provider", Get: "provider.get"},
		short:    "See the senders that webhooks know, and how to set them up",
		word:     "name", example: "github",
		columns: columnsOf("provider", "title", "retries", "checks"),
		none:    "There are no providers.",
	}
}

func deadletterResource() *resource {
	return &resource{
		Resource: sluice.Resource{Name: "deadletter", Key: "letter", Get: "deadletter.get", Page: "/deadletters"},
		thing:    "dead letter", short: "See, replay and delete events that pipelines failed on",
		word: "number", example: "17",
		columns: columnsOf("letter", "time", "pipeline", "eventKey", "attempts", "error", "traceId"),
		none:    "There are no dead letters.",
		verbs: func(t *terminal, r *resource) []*cobra.Command {
			replay := change{"replay", "Send the events of dead letters again", "deadletter.replay", "replayed", false, "deadletter.groups"}
			remove := change{"delete", "Delete dead letters for good", "deadletter.delete", "deleted", true, "deadletter.groups"}
			groups := list{"deadletter.groups", nil, r.none, r.called() + "s", "", columnsOf("count", "pipeline", "code", "first", "last")}
			return []*cobra.Command{groups.verb(t, "groups", "Count dead letters by pipeline and error"), replay.of(t, r), remove.of(t, r)}
		},
	}
}

func userResource() *resource {
	return &resource{
		Resource: sluice.ResourceNamed("user"), short: "Look after users and their passwords",
		word: "name", example: "ada",
		columns: columnsOf("username", "roles", "disabled", "lastUsed", "updated"),
		none:    "There are no users.",
		verbs:   func(t *terminal, r *resource) []*cobra.Command { return []*cobra.Command{userPassword(t, r)} },
	}
}

func userPassword(t *terminal, r *resource) *cobra.Command {
	var params *parameters
	cmd := r.about(t, "password", "Set a password: your own, or that of a user", false, func(cmd *cobra.Command, args []string) error {
		values, err := params.values()
		if err != nil {
			return err
		}
		whose := "Your password"
		if len(args) > 0 {
			values.Set("username", args[0])
			whose = "The password of " + args[0]
		} else if !values.Has("current") && isTerminal(t.in) {
			current, err := t.askSecret(cmd.Context(), "Current password: ")
			if err != nil {
				return err
			}
			values.Set("current", current)
		}
		password, err := t.secretValue(cmd.Context(), "New password")
		if err != nil {
			return err
		}
		values.Set("password", password)
		return t.done(cmd, "iam.password.set", values, "%s is set.", whose)
	})
	cmd.Use = "password [USERNAME]"
	cmd.Long = cmd.Short + ".\nThe new password is read from standard input, or asked for. Without a username it is your own,\nwhich needs the current one, too: it is asked for, or given with --current @file."
	cmd.Args = arguments(0, 1, "one username")
	params = t.declare(cmd, "iam.password.set", "username", "password")
	return cmd
}

func roleResource() *resource {
	return &resource{
		Resource: sluice.ResourceNamed("role"), short: "Look after roles and what they allow",
		word: "name", example: "replayer",
		columns: columnsOf("role", "scope", "permissions", "builtIn"),
		none:    "There are no roles.",
	}
}

func clientResource() *resource {
	return &resource{
		Resource: sluice.ResourceNamed("client"), short: "Look after programs that get tokens for themselves",
		word: "id", example: "deployment",
		columns: columnsOf("clientId", "roles", "grants", "lastUsed", "updated"),
		none:    "There are no clients; sluice client create makes one.",
	}
}
