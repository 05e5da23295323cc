package administration

import (
	"net/url"
	"slices"

	"sluice"
	"sluice/command"
	"sluice/portal/page"
)

func resourceConfirm(v *page.Visit, res *resource) error {
	name := v.Named("item")
	thing, _, err := page.Read[map[string]any](v, res.Get, res.Key, name)
	if err != nil {
		return err
	}
	path := res.Page + "/" + url.PathEscape(name)
	asked := page.Confirmation{
		Name: name, What: res.One(), Effect: page.Typographic(res.Effect), Action: path + "/delete", Back: path,
	}
	for _, c := range res.Columns {
		if c.Name == "lastUsed" {
			used := cellOf(v, c, thing)
			asked.Used = &used
		}
	}
	if res.hit != nil {
		if asked.Hit, err = res.hit(v, name); err != nil {
			return err
		}
	}
	if thing["disabled"] == false && v.May(res.Put) {
		asked.Instead = &page.Instead{
			Label: "Disable the " + res.One() + " instead",
			About: "A disabled " + res.One() + " can’t sign in until someone enables the " + res.One() +
				" again; nothing else is lost.",
			Action: path,
			Name:   "disabled",
			Value:  "true",
		}
	}
	return v.Show("confirm", "Delete "+name, asked)
}

func resourceDelete(v *page.Visit, res *resource) error {
	given := page.Args(res.Key, v.Named("item"))
	if res.forced {
		given = append(given, page.Args("force", "true")...) // the confirmation has named what uses it
	}
	return v.RunThen(res.Page+"?done=deleted", res.Remove, given)
}

// pipelinesOf returns the pipelines that a user owns.
func pipelinesOf(v *page.Visit, username string) (*page.Consequence, error) {
	all, err := page.AskIfAllowed[command.Page[sluice.PipelineView]](v, "pipeline.get")
	var links []page.Link
	for _, one := range all.Items {
		if one.Owner == username && !one.Folder {
			links = append(links, page.Link{Name: one.Name, Path: "/pipelines/" + url.PathEscape(one.Name)})
		}
	}
	return page.ConsequenceOf("These pipelines run with this user’s permissions: they can’t switch users or use "+
		"secrets any more until someone else saves them.", links), err
}

// holdersOf returns the users and clients that have a role.
func holdersOf(v *page.Visit, role string) (*page.Consequence, error) {
	var links []page.Link
	for _, holders := range []struct{ get, key, path string }{
		{"iam.user.get", "username", "/users/"}, {"iam.client.get", "clientId", "/clients/"},
	} {
		if v.Provider != nil || !v.May(holders.get) {
			continue
		}
		things, _, err := page.Read[[]map[string]any](v, holders.get)
		if err != nil {
			return nil, err
		}
		for _, thing := range things {
			if name := text(thing[holders.key]); slices.Contains(texts(thing["roles"]), role) {
				links = append(links, page.Link{Name: name, Path: holders.path + url.PathEscape(name)})
			}
		}
	}
	return page.ConsequenceOf("These users and clients have the role:", links), nil
}

// usersOf returns the webhooks and pipelines that use a secret.
func usersOf(v *page.Visit, secret string) (*page.Consequence, error) {
	found, _, err := page.Read[struct {
		UsedBy struct{ Webhooks, Pipelines []string }
	}](v, "secret.get", "name", secret)
	links := make([]page.Link, 0, len(found.UsedBy.Webhooks)+len(found.UsedBy.Pipelines))
	for _, key := range found.UsedBy.Webhooks {
		links = append(links, page.Link{Name: key, Path: "/webhooks/" + url.PathEscape(key)})
	}
	for _, name := range found.UsedBy.Pipelines {
		links = append(links, page.Link{Name: name, Path: "/pipelines/" + url.PathEscape(name)})
	}
	return page.ConsequenceOf("These webhooks and pipelines use the secret, and fail if they have no other:", links),
		err
}
