package iam

import (
	"context"
	"regexp"

	"sluice"
	"sluice/command"
)

// Commands returns the commands about users, roles, clients and the audit log.
func Commands(d *Directory, a *Authenticator) []command.Command {
	return []command.Command{
		userPutCommand(d), userGetCommand(d), userDeleteCommand(d),
		rolePutCommand(d), roleGetCommand(d), roleDeleteCommand(d),
		clientPutCommand(d), clientGetCommand(d), clientDeleteCommand(d),
		passwordSetCommand(d),
		keyRotateCommand(d),
		whoamiCommand(),
		runAsCommand(d), authorizeCommand(a),
		auditGetCommand(d),
	}
}

var (
	validUsername = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$`)
	validRole     = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	validClient   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	permissions   = regexp.MustCompile(`^([A-Za-z0-9._@:+-]+\*?|\*)$`)
)

// ofOurs makes a command about users or clients refuse to run where they are an
// external provider's: what it did would have no effect on who may call.
func ofOurs[P, R any](d *Directory, run func(context.Context, P) (R, error)) func(context.Context, P) (R, error) {
	return func(ctx context.Context, p P) (R, error) {
		if d.External {
			var none R
			return none, sluice.Errorf(sluice.CodeExternalUsers, "Users, clients and passwords are those of the external identity provider; manage them there. Roles are managed here.")
		}
		return run(ctx, p)
	}
}

func notFound(code sluice.Code, what string) error {
	return sluice.Errorf(code, "There is no %s.", what)
}

func builtin(what string) error {
	return sluice.Errorf(sluice.CodeBuiltIn, "%s is built in and stays as it is.", what)
}
