package iam

import (
	"sluice"
	"sluice/command"
)

// Commands returns the commands about users, roles, clients and the audit log.
func Commands(d *Directory, a *Authenticator) []command.Command {
	return []command.Command{
		command.New("iam.user.put", "Create a user, or edit the one of that name: what is not given keeps its value.",
			ofOurs(d, d.putUser), command.Global),
		command.New("iam.user.get", "List the users, or show the one of that name.", ofOurs(d, d.getUser),
			command.Lists[sluice.UserView], command.Global),
		command.Removing("iam.user.delete", "Delete a user: passwords and tokens of that user are refused from then "+
			"on, and so are pipelines of that user that switch users or use secrets, until another user stores them.",
			ofOurs(d, d.deleteUser), command.Global),
		command.New("iam.role.put", "Create a role, or edit the one of that name: what is not given keeps its "+
			"value. The change counts at once, also for tokens in use.", d.putRole, command.Global),
		command.New("iam.role.get", "List the roles with their permissions, or show the one of that name.", d.getRole,
			command.Lists[sluice.RoleView], command.Global),
		command.Removing("iam.role.delete", "Delete a role: users who have it lose its permissions. A built-in role "+
			"gets its original permissions back.", d.deleteRole, command.Global),
		command.New("iam.client.put", "Create an OAuth 2.0 client, or edit the one with that id. Its secret is "+
			"shown when it is made, and never again.", ofOurs(d, d.putClient), command.Global),
		command.New("iam.client.get", "List the OAuth 2.0 clients, or show the one with that id. Secrets are never "+
			"shown again.", ofOurs(d, d.getClient), command.Lists[sluice.OAuthClientView], command.Global),
		command.Removing("iam.client.delete", "Delete an OAuth 2.0 client: its secret and tokens are refused from "+
			"then on.", ofOurs(d, d.deleteClient), command.Global),
		command.New("iam.password.set", "Set your own password, or, with the permission iam.user.put, that of "+
			"another user.", ofOurs(d, d.setPassword), command.Nameless),
		command.New("iam.key.rotate", "Make a new key that signs tokens from now on. Tokens signed with earlier keys "+
			"stay valid until they expire.", ofOurs(d, d.rotateKey), command.Global),
		command.New("iam.whoami", "Show who you are and what you may do.", whoami, command.ReadOnly,
			command.Nameless),
		command.New("iam.run.as", "Run the following steps of a pipeline as another user, and pass the body on.",
			d.switchUser, command.Traffic, command.InRun, command.Nameless),
		command.New("iam.authorize", "Run the following steps of a pipeline as the user whom these credentials "+
			"belong to, and pass the body on. Rarely needed: the Authorization header of a call is better.",
			a.switchUser, command.Traffic, command.InRun, command.Nameless),
		command.New("audit.get", "Read the audit log, newest first: who did what to what, from where, and whether it "+
			"was allowed.", d.getAudit, command.ReadOnly, command.Global),
		command.New("audit.verify", "Check the hashes that chain the entries of the audit log, and tell where a "+
			"chain breaks: where an entry was changed, taken out or put in.", d.verifyAudit, command.ReadOnly,
			command.Global),
	}
}
