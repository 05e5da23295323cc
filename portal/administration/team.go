package administration

import (
	"cmp"
	_ "embed"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/portal/page"
)

//go:embed team.yaml
var teamTable string

func teamPage(v *page.Visit) error { return showTeam(v, nil) }

// showTeam shows the page where people make a team: a role with a scope, and its members.
func showTeam(v *page.Visit, failure error) error {
	entered := v.R.PostForm
	var view page.Form
	page.Decode(teamTable, &view.Fields)
	for i := range view.Fields {
		at := &view.Fields[i]
		at.Value = cmp.Or(entered.Get(at.Name), at.Value)
	}
	view.Fields[0].Focus = failure == nil
	like := view.Find("like")
	for _, role := range page.Ask[[]sluice.RoleView](v, "iam.role.get") {
		if role.Name != sluice.AdminName && role.Name != sluice.AnonymousRole && len(role.Scope) == 0 {
			like.Choices = append(like.Choices, page.Choice{Value: role.Name, Label: role.Name})
		}
	}
	if v.Provider != nil || !v.May("iam.user.put") {
		view.Drop("members")
	} else {
		var offered []page.Choice
		for _, user := range page.Ask[[]sluice.UserView](v, "iam.user.get") {
			if user.Username != sluice.AnonymousName {
				offered = append(offered, page.Choice{
					Value: user.Username, Label: user.Username, Help: "now " +
						cmp.Or(strings.Join(user.Roles, ", "), "without a role"),
				})
			}
		}
		view.Find("members").Choose(offered, entered["members"])
	}
	view.Blame(failure)
	return v.Show("team", "New team", view)
}

// teamPut makes the role of a team, and gives it to the members.
func teamPut(v *page.Visit) error {
	role, err := makeTeam(v, v.R.PostForm)
	if err != nil {
		return v.Correct(err, showTeam)
	}
	return v.Redirect("/roles/" + url.PathEscape(role) + "?done=saved")
}

func makeTeam(v *page.Visit, entered url.Values) (role string, err error) {
	team := strings.TrimSpace(entered.Get("team"))
	if team == "" {
		return "", sluice.CodeParameterMissing.Errorf("A team needs a name.").About("team")
	}
	role = team + "-" + entered.Get("like")
	if _, err := v.Run("iam.role.get", "role", role); err == nil {
		return "", sluice.Code("role-taken").Errorf(
			"There is a role %s already. Choose another name, or open that role to change it.", role).
			OfKind(sluice.Conflict).About("team")
	}
	if _, err := v.Run("iam.role.put", "role", role, "like", entered.Get("like"),
		"scope", cmp.Or(strings.TrimSpace(entered.Get("scope")), team)); err != nil {
		if e := sluice.AsError(err); e.Parameter == "role" {
			return "", e.About("team")
		}
		return "", err
	}
	for _, name := range entered["members"] {
		if name == "" {
			continue
		}
		member, err := page.Try[sluice.UserView](v, "iam.user.get", "username", name)
		if err == nil {
			_, err = v.Run("iam.user.put", "username", name,
				"roles", strings.Join(append(slices.Clone(member.Roles), role), ","))
		}
		if err != nil {
			return "", sluice.AsError(err).
				Saying(fmt.Sprintf("The role %s is made, but %s does not have it: %s", role, name,
					sluice.AsError(err).Message)).About("members")
		}
	}
	return role, nil
}
