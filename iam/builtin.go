package iam

import (
	"strings"

	"sluice"
)

// Names of clients.
const (
	clientName   = "sluice"  // the public client of the command line and of people
	clientPrefix = "client:" // before the id of a client that calls for itself: no user has such a name
)

// builtinRoles are there from the start. All but admin can be redefined.
var builtinRoles = map[string][]string{
	sluice.AdminName: {"*"},
	"developer": strings.Fields("webhook.* pipeline.* event.get event.listen event.receive event.send event.replay " +
		"event.retry message.* result.* trace.* deadletter.* secret.* quarantine.* provider.get alert.* work work.* " +
		"convert.* log set assert fail exit wait http.request http.forward sql.exec kafka.send mail.send crypto.* " +
		"iam.whoami iam.password.set iam.run.as iam.authorize server.info server.stats server.closed"),
	"viewer": strings.Fields(viewing),
	"support": strings.Fields(viewing + " " + sluice.MaySeePayload +
		" event.replay event.retry deadletter.* quarantine.* alert.mute work.*"),
	sluice.AnonymousRole: strings.Fields("log set assert fail exit wait work convert.* crypto.* " +
		sluice.ReceiveCommand +
		" iam.whoami iam.run.as iam.authorize"),
}

// viewing shows webhooks, pipelines, calls and figures, but no payloads, users, clients,
// secrets or audit log.
const viewing = "webhook.get webhook.stats provider.get pipeline.get pipeline.stats pipeline.versions pipeline.lint " +
	"pipeline.test trace.get deadletter.get deadletter.groups quarantine.get alert.get server.info server.stats " +
	"server.closed convert.* crypto.* iam.whoami iam.password.set"

// orBuiltIn returns a stored role, or the built-in one of that name if none is stored.
func orBuiltIn(name string, stored *sluice.Role) *sluice.Role {
	if permissions := builtinRoles[name]; stored == nil && permissions != nil {
		return &sluice.Role{Name: name, Permissions: permissions}
	}
	return stored
}
