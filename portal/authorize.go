package portal

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice"
)

// A question is the page that asks a person whether a program may act for them.
type question struct {
	Program string
	Here    bool   // it runs on the machine of the browser
	Host    string // where the answer goes
	Action  string // path that the form is posted to
	Again   string // path to sign in as someone else
	Roles   string
	InWords string // what the person, and so the program, may do
	Lasts   string // how long the program may act at most
}

// authorizePage asks the person, who must be signed in, whether a program may act for
// them. It never allows anything without a click: any program can send a browser here
// under another one's name.
//
// Whoever is not signed in learns nothing of the program, and is sent nowhere else, unless
// the program asks to be told without a page (prompt=none).
func (p *Portal) authorizePage(w http.ResponseWriter, r *http.Request) error {
	user, err := p.user(w, r)
	signedOut := err != nil && sluice.AsError(err).Kind == sluice.Unauthenticated
	if err != nil && !signedOut {
		return err
	}
	again := "/signin?next=" + url.QueryEscape(r.URL.Path+"?"+withoutPrompt(r.URL.RawQuery))
	if signedOut && p.Programs != nil && r.URL.Query().Get("prompt") != "none" {
		return p.redirect(w, r, again)
	}
	asked, err := p.asked(r)
	if err != nil {
		return err
	}
	if asked.Silent && asked.Refused == "" {
		asked.Refused = p.Programs.Deny(asked, "interaction_required", "The person has to be asked here.")
	}
	if asked.Refused != "" {
		http.Redirect(w, r, asked.Refused, http.StatusSeeOther)
		return nil
	}
	signedIn, err := p.signedInAt(r)
	if err != nil {
		return err
	}
	if signedOut || asked.SignIn || asked.MaxAge >= 0 && time.Since(signedIn) > asked.MaxAge {
		return p.redirect(w, r, again)
	}
	r = r.WithContext(sluice.WithUser(r.Context(), user))
	// Browsers apply form-action to the redirects after the form too, and those lead to
	// the program.
	w.Header().Set("Content-Security-Policy", strings.TrimSuffix(policy, "; form-action 'self'"))
	view := question{Program: asked.ClientID, Action: sluice.AuthorizePath + "?" + r.URL.RawQuery, Again: again, Roles: strings.Join(user.Roles, ", "), InWords: p.inWords(user.AllPermissions()), Lasts: longest(asked.Lasts)}
	if target, err := url.Parse(asked.Redirect); err == nil {
		view.Host, view.Here = target.Host, target.Scheme == "http"
	}
	return p.render(w, r, http.StatusOK, "authorize", "Let a program in", view)
}

// authorize sends the person's answer to the program.
func (p *Portal) authorize(w http.ResponseWriter, r *http.Request) error {
	asked, err := p.asked(r)
	if err != nil {
		return err
	}
	if err := readForm(w, r, maxSignIn); err != nil {
		return err
	}
	target := asked.Refused
	switch {
	case target != "":
	case r.PostForm.Get("answer") == "allow":
		signedIn, err := p.signedInAt(r)
		if err != nil {
			return err
		}
		if target, err = p.Programs.Allow(r.Context(), asked, sluice.UserFrom(r.Context()).Name, signedIn); err != nil {
			return err
		}
	default:
		target = p.Programs.Deny(asked, "access_denied", "The person has refused.")
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
	return nil
}

func (p *Portal) asked(r *http.Request) (sluice.Authorization, error) {
	if p.Programs == nil {
		return sluice.Authorization{}, sluice.Errorf(sluice.CodeNotFound, "Programs get their tokens at the identity provider.")
	}
	return p.Programs.Asked(r.Context(), r.URL.RawQuery)
}

// signedInAt returns when the person gave their password.
func (p *Portal) signedInAt(r *http.Request) (time.Time, error) {
	session, err := p.sessions.find(r, false)
	if err != nil || session == nil {
		return time.Time{}, err
	}
	return session.Created, nil
}

// withoutPrompt removes the demand to sign in again, which is about to be met.
func withoutPrompt(query string) string {
	values, err := url.ParseQuery(query)
	if err != nil {
		return query
	}
	values.Del("prompt")
	values.Del("max_age")
	return values.Encode()
}

// longest returns a duration in whole days, hours or minutes.
func longest(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		return plural(int(d/day), "day", "days")
	case d >= 2*time.Hour:
		return plural(int(d/time.Hour), "hour", "hours")
	}
	return plural(max(1, int(d/time.Minute)), "minute", "minutes")
}
