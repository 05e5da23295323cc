package step

import (
	"fmt"
	"slices"
	"strings"

	"sluice"
)

// SecretUsers are what fails without a secret, as far as sources tell.
type SecretUsers struct {
	Webhooks  []string `json:"webhooks,omitempty" doc:"Event keys of the webhooks whose calls may be signed with it."`
	Pipelines []string `json:"pipelines,omitempty" doc:"Pipelines whose source names it."`
}

// shownTo leaves out names that a user may not read elsewhere, and keeps how many
// there are.
func (u SecretUsers) shownTo(user sluice.User) SecretUsers {
	if !user.MayCall("webhook.get", true) {
		u.Webhooks = slices.Repeat([]string{"…"}, len(u.Webhooks))
	}
	if !user.MayCall("pipeline.get", true) {
		u.Pipelines = slices.Repeat([]string{"…"}, len(u.Pipelines))
	}
	return u
}

func (u SecretUsers) none() bool { return len(u.Webhooks)+len(u.Pipelines) == 0 }

// inUse is the error of a secret that is not deleted because of its users.
func (u SecretUsers) inUse(name string) error {
	var parts []string
	for _, users := range []struct {
		word  string
		names []string
	}{{"webhook", u.Webhooks}, {"pipeline", u.Pipelines}} {
		if len(users.names) > 0 {
			parts = append(parts, listed(users.word, users.names))
		}
	}
	return sluice.Errorf(sluice.CodeSecretInUse, "The secret %q is used by %s. Take it out there first; with force=true (--force) it is deleted all the same, and what has no other secret fails from then on.",
		name, strings.Join(parts, ", and by "))
}

// listed names some of several things in words.
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
