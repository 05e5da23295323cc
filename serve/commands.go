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
		[]command.Command{s.receiver.Command()},
		quarantine.Commands(s.keeper),
		alert.Commands(s.alerts),
		closed.Commands(s.ledger),
		missed.Commands(s.finder, webhook.Missing),
		event.Commands(events),
		work.Commands(work.Options{Work: events.Work, Stopping: s.stopping, Seen: events.Seen}),
		trace.Commands(events.Journal, runner.Results, events.Seen),
		pipeline.Commands(s.runner),
		step.Commands(steps),
		iam.Commands(s.directory, s.login),
		[]command.Command{
			s.infoCommand(), s.statsCommand(), s.webhookStatsCommand(), s.pipelineStatsCommand(), s.backupCommand(),
			s.settingsCommand(),
		},
	).Charging(s.runner.Charge).Knowing(s.webhooks.KeyOf)
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
