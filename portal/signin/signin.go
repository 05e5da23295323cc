// Package signin has the pages where people sign in, here or at a provider, and where they let programs act
// for them.
package signin

import (
	"embed"
	"net/http"
	"net/url"
	"strings"

	"sluice"
	"sluice/portal/page"
	"sluice/problem"
)

//go:embed *.html
var templates embed.FS

// Add adds the pages to a site. A GET changes nothing, but for the link of the first start, which
// signs in.
func Add(s *page.Site) {
	s.Add(templates)
	s.Public("GET /signin", signInPage)
	s.Public("POST /signin", signIn)
	s.Public("GET "+page.LinkPath+"{code}", signInByLink)
	s.Public("GET /signin/provider", goToProvider)
	s.Public("GET /signin/callback", returnFromProvider)
	s.Public("GET "+sluice.AuthorizePath, authorizePage)
	s.Pages(map[string]page.Endpoint{"POST /signout": signOut, "POST " + sluice.AuthorizePath: authorize})
}

// A signInView is the form where people sign in.
type signInView struct {
	Next     string
	Username string
	Problem  string
	Program  bool // a program is waiting for permission
}

func signInPage(v *page.Visit) error {
	return v.Show("signin", "Sign in", viewFor(v.Query("next")))
}

// viewFor returns the form that leads to next.
func viewFor(next string) signInView {
	next = localPath(next)
	return signInView{Next: next, Program: strings.HasPrefix(next, sluice.AuthorizePath+"?")}
}

// refuse shows the form again, with what is wrong.
func refuse(v *page.Visit, status int, view signInView, problem string) error {
	view.Problem, v.Status = problem, status
	return v.Show("signin", "Sign in", view)
}

// localPath returns next if it is a path of this server, otherwise /.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Host != "" || u.Scheme != "" || u.User != nil || !strings.HasPrefix(next, "/") ||
		strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") || strings.HasPrefix(next, "/signin") {
		return "/"
	}
	return next
}

func signIn(v *page.Visit) error {
	if v.Login == nil {
		return sluice.CodeNotFound.Errorf("People sign in at the identity provider.")
	}
	const most = 16 << 10
	if err := v.ReadForm(most); err != nil {
		return err
	}
	view := viewFor(v.Entered("next"))
	view.Username = v.Entered("username")
	user, err := v.Login(v.R.Context(), view.Username, v.R.PostForm.Get("password"), v.R.RemoteAddr)
	if err == nil {
		return begin(v, sluice.PortalSession{Username: user.Name}, view.Next)
	}
	e := sluice.AsError(err)
	v.SetProblem(e)
	message := e.Message
	if e.Kind == sluice.Unauthenticated {
		message = "The username or the password is not right."
	}
	return refuse(v, problem.Status(e), view, message)
}

// signInByLink signs in whoever has the link that the first start printed.
func signInByLink(v *page.Visit) error {
	if v.R.Method != http.MethodGet { // HEAD must not use it up
		return sluice.CodeMethodNotAllowed.Errorf("This link signs in once, with GET.").Allowing(http.MethodGet)
	}
	username, err := v.UseLink(v.R.Context(), v.Named("code"))
	if err != nil {
		return err
	}
	if username == "" || v.Login == nil {
		const message = "This link was used, or is older than an hour. Sign in with your password."
		return refuse(v, http.StatusGone, viewFor("/"), message)
	}
	return begin(v, sluice.PortalSession{Username: username}, "/")
}

// begin starts the session of an authenticated person.
func begin(v *page.Visit, session sluice.PortalSession, next string) error {
	if err := v.Begin(session); err != nil {
		return err
	}
	note(v, session.Username, "login")
	return v.Redirect(next)
}

func signOut(v *page.Visit) error {
	if err := v.End(); err != nil {
		return err
	}
	v.SetCookie("session", "", 0)
	note(v, v.User.Name, "logout")
	return v.Redirect("/signin")
}

// note enters a sign-in or sign-out in the audit log.
func note(v *page.Visit, username, command string) {
	v.Note(v.R.Context(), sluice.AuditEntry{
		Username: username, Address: v.R.RemoteAddr, Command: command, Target: "portal",
		Outcome: sluice.AuditAllowed, Access: true,
	})
}
