// Package step has the small built-in steps of pipelines: convert.*, crypto.*,
// set, log, assert, fail, exit, wait, http.request, http.forward, sql.exec, kafka.send and secret.*,
// one command to a file. It also has the store of sealed secrets, and the
// conversions and hashes as functions for expressions.
//
// Package pipeline runs the steps; the root package defines what a run is.
package step

import (
	"cmp"
	"log/slog"
	"slices"

	"sluice"
	"sluice/command"
)

// Options are what the steps need.
type Options struct {
	Log     *slog.Logger // of the command log; nil discards what it writes
	Secrets *Secrets
	UsersOf func(secret string) sluice.SecretUsers // nil: there are none
	HTTP    HTTPOptions
	Mail    MailOptions
}

// Commands returns the built-in steps.
func Commands(o Options) []command.Command {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.UsersOf == nil {
		o.UsersOf = func(string) sluice.SecretUsers { return sluice.SecretUsers{} }
	}
	client := newClient(o.HTTP)
	return slices.Concat(convertCommands(), []command.Command{
		hashCommand(),
		hmacCommand(),
		setCommand(),
		logCommand(o.Log),
		assertCommand(),
		failCommand(),
		exitCommand(),
		waitCommand(),
		requestCommand(client),
		forwardCommand(client),
		sqlCommand(client),
		kafkaCommand(client),
		mailCommand(o.Mail),
		secretPutCommand(o.Secrets),
		secretGetCommand(o.Secrets, o.UsersOf),
		secretDeleteCommand(o.Secrets, o.UsersOf),
	})
}
