package serve

import (
	"cmp"
	"context"
	"io"
	"slices"

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
		[]command.Command{infoCommand(o.namespace, o.engine), statsCommand(o.stats, o.minutes), webhookStatsCommand(o.minutes), pipelineStatsCommand(o.minutes), backupCommand(o.backup)},
	).Charging(runner.Charge).Knowing(func(ctx context.Context, token string) string { return o.webhooks.KeyOf(ctx, token) })
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

type statsParams struct {
	Minutes int `json:"minutes" min:"1" max:"1440" doc:"Show this many of the last minutes. Default 60."`
	Hours   int `json:"hours" min:"1" max:"720" doc:"Also show this many of the last hours."`
}

const defaultMinutes = 60

func statsCommand(stats func(context.Context) (sluice.ServerStats, error), minutes *metrics.Minutes) command.Command {
	return command.New("server.stats", "Show what the server is doing: calls of the last minutes with their latency, what waits and what failed, engine and disk.",
		func(ctx context.Context, p statsParams) (sluice.ServerStats, error) {
			s, err := stats(ctx)
			if err != nil && s.Ready {
				return s, err
			}
			s.Minutes = minutes.Last(ctx, cmp.Or(p.Minutes, defaultMinutes))
			if p.Hours > 0 {
				s.Hours = minutes.LastHours(ctx, p.Hours)
			}
			return s, nil
		}, command.ReadOnly, command.Global)
}

type webhookStatsParams struct {
	EventKey string `json:"eventKey" names:"listed" doc:"Show only the webhook with this key."`
	Hours    int    `json:"hours" min:"1" max:"720" doc:"Over this many of the last hours. Default 24."`
	Limit    int    `json:"limit" min:"1" max:"1000" doc:"At most this many webhooks, those with most calls. Default 100."`
}

const (
	defaultHours    = 24
	defaultWebhooks = 100
)

func webhookStatsCommand(minutes *metrics.Minutes) command.Command {
	return command.New("webhook.stats", "Show what became of the calls of webhooks in the last hours, and when the last one came; those with most calls first. Each accepted call is in one of five states: processing, retrying, ok, error, recovered.",
		func(ctx context.Context, p webhookStatsParams) ([]sluice.WebhookStats, error) {
			cover := sluice.CoverFrom(ctx)
			all := slices.DeleteFunc(minutes.Webhooks(ctx, cmp.Or(p.Hours, defaultHours)), func(s sluice.WebhookStats) bool { return !cover.Event(s.EventKey) })
			if p.EventKey != "" {
				all = slices.DeleteFunc(all, func(s sluice.WebhookStats) bool { return s.EventKey != p.EventKey })
			} else {
				for i := range all {
					all[i].Figures = nil
				}
			}
			return all[:min(len(all), cmp.Or(p.Limit, defaultWebhooks))], nil
		}, command.ReadOnly)
}

type pipelineStatsParams struct {
	Name  string `json:"name" required:"true" names:"listed" doc:"Name of the pipeline."`
	Hours int    `json:"hours" min:"1" max:"720" doc:"Over this many of the last hours. Default 24."`
}

func pipelineStatsCommand(minutes *metrics.Minutes) command.Command {
	return command.New("pipeline.stats", "Show how often a pipeline ran in the last hours, and how often it failed.",
		func(ctx context.Context, p pipelineStatsParams) (sluice.PipelineRuns, error) {
			runs := minutes.Runs(ctx, p.Name, cmp.Or(p.Hours, defaultHours))
			if !sluice.CoverFrom(ctx).Name(p.Name) {
				runs = sluice.PipelineRuns{Pipeline: p.Name, Hours: make([]sluice.RunFigures, len(runs.Hours))}
			}
			return runs, nil
		}, command.ReadOnly)
}
