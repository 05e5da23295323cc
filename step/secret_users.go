package step

import (
	"fmt"
	"slices"
	"strings"

	"sluice"
)

// showUsers hides names that a user may not read elsewhere, but not how many there are:
// the secret is not deleted while they use it.
func showUsers(users sluice.SecretUsers, to sluice.User) sluice.SecretUsers {
	return sluice.SecretUsers{
		Webhooks:  hideUnless(to.CoverOf("webhook.get", true).Event, users.Webhooks),
		Pipelines: hideUnless(to.CoverOf("pipeline.get", true).Name, users.Pipelines),
	}
}

func hideUnless(covered func(string) bool, names []string) []string {
	names = slices.Clone(names)
	for i, name := range names {
		if !covered(name) {
			names[i] = "…"
		}
	}
	return names
}

func isUnused(users sluice.SecretUsers) bool { return len(users.Webhooks)+len(users.Pipelines) == 0 }

// inUse is the error of deleting a secret that has users.
func inUse(name string, u sluice.SecretUsers) error {
	var parts []string
	if len(u.Webhooks) > 0 {
		parts = append(parts, listed("webhook", u.Webhooks))
	}
	if len(u.Pipelines) > 0 {
		parts = append(parts, listed("pipeline", u.Pipelines))
	}
	return sluice.CodeSecretInUse.Errorf("The secret %q is used by %s. Take it out there first; with "+
		"force=true (--force) it is deleted all the same, and what has no other secret fails from then on.",
		name, strings.Join(parts, ", and by "))
}

// listed names up to three things, and how many more there are.
func listed(word string, names []string) string {
	const most = 3
	if len(names) > 1 {
		word += "s"
	}
	text := "the " + word + " " + strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
