package signin

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"time"

	"sluice"
	"sluice/portal/page"
)

// tripTime is how long signing in at the provider may take.
const tripTime = 10 * time.Minute

// callback returns the URL that the provider sends browsers back to.
func callback(v *page.Visit) string { return v.BaseURL + "/signin/callback" }

// goToProvider sends a browser to the provider. A cookie holds what its return is
// checked with: so any node can do that, and strangers take no storage.
func goToProvider(v *page.Visit) error {
	if v.Provider == nil {
		return noProvider()
	}
	trip := url.Values{"next": {localPath(v.Query("next"))}}
	for _, name := range []string{"state", "nonce", "verifier"} {
		trip.Set(name, page.Random())
	}
	target, err := v.Provider.SignInURL(v.R.Context(), callback(v), trip.Get("state"), trip.Get("nonce"),
		trip.Get("verifier"))
	if err != nil {
		return err
	}
	v.SetCookie("signin", url.QueryEscape(trip.Encode()), tripTime)
	return v.Leave(target)
}

// returnFromProvider signs in a person whom the provider sends back with a code.
func returnFromProvider(v *page.Visit) error {
	if v.Provider == nil {
		return noProvider()
	}
	refuse := func(status int, problem string) error { return refuse(v, status, viewFor(""), problem) }
	text, _ := url.QueryUnescape(v.Cookie("signin"))
	trip, err := url.ParseQuery(text)
	v.SetCookie("signin", "", 0)
	state := trip.Get("state")
	if err != nil || state == "" || subtle.ConstantTimeCompare([]byte(state), []byte(v.Query("state"))) != 1 {
		return refuse(http.StatusBadRequest, "This sign-in was not begun in this browser, or too long ago. Try again.")
	}
	if v.Query("code") == "" {
		return refuse(http.StatusForbidden, "The identity provider did not sign you in.")
	}
	id, err := v.Provider.SignIn(v.R.Context(), callback(v), v.Query("code"), trip.Get("nonce"), trip.Get("verifier"))
	if err != nil {
		if !sluice.Unauthenticated.Is(err) {
			return err
		}
		return refuse(http.StatusForbidden, "The identity provider did not confirm who you are. Try again.")
	}
	session := sluice.PortalSession{Username: id.Username, External: true, Issuer: v.Issuer, Roles: id.Roles}
	return begin(v, session, localPath(trip.Get("next")))
}

func noProvider() error {
	return sluice.CodeNotFound.Errorf("People sign in here with a password.")
}
