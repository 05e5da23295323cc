package portal

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice"
	"sluice/problem"
)

// askToSignIn sends a browser to the sign-in page, which leads back to this one.
func (p *Portal) askToSignIn(w http.ResponseWriter, r *http.Request) error {
	target := "/signin"
	if r.Method == http.MethodGet && r.URL.Path != "/" && !strings.HasPrefix(r.URL.Path, sluice.LivePath) {
		target += "?next=" + url.QueryEscape(r.URL.RequestURI())
	}
	return p.redirect(w, r, target)
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

type signInForm struct {
	Next     string
	Username string
	Problem  string
	Provider bool
	Program  bool // a program is waiting for permission
}

func (p *Portal) signInPage(w http.ResponseWriter, r *http.Request) error {
	return p.render(w, r, http.StatusOK, "signin", "Sign in", p.signInForm(r.URL.Query().Get("next")))
}

func (p *Portal) signInForm(next string) signInForm {
	next = localPath(next)
	return signInForm{Next: next, Provider: p.Provider != nil, Program: strings.HasPrefix(next, sluice.AuthorizePath+"?")}
}

func (p *Portal) signIn(w http.ResponseWriter, r *http.Request) error {
	if p.Login == nil {
		return sluice.Errorf(sluice.CodeNotFound, "People sign in at the identity provider.")
	}
	if err := readForm(w, r, maxSignIn); err != nil {
		return err
	}
	form := p.signInForm(r.PostForm.Get("next"))
	form.Username = r.PostForm.Get("username")
	user, err := p.Login(r.Context(), form.Username, r.PostForm.Get("password"), r.RemoteAddr)
	if err != nil {
		e := sluice.AsError(err)
		form.Problem = e.Message
		if e.Kind == sluice.Unauthenticated {
			form.Problem = "The username or the password is not right."
		}
		problem.SetHeaders(w.Header(), r, e)
		w.Header().Del("WWW-Authenticate")
		return p.render(w, r, problem.Status(e), "signin", "Sign in", form)
	}
	return p.signedIn(w, r, sluice.PortalSession{Username: user.Name}, form.Next)
}

// linkPath leads to what signs in without a password, see NewLink.
const linkPath = "/signin/link/"

// signInByLink signs in whoever has the link that the first start printed.
func (p *Portal) signInByLink(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet {
		return sluice.Errorf(sluice.CodeMethodNotAllowed, "This link signs in once, with GET.").Allowing(http.MethodGet) // HEAD must not use it up
	}
	username, err := p.sessions.use(r.Context(), r.PathValue("code"))
	if err != nil {
		return err
	}
	if username == "" || p.Login == nil {
		form := p.signInForm("/")
		form.Problem = "This link was used, or is older than an hour. Sign in with your password."
		return p.render(w, r, http.StatusGone, "signin", "Sign in", form)
	}
	return p.signedIn(w, r, sluice.PortalSession{Username: username}, "/")
}

// signedIn starts the session of an authenticated person.
func (p *Portal) signedIn(w http.ResponseWriter, r *http.Request, session sluice.PortalSession, next string) error {
	if err := p.sessions.begin(w, r, session); err != nil {
		return err
	}
	p.Note(r.Context(), sluice.AuditEntry{Username: session.Username, Address: r.RemoteAddr, Command: "login", Target: "portal", Outcome: sluice.AuditAllowed, Access: true})
	return p.redirect(w, r, next)
}

func (p *Portal) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := sluice.Remove(r.Context(), p.Sessions, hashed(p.sessions.cookie(r, "session"))); err != nil {
		return err
	}
	p.sessions.setCookie(w, "session", "", 0)
	user := sluice.UserFrom(r.Context())
	p.Note(r.Context(), sluice.AuditEntry{Username: user.Name, Address: r.RemoteAddr, Command: "logout", Target: "portal", Outcome: sluice.AuditAllowed, Access: true})
	return p.redirect(w, r, "/signin")
}

// callback returns the URL that the provider sends browsers back to.
func (p *Portal) callback() string { return p.BaseURL + "/signin/callback" }

// goToProvider sends a browser to the provider. A cookie holds what its return is
// checked with: so any node can do that, and strangers take no storage.
func (p *Portal) goToProvider(w http.ResponseWriter, r *http.Request) error {
	if p.Provider == nil {
		return sluice.Errorf(sluice.CodeNotFound, "People sign in here with a password.")
	}
	trip := url.Values{"state": {random()}, "nonce": {random()}, "verifier": {random()}, "next": {localPath(r.URL.Query().Get("next"))}}
	target, err := p.Provider.SignInURL(r.Context(), p.callback(), trip.Get("state"), trip.Get("nonce"), trip.Get("verifier"))
	if err != nil {
		return err
	}
	p.sessions.setCookie(w, "signin", url.QueryEscape(trip.Encode()), signInTime)
	http.Redirect(w, r, target, http.StatusSeeOther)
	return nil
}

// returnFromProvider signs in a person whom the provider sends back with a code.
func (p *Portal) returnFromProvider(w http.ResponseWriter, r *http.Request) error {
	if p.Provider == nil {
		return sluice.Errorf(sluice.CodeNotFound, "People sign in here with a password.")
	}
	text, _ := url.QueryUnescape(p.sessions.cookie(r, "signin"))
	trip, err := url.ParseQuery(text)
	p.sessions.setCookie(w, "signin", "", 0)
	query := r.URL.Query()
	state := trip.Get("state")
	if err != nil || state == "" || subtle.ConstantTimeCompare([]byte(state), []byte(query.Get("state"))) != 1 {
		return p.notSignedIn(w, r, http.StatusBadRequest, "This sign-in was not begun in this browser, or too long ago. Try again.")
	}
	if query.Get("code") == "" {
		return p.notSignedIn(w, r, http.StatusForbidden, "The identity provider did not sign you in.")
	}
	id, err := p.Provider.SignIn(r.Context(), p.callback(), query.Get("code"), trip.Get("nonce"), trip.Get("verifier"))
	if err != nil {
		if sluice.AsError(err).Kind != sluice.Unauthenticated {
			return err
		}
		return p.notSignedIn(w, r, http.StatusForbidden, "The identity provider did not confirm who you are. Try again.")
	}
	session := sluice.PortalSession{Username: id.Username, External: true, Issuer: p.Issuer, Roles: id.Roles}
	return p.signedIn(w, r, session, localPath(trip.Get("next")))
}

func (p *Portal) notSignedIn(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	form := p.signInForm("")
	form.Problem = problem
	return p.render(w, r, status, "signin", "Sign in", form)
}

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
