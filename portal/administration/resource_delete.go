package administration

import (
	"cmp"
	"net/url"
	"slices"

	"sluice"
	"sluice/portal/page"
)

func resourceConfirm(v *page.Visit, res *resource) error {
	name := v.Named("item")
	thing, err := v.Run(res.Get, res.Key, name)
	v.Fail(err)
	path := res.Page + "/" + url.PathEscape(name)
	asked := page.Confirmation{
		Name: name, What: res.One(), Effect: page.Typographic(res.Effect), Back: path,
	}
	if res.Used {
		asked.Used = thing
	}
	switch thing := thing.(type) {
	case sluice.UserView:
		asked.Hit = pipelinesOf(v, name)
		if !thing.Disabled && v.May(res.Put) {
			asked.Instead = &page.Instead{
				Label:  "Disable the user instead",
				About:  "A disabled user can’t sign in until someone enables the user again; nothing else is lost.",
				Action: path,
				Name:   "disabled",
				Value:  "true",
			}
		}
	case sluice.RoleView:
		asked.Hit = holdersOf(v, name)
	case sluice.SecretView:
		uses := cmp.Or(thing.UsedBy, new(sluice.SecretUsers))
		asked.Hit = page.ConsequenceOf("These webhooks and pipelines use the secret, and fail if they have no other:",
			slices.Concat(links("/webhooks/", uses.Webhooks), links("/pipelines/", uses.Pipelines)))
	}
	return v.Show("confirm", "Delete "+name, asked)
}

func resourceDelete(v *page.Visit, res *resource) error {
	given := page.Args(res.Key, v.Named("item"))
	if res.Forced {
		given = append(given, page.Args("force", "true")...) // the confirmation has named what uses it
	}
	return v.RunThen(res.Page+"?done=deleted", res.Remove, given)
}

// links leads to the pages of some things.
func links(path string, names []string) (all []page.Link) {
	for _, name := range names {
		all = append(all, page.Link{Name: name, Path: path + url.PathEscape(name)})
	}
	return all
}

// pipelinesOf returns the pipelines that a user owns.
func pipelinesOf(v *page.Visit, username string) *page.Consequence {
	var names []string
	for _, one := range page.AskIfAllowed[[]sluice.PipelineView](v, "pipeline.get") {
		if one.Owner == username && !one.Folder {
			names = append(names, one.Name)
		}
	}
	return page.ConsequenceOf("These pipelines run with this user’s permissions: they can’t switch users or use "+
		"secrets any more until someone else saves them.", links("/pipelines/", names))
}

// holdersOf returns the users and clients that have a role.
func holdersOf(v *page.Visit, role string) *page.Consequence {
	if v.Provider != nil {
		return nil
	}
	var users, clients []string
	for _, user := range page.AskIfAllowed[[]sluice.UserView](v, "iam.user.get") {
		if slices.Contains(user.Roles, role) {
			users = append(users, user.Username)
		}
	}
	for _, client := range page.AskIfAllowed[[]sluice.OAuthClientView](v, "iam.client.get") {
		if slices.Contains(client.Roles, role) {
			clients = append(clients, client.ClientID)
		}
	}
	return page.ConsequenceOf("These users and clients have the role:",
		slices.Concat(links("/users/", users), links("/clients/", clients)))
}
