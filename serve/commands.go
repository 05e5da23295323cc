package serve

import (
	"context"

	"sluice"
	"sluice/alert"
	"sluice/closed"
	"sluice/command"
	"sluice/event"
	"sluice/expression"
	"sluice/iam"
	"sluice/missed"
	"sluice/pipeline"
	"sluice/quarantine"
	"sluice/step"
	"sluice/trace"
	"sluice/webhook"
	"sluice/webhook/receive"
	"sluice/work"
)

// declareCommands makes all commands, and the runner of pipelines.
func (s *Server) declareCommands(events event.Options, runner pipeline.RunnerOptions, steps step.Options) {
	runner.Commands = func() command.Set { return s.commands }
	runner.Language = expression.NewLanguage(step.Functions())
	s.runner = pipeline.NewRunner(runner)
	steps.UsersOf = func(secret string) sluice.SecretUsers {
		return sluice.SecretUsers{Webhooks: s.webhooks.SignedWith(secret), Pipelines: s.runner.UsersOf(secret)}
	}
	s.commands = command.NewSet(
		runner.Note,
		webhook.Commands(s.webhooks),
		receive.Commands(s.receiver),
		quarantine.Commands(s.keeper),
		alert.Commands(s.alerts),
		closed.Commands(s.ledger),
		missed.Commands(s.finder, webhook.Missing),
		event.Commands(events),
		work.Commands(work.Options{Work: events.Work, Stopping: s.stopping, Seen: events.Seen}),
		trace.Commands(trace.Options{Journal: events.Journal, Results: runner.Results, Seen: events.Seen}),
		pipeline.Commands(s.runner),
		step.Commands(steps),
		iam.Commands(s.directory, s.login),
		s.ownCommands(),
	).Charging(s.runner.Charge).Knowing(s.webhooks.KeyOf)
}

// ownCommands returns the commands about the server and its figures.
func (s *Server) ownCommands() []command.Command {
	return []command.Command{
		command.New("server.info", "Show the server's version, the commit it was built from, its namespace and its "+
			"engine; with an external provider also its URL and the client of the command line there, which strangers "+
			"are told.", s.info, command.ReadOnly, command.Global, s.tellsLogins),
		command.New("server.stats", "Show what the server is doing: calls of the last minutes with their latency, "+
			"what waits and what failed, engine and disk.", s.serverStats, command.ReadOnly, command.Global),
		command.New("webhook.stats", "Show what became of the calls of webhooks in the last hours, and when the "+
			"last one came; those with most calls first. Each accepted call is in one of five states: processing, "+
			"retrying, ok, error, recovered. The kinds of events are those of the last 30 days: what no pipeline "+
			"takes can be unsubscribed at the sender.", s.webhookStats, command.ReadOnly),
		command.New("pipeline.stats", "Show how often pipelines ran in the last hours and how often they failed, and "+
			"what waits.", s.pipelineStats, command.ReadOnly),
		command.New("server.backup", "Back up all that the server has stored, while it runs: one file, as sluice "+
			"restore takes it.", s.backup, command.Global),
		command.New("server.settings", "Show the settings in effect, by name; of secrets only that they are set.",
			s.settings, command.ReadOnly, command.Global),
	}
}

// Commands describes every command of the service. Those that need a server can't be
// called.
func Commands() command.Set {
	var none Server
	none.declareCommands(event.Options{}, pipeline.RunnerOptions{}, step.Options{})
	return none.commands
}

// Offline calls pipeline.lint or pipeline.test on a source, without a server.
func Offline(ctx context.Context, name, source string) (any, error) {
	commands := Commands()
	cmd, _ := commands.Find(name)
	ctx = sluice.WithUser(ctx, sluice.User{Permissions: []string{name}})
	return commands.Call(ctx, cmd, command.Args{{Name: "source", Value: source}})
}
