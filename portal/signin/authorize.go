package signin

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice/portal/administration"
	"sluice/portal/page"

	"sluice"
)

// An authorizeView is the page that asks a person whether a program may act for them.
type authorizeView struct {
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
// Whoever is not signed in learns nothing of the program, and is sent nowhere else. A program
// that wants no page (prompt=none) gets no answer then: 400, whoever it is.
func authorizePage(v *page.Visit) error {
	err := v.SignedIn()
	signedOut := sluice.Unauthenticated.Is(err)
	if err != nil && !signedOut {
		return err
	}
	again := "/signin?next=" + url.QueryEscape(v.R.URL.Path+"?"+withoutPrompt(v.R.URL.RawQuery))
	if signedOut && v.Programs != nil {
		if slices.Contains(strings.Fields(v.Query("prompt")), "none") {
			return sluice.CodeLoginRequired.Errorf("Nobody is signed in here, and the program wants no page.")
		}
		return v.Redirect(again)
	}
	asked, err := askedBy(v)
	if err != nil {
		return err
	}
	if asked.Silent && asked.Refused == "" {
		asked.Refused = v.Programs.Deny(asked, "interaction_required", "The person has to be asked here.")
	}
	if asked.Refused != "" {
		return v.Leave(asked.Refused)
	}
	signedIn, err := signedInAt(v)
	if err != nil {
		return err
	}
	if signedOut || asked.SignIn || asked.MaxAge >= 0 && time.Since(signedIn) > asked.MaxAge {
		return v.Redirect(again)
	}
	return ask(v, asked, again)
}

// ask shows what a program asks for.
func ask(v *page.Visit, asked sluice.Authorization, again string) error {
	v.LetFormsLeave()
	view := authorizeView{
		Program: asked.ClientID, Action: sluice.AuthorizePath + "?" + v.R.URL.RawQuery, Again: again,
		Roles: strings.Join(v.User.Roles, ", "), InWords: administration.InWords(v, v.User.AllPermissions()),
		Lasts: longest(asked.Lasts),
	}
	if target, err := url.Parse(asked.Redirect); err == nil {
		view.Host, view.Here = target.Host, target.Scheme == "http"
	}
	return v.Show("authorize", "Let a program in", view)
}

// authorize sends the person's answer to the program.
func authorize(v *page.Visit) error {
	asked, err := askedBy(v)
	if err != nil {
		return err
	}
	if asked.Refused != "" {
		return v.Leave(asked.Refused)
	}
	if v.Entered("answer") != "allow" {
		return v.Leave(v.Programs.Deny(asked, "access_denied", "The person has refused."))
	}
	signedIn, err := signedInAt(v)
	if err != nil {
		return err
	}
	target, err := v.Programs.Allow(v.R.Context(), asked, v.User.Name, signedIn)
	v.Fail(err)
	return v.Leave(target)
}

func askedBy(v *page.Visit) (sluice.Authorization, error) {
	if v.Programs == nil {
		return sluice.Authorization{},
			sluice.CodeNotFound.Errorf("Programs get their tokens at the identity provider.")
	}
	return v.Programs.Asked(v.R.Context(), v.R.URL.RawQuery)
}

// signedInAt returns when the person gave their password.
func signedInAt(v *page.Visit) (time.Time, error) {
	session, err := v.Session()
	return cmp.Or(session, new(sluice.PortalSession)).Created, err
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
		return page.Plural(int(d/day), "day", "days")
	case d >= 2*time.Hour:
		return page.Plural(int(d/time.Hour), "hour", "hours")
	}
	return page.Plural(max(1, int(d/time.Minute)), "minute", "minutes")
}
