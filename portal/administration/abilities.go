package administration

import (
	"slices"
	"strings"

	"sluice"
	"sluice/portal/page"
)

// areas are what people look after.
var areas = []struct {
	name, see string
	manage    []string // all permissions to change it; nil if nothing can be changed
}{
	{"webhooks", "webhook.get", []string{"webhook.put", "webhook.delete"}},
	{"pipelines", "pipeline.get", []string{"pipeline.put", "pipeline.delete"}},
	{"calls", "trace.get", nil},
	{"dead letters", "deadletter.get", []string{"deadletter.replay", "deadletter.delete"}},
	{"the quarantine", "quarantine.get", []string{"quarantine.admit", "quarantine.delete"}},
	{"secrets", "secret.get", []string{"secret.put", "secret.delete"}},
	{"users", "iam.user.get", []string{"iam.user.put", "iam.user.delete"}},
	{"roles", "iam.role.get", []string{"iam.role.put", "iam.role.delete"}},
	{"clients", "iam.client.get", []string{"iam.client.put", "iam.client.delete"}},
	{"the audit log", "audit.get", nil},
	{"the figures of the server", "server.stats", nil},
}

// abilities are what other permissions allow.
var abilities = []struct{ permission, words string }{
	{sluice.MaySeePayload, "read what callers have sent"},
	{sluice.MaySeeTokens, "see the tokens of webhooks"},
	{"event.replay", "replay events"},
	{"event.send", "send events"},
	{"pipeline.run", "run pipelines by hand"},
	{"http.request", "call other systems from pipelines"},
	{sluice.MayUseSecrets, "use secrets in pipelines"},
	{"server.backup", "take backups"},
	{sluice.MaySeeMetrics, "read metrics"},
}

// InWords describes what someone with these permissions can do.
func InWords(v *page.Visit, permissions []string) string {
	if slices.Contains(permissions, "*") {
		return "Everything."
	}
	holder := sluice.User{Permissions: permissions}
	var managed, seen, also []string
	for _, a := range areas {
		switch {
		case a.manage != nil &&
			!slices.ContainsFunc(a.manage, func(name string) bool { return !v.Allows(holder, name) }):
			managed = append(managed, a.name)
		case v.Allows(holder, a.see):
			seen = append(seen, a.name)
		}
	}
	for _, a := range abilities {
		if holder.May(a.permission) {
			also = append(also, a.words)
		}
	}
	var sentences []string
	for _, part := range []struct {
		verb  string
		words []string
	}{{"Manage ", managed}, {"See ", seen}, {"", also}} {
		if part.words != nil {
			sentence := part.verb + enumeration(part.words) + "."
			sentences = append(sentences, strings.ToUpper(sentence[:1])+sentence[1:])
		}
	}
	switch {
	case sentences != nil:
		return strings.Join(sentences, " ")
	case permissions != nil:
		return "Nothing in the portal; only " + enumeration(permissions) + "."
	}
	return "Nothing."
}

// enumeration joins words by commas and "and".
func enumeration(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
