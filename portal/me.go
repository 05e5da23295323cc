package portal

import (
	"net/http"
	"net/url"
	"slices"

	"sluice"
	"sluice/problem"
)

// A meView is the page about the signed-in user.
type meView struct {
	form
	sluice.User

	InWords  string // what the permissions allow
	External bool   // an external provider has the password
}

func (p *Portal) me(w http.ResponseWriter, r *http.Request) error {
	return p.showMe(w, r, http.StatusOK, nil)
}

func (p *Portal) showMe(w http.ResponseWriter, r *http.Request, status int, failure error) error {
	user := sluice.UserFrom(r.Context())
	cmd, _ := p.Commands.Find("iam.password.set")
	view := meView{formOf(cmd, url.Values{}, failure), user, p.inWords(user.AllPermissions()), p.Provider != nil}
	view.drop("username")
	slices.Reverse(view.Fields) // people expect the current one first
	current, wanted := view.find("current"), view.find("password")
	current.Label, current.Help, current.Required = "Current password", "", true
	wanted.Label, wanted.Help = "New password", passwordRule
	return p.render(w, r, status, "me", user.Name, view)
}

// setPassword sets the password of the signed-in user, which signs them out everywhere.
func (p *Portal) setPassword(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r, maxSignIn); err != nil {
		return err
	}
	_, err := p.run(r, "iam.password.set", args("password", r.PostForm.Get("password"), "current", r.PostForm.Get("current")))
	if err != nil {
		if !isMistake(err) {
			return err
		}
		return p.showMe(w, r, problem.Status(err), err)
	}
	return p.redirect(w, r, "/")
}
