package portal

import (
	"net/http"
	"net/url"

	"sluice"
	"sluice/problem"
)

// A meView is the page about the signed-in user.
type meView struct {
	form

	Username    string   `json:"username"`
	Roles       []string `json:"roles"`
	Permissions []string `json:"permissions"`
	External    bool     `json:"-"` // the password is an external provider's
}

func (p *Portal) me(w http.ResponseWriter, r *http.Request) error {
	return p.showMe(w, r, http.StatusOK, nil)
}

func (p *Portal) showMe(w http.ResponseWriter, r *http.Request, status int, failure error) error {
	user := sluice.UserFrom(r.Context())
	cmd, _ := p.Commands.Find("iam.password.set")
	view := meView{
		form: formOf(cmd, url.Values{}, failure), Username: user.Name, Roles: user.Roles, Permissions: user.Permissions,
		External: p.Provider != nil,
	}
	view.drop("username")
	for name, label := range map[string]string{"password": "New password", "current": "Current password"} {
		view.find(name).Label = label
	}
	view.find("current").Required = true
	return p.render(w, r, status, "me", user.Name, view)
}

// setPassword sets the password of the signed-in user. That signs them out
// everywhere, so they must sign in again.
func (p *Portal) setPassword(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r, maxSignIn); err != nil {
		return err
	}
	_, _, err := p.run(r, "iam.password.set", args("password", r.PostForm.Get("password"), "current", r.PostForm.Get("current")))
	if err != nil {
		if !isMistake(err) {
			return err
		}
		return p.showMe(w, r, problem.Status(err), err)
	}
	p.redirect(w, r, "/")
	return nil
}
