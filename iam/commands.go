package iam

import "sluice/command"

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
