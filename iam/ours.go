package iam

import (
	"context"

	"sluice"
)

// ofOurs makes a command about users or clients refuse to run if those are an external
// provider's: it would have no effect on who may call.
func ofOurs[P, R any](d *Directory, run func(context.Context, P) (R, error)) func(context.Context, P) (R, error) {
	return func(ctx context.Context, p P) (R, error) {
		if d.External {
			var none R
			return none, sluice.CodeExternalUsers.Errorf("Users, clients and passwords are those of the " +
				"external identity provider; manage them there. Roles are managed here.")
		}
		return run(ctx, p)
	}
}

func builtin(what string) error {
	return sluice.CodeBuiltIn.Errorf("%s is built in and stays as it is.", what)
}
