package portal

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"sluice"
	"sluice/command"
)

// A consequence is what else a deletion affects.
type consequence struct {
	Words string
	Links []link
	More  int // how many are not listed
}

// maxHit bounds the links of a consequence.
const maxHit = 20

func consequenceOf(words string, links []link) *consequence {
	if len(links) == 0 {
		return nil
	}
	shown := links[:min(len(links), maxHit)]
	return &consequence{words, shown, len(links) - len(shown)}
}

// pipelinesOf returns the pipelines that a user owns.
func pipelinesOf(p *Portal, r *http.Request, username string) (*consequence, error) {
	all, err := askIfAllowed[command.Page[sluice.PipelineView]](p, r, "pipeline.get", nil)
	var links []link
	for _, one := range all.Items {
		if one.Owner == username && !one.Folder {
			links = append(links, link{Name: one.Name, Path: "/pipelines/" + url.PathEscape(one.Name)})
		}
	}
	return consequenceOf("These pipelines run with this user’s permissions: they can’t switch users or use secrets any more until someone else saves them.", links), err
}

// holdersOf returns the users and clients that have a role.
func holdersOf(p *Portal, r *http.Request, role string) (*consequence, error) {
	var links []link
	for _, holders := range []struct{ get, key, path string }{{"iam.user.get", "username", "/users/"}, {"iam.client.get", "clientId", "/clients/"}} {
		if p.Provider != nil || !p.allows(r, holders.get) {
			continue
		}
		things, _, err := read[[]map[string]any](p, r, holders.get, nil)
		if err != nil {
			return nil, err
		}
		for _, thing := range things {
			if name := text(thing[holders.key]); slices.Contains(strs(thing["roles"]), role) {
				links = append(links, link{Name: name, Path: holders.path + url.PathEscape(name)})
			}
		}
	}
	return consequenceOf("These users and clients have the role:", links), nil
}

// usersOf returns the webhooks and pipelines that use a secret.
func usersOf(p *Portal, r *http.Request, secret string) (*consequence, error) {
	shown, _, err := read[struct {
		UsedBy struct{ Webhooks, Pipelines []string }
	}](p, r, "secret.get", args("name", secret))
	links := make([]link, 0, len(shown.UsedBy.Webhooks)+len(shown.UsedBy.Pipelines))
	for _, key := range shown.UsedBy.Webhooks {
		links = append(links, link{Name: key, Path: "/webhooks/" + url.PathEscape(key)})
	}
	for _, name := range shown.UsedBy.Pipelines {
		links = append(links, link{Name: name, Path: "/pipelines/" + url.PathEscape(name)})
	}
	return consequenceOf("These webhooks and pipelines use the secret, and fail if they have no other:", links), err
}

// A confirmation asks before something is deleted.
type confirmation struct {
	Verb   string // "": delete
	Name   string
	What   string // the word for it
	Effect string
	Used   *resourceCell // when it was last used; nil if unknown
	Hit    *consequence  // nil if nothing else is affected
	Action string        // path
	Back   string        // path

	// For several things of a list: the form's field for them, and its values.
	Several bool
	Field   string
	Values  []string
	Code    string // which they failed with, if that selects them

	Instead *instead // something that can be undone; nil if there is nothing
}

// An instead is an alternative to deleting something.
type instead struct {
	Label       string
	About       string
	Action      string // path
	Name, Value string // of the form
}

// A resourceCell is a time, or a text if the time is zero.
type resourceCell struct {
	Title, Text string
	Time        time.Time
	Bad         bool   // the text needs attention
	Class       string // in a list
}
