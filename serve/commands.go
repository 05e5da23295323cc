package serve

import (
	"context"
	"io"

	"sluice"
	"sluice/alert"
	"sluice/closed"
	"sluice/command"
	"sluice/event"
	"sluice/expression"
	"sluice/iam"
	"sluice/jetstream"
	"sluice/metrics"
	"sluice/missed"
	"sluice/pipeline"
	"sluice/quarantine"
	"sluice/step"
	"sluice/trace"
	"sluice/webhook"
	"sluice/webhook/receive"
	"sluice/webhook/trust"
)

// commandOptions are what the commands need.
type commandOptions struct {
	namespace string
	baseURL   string
	audit     func(context.Context, sluice.AuditEntry)
	webhooks  *webhook.Store
	trusts    *trust.Trusts
	receiver  *receive.Receiver
	keeper    *quarantine.Keeper
	alerts    *alert.Alerts
	ledger    *closed.Ledger
	finder    *missed.Finder
	events    event.Options
	results   sluice.Results
	runner    pipeline.RunnerOptions // without commands and language
	steps     step.Options
	directory *iam.Directory
	login     *iam.Authenticator
	engine    *jetstream.Engine
	minutes   *metrics.Minutes
	stats     func(context.Context) (sluice.ServerStats, error)
	backup    func(ctx context.Context, to io.Writer, passphrase string) error
}

// newCommands returns all commands, and the runner of pipelines.
func newCommands(o commandOptions) (commands command.Set, runner *pipeline.Runner) {
	o.runner.Commands = func() command.Set { return commands }
	o.runner.Language = expression.NewLanguage(step.Functions())
	runner = pipeline.NewRunner(o.runner)
	o.steps.UsersOf = func(secret string) sluice.SecretUsers {
		return sluice.SecretUsers{Webhooks: o.webhooks.SignedWith(secret), Pipelines: runner.UsersOf(secret)}
	}
	commands = command.NewSet(
		o.audit,
		webhook.Commands(o.webhooks, o.trusts, o.baseURL),
		[]command.Command{o.receiver.Command()},
		quarantine.Commands(o.keeper, o.receiver, o.events.Seen),
		alert.Commands(o.alerts),
		closed.Commands(o.ledger),
		missed.Commands(o.finder, webhook.Missing),
		event.Commands(o.events),
		trace.Commands(o.events.Journal, o.results, o.events.Seen),
		pipeline.Commands(runner),
		step.Commands(o.steps),
		iam.Commands(o.directory, o.login),
		[]command.Command{
			infoCommand(o.namespace, o.engine), statsCommand(o.stats, o.minutes), webhookStatsCommand(o.minutes),
			pipelineStatsCommand(o.minutes), backupCommand(o.backup),
		},
	).Charging(runner.Charge).
		Knowing(func(ctx context.Context, token string) string { return o.webhooks.KeyOf(ctx, token) })
	return commands, runner
}

// Commands describes every command of the service. Those that need a server can't be
// called.
func Commands() command.Set {
	commands, _ := newCommands(commandOptions{})
	return commands
}

// Offline calls pipeline.lint or pipeline.test on a source, without a server.
func Offline(ctx context.Context, name, source string) (any, error) {
	commands := Commands()
	cmd, _ := commands.Find(name)
	ctx = sluice.WithUser(ctx, sluice.User{Permissions: []string{name}})
	return commands.Call(ctx, cmd, command.Args{{Name: "source", Value: source}})
}
