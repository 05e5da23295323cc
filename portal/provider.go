package portal

import (
	"crypto/subtle"
	"net/http"
	"net/url"

	"sluice"
)

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
