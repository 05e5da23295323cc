package step

import (
	"log/slog"
	"slices"

	"sluice/command"
)

// Options are what the steps need.
type Options struct {
	Log     *slog.Logger // of the command log; nil discards what it writes
	Secrets *Secrets
	UsersOf func(secret string) SecretUsers // nil: there are none
	HTTP    HTTPOptions
}

// Commands returns the built-in steps.
func Commands(o Options) []command.Command {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.UsersOf == nil {
		o.UsersOf = func(string) SecretUsers { return SecretUsers{} }
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
		secretPutCommand(o.Secrets),
		secretGetCommand(o.Secrets, o.UsersOf),
		secretDeleteCommand(o.Secrets, o.UsersOf),
	})
}
