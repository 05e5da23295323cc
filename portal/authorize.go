package portal

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice"
)

// Programs is the issuer of tokens, for programs that a person lets act for
// them.
type Programs interface {
	// Asked reads what a program asks for. Errors are for the person.
	Asked(ctx context.Context, query string) (sluice.Authorization, error)

	// Allow and Deny return where the browser takes the answer.
	Allow(ctx context.Context, a sluice.Authorization, username string, signedIn time.Time) (string, error)
	Deny(a sluice.Authorization, reason, sentence string) string
}

// A question is the page on which a person is asked whether a program may act
// for them.
type question struct {
	Program string
	Here    bool   // it runs on the machine of the browser
	Host    string // of where the answer goes
	Action  string // where the answer is sent to
	Again   string // where the person signs in as someone else
	Roles   string
	InWords string // what they may do, and so could the program
	Lasts   string // how long the program may act for them, at most
}

// authorizePage asks whether a program may act for the person, who signs in
// first. Nothing is ever allowed without a click: any program can send a browser
// here, and say that it is another one.
func (p *Portal) authorizePage(w http.ResponseWriter, r *http.Request) error {
	asked, err := p.asked(r)
	if err != nil {
		return err
	}
	if asked.Refused != "" {
		http.Redirect(w, r, asked.Refused, http.StatusSeeOther)
		return nil
	}
	user, err := p.user(w, r)
	signedOut := err != nil && sluice.AsError(err).Kind == sluice.Unauthenticated
	if err != nil && !signedOut {
		return err
	}
	if asked.Silent {
		http.Redirect(w, r, p.Programs.Deny(asked, "interaction_required", "The person has to be asked here."), http.StatusSeeOther)
		return nil
	}
	signedIn, err := p.signedInAt(r)
	if err != nil {
		return err
	}
	again := "/signin?next=" + url.QueryEscape(r.URL.Path+"?"+withoutPrompt(r.URL.RawQuery))
	if signedOut || asked.SignIn || asked.MaxAge >= 0 && time.Since(signedIn) > asked.MaxAge {
		p.redirect(w, r, again)
		return nil
	}
	r = r.WithContext(sluice.WithUser(r.Context(), user))
	// A browser that follows the redirect after the form asks the policy of the
	// page once more, and where the program leads it to from there.
	w.Header().Set("Content-Security-Policy", strings.TrimSuffix(policy, "; form-action 'self'"))
	view := question{Program: asked.ClientID, Action: sluice.AuthorizePath + "?" + r.URL.RawQuery, Again: again, Roles: strings.Join(user.Roles, ", "), InWords: p.inWords(user.Permissions), Lasts: longest(asked.Lasts)}
	if target, err := url.Parse(asked.Redirect); err == nil {
		view.Host, view.Here = target.Host, target.Scheme == "http"
	}
	return p.render(w, r, http.StatusOK, "authorize", "Let a program in", view)
}

// authorize takes the person's answer to the program.
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
	session, err := p.sessions.find(r.Context(), r, false)
	if err != nil || session == nil {
		return time.Time{}, err
	}
	return session.Created, nil
}

// withoutPrompt returns a request that does not ask to sign in again: the person
// is about to.
func withoutPrompt(query string) string {
	values, err := url.ParseQuery(query)
	if err != nil {
		return query
	}
	values.Del("prompt")
	values.Del("max_age")
	return values.Encode()
}

// longest returns a time of days, hours or minutes in words.
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
