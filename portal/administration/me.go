package administration

import (
	"slices"

	"sluice"
	"sluice/portal/page"
)

// A meView is the page about the signed-in user.
type meView struct {
	page.Form
	sluice.User

	InWords string // what the permissions allow
}

func mePage(v *page.Visit) error { return showMe(v, nil) }

func showMe(v *page.Visit, failure error) error {
	cmd, _ := v.Commands.Find("iam.password.set")
	view := meView{page.FormOf(cmd, nil, failure), v.User, InWords(v, v.User.AllPermissions())}
	view.Drop("username")
	slices.Reverse(view.Fields) // people expect the current one first
	current, wanted := view.Find("current"), view.Find("password")
	current.Label, current.Help, current.Required = "Current password", "", true
	wanted.Label, wanted.Help = "New password", page.PasswordRule
	return v.Show("me", v.User.Name, view)
}

// setPassword sets the password of the signed-in user, which signs them out everywhere.
func setPassword(v *page.Visit) error {
	_, err := v.Run("iam.password.set", "password", v.Entered("password"), "current", v.Entered("current"))
	if err != nil {
		return v.Correct(err, showMe)
	}
	return v.Redirect("/")
}
