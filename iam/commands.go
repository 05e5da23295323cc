package iam

import (
	"context"
	"regexp"
	"slices"
	"time"

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
		auditGetCommand(d), auditVerifyCommand(d),
	}
}

var (
	validUsername = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$`)
	validRole     = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	validClient   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	permissions   = regexp.MustCompile(`^([A-Za-z0-9._@:+-]+\*?|\*)$`)
)

// ofOurs makes a command about users or clients refuse to run if they belong to an
// external provider: it would have no effect on who may call.
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

type me struct {
	Username    string   `json:"username"`
	Roles       []string `json:"roles"`
	Permissions []string `json:"permissions" doc:"What you may do, somewhere or everywhere."`

	Scopes []sluice.Grant `json:"scopes,omitempty" doc:"Where you may do what roles with a scope allow."`
}

func whoamiCommand() command.Command {
	return command.New("iam.whoami", "Show who you are and what you may do.",
		func(ctx context.Context, _ struct{}) (me, error) {
			user := sluice.UserFrom(ctx)
			shown := me{Username: user.Name, Roles: orEmpty(user.Roles), Permissions: orEmpty(user.AllPermissions())}
			if user.Scoped != nil {
				shown.Scopes = user.Scoped.All
			}
			return shown, nil
		}, command.ReadOnly, command.Nameless)
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

type authorizeParams struct {
	Authorization string `json:"authorization" required:"true" doc:"What would be the Authorization header: Basic, Bearer or Refresh, and the credentials."`
	Body          any    `json:"body" body:"default" doc:"What is passed on."`
}

func authorizeCommand(a *Authenticator) command.Command {
	return command.New("iam.authorize", "Run the following steps of a pipeline as the user whom these credentials belong to, and pass the body on. Rarely needed: the Authorization header of a call is better.",
		func(ctx context.Context, p authorizeParams) (any, error) {
			run := sluice.RunFrom(ctx)
			caller := sluice.UserFrom(ctx)
			user, _, err := a.Authorize(ctx, p.Authorization, caller.Address)
			if err != nil {
				return nil, err // the refusal is in the audit log
			}
			a.Directory.Note(ctx, sluice.AuditEntry{Username: user.Name, Address: caller.Address, Command: "iam.authorize", Target: run.Pipeline, Outcome: sluice.AuditAllowed, Access: true})
			user.Address = caller.Address
			run.Switch(user)
			return p.Body, nil
		}, command.Traffic, command.InRun, command.Nameless)
}

type keyRotated struct {
	KeyID   string    `json:"keyId"`
	Created time.Time `json:"created"`
}

func keyRotateCommand(d *Directory) command.Command {
	return command.New("iam.key.rotate", "Make a new key that signs tokens from now on. Tokens signed with earlier keys stay valid until they expire.",
		ofOurs(d, func(ctx context.Context, _ struct{}) (keyRotated, error) {
			id, created, err := d.RotateKey(ctx)
			return keyRotated{id, created}, err
		}), command.Global)
}
