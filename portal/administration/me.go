package administration

import (
	"net/http"
	"net/url"
	"slices"

	"sluice"
	"sluice/portal/page"
	"sluice/problem"
)

// A meView is the page about the signed-in user.
type meView struct {
	page.Form
	sluice.User

	InWords  string // what the permissions allow
	External bool   // an external provider has the password
}

func mePage(v *page.Visit) error {
	return showMe(v, http.StatusOK, nil)
}

func showMe(v *page.Visit, status int, failure error) error {
	user := v.User
	cmd, _ := v.Commands.Find("iam.password.set")
	view := meView{page.FormOf(cmd, url.Values{}, failure), user, InWords(v, user.AllPermissions()), v.Provider != nil}
	view.Drop("username")
	slices.Reverse(view.Fields) // people expect the current one first
	current, wanted := view.Find("current"), view.Find("password")
	current.Label, current.Help, current.Required = "Current password", "", true
	wanted.Label, wanted.Help = "New password", page.PasswordRule
	return v.ShowAs(status, "me", user.Name, view)
}

// setPassword sets the password of the signed-in user, which signs them out everywhere.
func setPassword(v *page.Visit) error {
	_, err := v.Run("iam.password.set", "password", v.Entered("password"), "current", v.Entered("current"))
	if err != nil {
		if !page.IsMistake(err) {
			return err
		}
		return showMe(v, problem.Status(err), err)
	}
	return v.Redirect("/")
}
