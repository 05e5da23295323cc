package serve

import (
	"context"

	"sluice"
	"sluice/command"
)

// Offline calls pipeline.lint or pipeline.test on a source, without a server:
// they need nothing but the commands that this program knows.
func Offline(ctx context.Context, name, source string) (any, error) {
	commands := Commands()
	cmd, _ := commands.Find(name)
	ctx = sluice.WithUser(ctx, sluice.User{Permissions: []string{name}})
	return commands.Call(ctx, cmd, command.Args{{Name: "source", Value: source}})
}
