package iam

import (
	"context"
	"slices"

	"sluice"
	"sluice/command"
)

type me struct {
	Username    string   `json:"username"`
	Roles       []string `json:"roles"`
	Permissions []string `json:"permissions"`
}

func whoamiCommand() command.Command {
	return command.New("iam.whoami", "Show who you are and what you may do.",
		func(ctx context.Context, _ struct{}) (me, error) {
			user := sluice.UserFrom(ctx)
			return me{user.Name, orEmpty(user.Roles), orEmpty(user.Permissions)}, nil
		}, command.ReadOnly)
}

// distinct returns the items of a list in order, each once.
func distinct(list []string) []string {
	return orEmpty(slices.Compact(slices.Sorted(slices.Values(list))))
}

// orEmpty makes a list show as [] rather than null.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
