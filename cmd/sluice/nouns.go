package main

import (
	"github.com/spf13/cobra"
)

// nouns are the kinds of things that a server keeps. A new one is a row here. A
// further verb of one is a list of another command, a change of many things, or
// one of its own.
func nouns() []*noun {
	return []*noun{
		{
			name: "webhook", short: "Create webhooks, look after them, and test them",
			key: "eventKey", handle: "uuid", example: "webhook.lead.created", page: "/webhooks",
			get: "webhook.get", put: "webhook.put", remove: "webhook.delete",
			columns: columnsOf("eventKey", "provider", "payloadType", "maxPayloadLength", "disabled", "uuid", "updated", "description"),
			none:    "There are no webhooks; sluice webhook create makes one.",
			effect:  "Calls to it are refused from then on.",
			verbs: func(t *terminal, n *noun) []*cobra.Command {
				return []*cobra.Command{webhookURL(t, n), webhookTest(t, n)}
			},
		},
		{
			name: "pipeline", short: "Store, read, run, check and test pipelines",
			key: "name", example: "leads", page: "/pipelines",
			get: "pipeline.get", remove: "pipeline.delete",
			columns: columnsOf("name", "listens", "paused", "owner", "updated", "description"),
			none:    "There are no pipelines; sluice pipeline put FILE stores one.",
			effect:  "Events don't start it any more.",
			verbs: func(t *terminal, _ *noun) []*cobra.Command {
				return []*cobra.Command{pipelinePut(t), pipelineGet(t), pipelineRun(t), pipelineLint(t), pipelineTest(t)}
			},
		},
		{
			name: "user", short: "Look after users and their passwords",
			key: "username", example: "ada", page: "/users",
			get: "iam.user.get", put: "iam.user.put", remove: "iam.user.delete",
			columns: columnsOf("username", "roles", "disabled", "updated"),
			none:    "There are no users.",
			effect:  "Passwords and tokens of that user are refused from then on.",
			verbs:   func(t *terminal, n *noun) []*cobra.Command { return []*cobra.Command{userPassword(t, n)} },
		},
		{
			name: "role", short: "Look after roles and what they allow",
			key: "role", example: "replayer", page: "/roles",
			get: "iam.role.get", put: "iam.role.put", remove: "iam.role.delete",
			columns: columnsOf("role", "permissions", "builtIn"),
			none:    "There are no roles.",
			effect:  "Whoever has it loses its permissions.",
		},
		{
			name: "client", short: "Look after programs that get tokens for themselves",
			key: "clientId", example: "deployment", page: "/clients",
			get: "iam.client.get", put: "iam.client.put", remove: "iam.client.delete",
			columns: columnsOf("clientId", "roles", "grants", "updated"),
			none:    "There are no clients; sluice client create makes one.",
			effect:  "Its secret and its tokens are refused from then on.",
		},
		{
			name: "secret", short: "Look after secrets that pipelines use",
			key: "name", example: "crm-password", page: "/secrets",
			get: "secret.get", remove: "secret.delete",
			columns: columnsOf("name", "updated"),
			none:    "There are no secrets; sluice secret put stores one.",
			effect:  "Pipelines that use it fail from then on.",
			verbs:   func(t *terminal, n *noun) []*cobra.Command { return []*cobra.Command{secretPut(t, n)} },
		},
		{
			name: "deadletter", thing: "dead letter", short: "See, replay and delete events that pipelines failed on",
			key: "letter", example: "17", page: "/deadletters",
			get:     "deadletter.get",
			columns: columnsOf("letter", "time", "pipeline", "eventKey", "attempts", "error", "traceId"),
			none:    "There are no dead letters.",
			verbs: func(t *terminal, n *noun) []*cobra.Command {
				replay := change{"replay", "Send the events of dead letters again", "deadletter.replay", "replayed", false}
				remove := change{"delete", "Delete dead letters for good", "deadletter.delete", "deleted", true}
				return []*cobra.Command{replay.of(t, n), remove.of(t, n)}
			},
		},
	}
}

func nounCommands(t *terminal) []*cobra.Command {
	var all []*cobra.Command
	for _, n := range nouns() {
		all = append(all, nounCommand(t, n))
	}
	return all
}
