package oidc

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestRefreshTokenRotates(t *testing.T) {
	f := newFixture(t)
	first := f.login("openid profile")
	second := f.renew(first.str("refresh_token"))
	if second.status != http.StatusOK || second.str("refresh_token") == first.str("refresh_token") || second.str("id_token") == "" {
		t.Fatalf("%d %s", second.status, second.text)
	}
	for range 2 {
		if !f.acceptsRefresh(second.str("refresh_token")) {
			t.Error("the header Refresh must not end the session, nor use up the token")
		}
	}
	for _, r := range []reply{first, second} {
		if !f.accepts(r.str("access_token")) {
			t.Error("an access token of the session is refused")
		}
	}
	if third := f.renew(second.str("refresh_token")); third.status != http.StatusOK {
		t.Errorf("%d %s", third.status, third.text)
	}
}

// reuses are the ways in which a refresh token can be used again.
var reuses = map[string]func(*fixture, string){
	"token endpoint": func(f *fixture, token string) {
		f.t.Helper()
		if r := f.renew(token); r.status != 400 || r.str("error") != "invalid_grant" {
			f.t.Errorf("%d %s", r.status, r.text)
		}
	},
	"header": func(f *fixture, token string) {
		f.t.Helper()
		if f.acceptsRefresh(token) {
			f.t.Error("the token is accepted")
		}
	},
}

func TestReuseEndsTheFamily(t *testing.T) {
	for name, use := range reuses {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			other := f.login("")
			first := f.login("")
			second := f.renew(first.str("refresh_token"))
			third := f.renew(second.str("refresh_token"))
			use(f, first.str("refresh_token"))
			if r := f.renew(third.str("refresh_token")); r.status != 400 || r.str("error") != "invalid_grant" {
				t.Errorf("the newest token of the family still works: %d %s", r.status, r.text)
			}
			if f.accepts(first.str("access_token")) || f.accepts(third.str("access_token")) || f.acceptsRefresh(third.str("refresh_token")) {
				t.Error("a token of the family is still accepted")
			}
			if !f.accepts(other.str("access_token")) || !f.acceptsRefresh(other.str("refresh_token")) {
				t.Error("another session of the user has ended too")
			}
			use(f, first.str("refresh_token"))
			if len(f.endings) != 1 || f.endings[0].Username != userName || f.endings[0].ClientID != publicID || !f.endings[0].Reused {
				t.Errorf("told of %+v", f.endings)
			}
		})
	}
}

func TestMadeUpTokenEndsNothing(t *testing.T) {
	f := newFixture(t)
	first, other := f.login(""), f.login("")
	token := f.renew(first.str("refresh_token")).str("refresh_token")
	family, secret, _ := strings.Cut(token, ".")
	otherFamily, otherSecret, _ := strings.Cut(other.str("refresh_token"), ".")
	changed := []byte(secret)
	changed[0] ^= 'A' ^ 'B'
	for _, made := range []string{
		family + "." + random(secretSize),
		family + "." + otherSecret,
		otherFamily + "." + secret,
		family + "." + string(changed),
		newRefresh(family, nil),
		family + "." + random(nonceSize),
		family + ".",
		family,
	} {
		for name, use := range reuses {
			use(f, made)
			if !f.acceptsRefresh(token) || !f.acceptsRefresh(other.str("refresh_token")) {
				t.Fatalf("%s: the made-up token %s has ended the login", name, made)
			}
		}
		for _, endpoint := range []string{"revoke", "logout"} {
			f.post(endpoint, "client_id", publicID, "token", made, "refresh_token", made)
		}
	}
	if !f.acceptsRefresh(token) || !f.acceptsRefresh(other.str("refresh_token")) || f.endings != nil {
		t.Errorf("a made-up token has ended a login: %+v", f.endings)
	}
}

func TestReuseWithABadScopeEndsTheFamilyToo(t *testing.T) {
	f := newFixture(t)
	first := f.login("")
	second := f.renew(first.str("refresh_token"))
	if r := f.renew(first.str("refresh_token"), "scope", "openid"); r.str("error") != "invalid_grant" {
		t.Errorf("%d %s", r.status, r.text)
	}
	if f.accepts(second.str("access_token")) {
		t.Error("the family lives on")
	}
}

func TestSessionIDAloneEndsNothing(t *testing.T) {
	f := newFixture(t)
	r := f.login("")
	sid := decodePart(t, r.str("access_token"), 1)["sid"].(string)
	f.renew(sid + "." + random(secretSize))
	if !f.accepts(r.str("access_token")) {
		t.Error("who saw an access token could end its session")
	}
}

func TestOfParallelUsesOneWins(t *testing.T) {
	f := newFixture(t)
	token := f.login("").str("refresh_token")
	const parallel = 100
	answers := make(chan reply, parallel)
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() { answers <- f.renew(token) })
	}
	wg.Wait()
	close(answers)
	won := 0
	for r := range answers {
		switch {
		case r.status == http.StatusOK:
			won++
		case r.status != 400 || r.str("error") != "invalid_grant":
			t.Errorf("%d %s", r.status, r.text)
		}
	}
	if won != 1 {
		t.Errorf("%d uses won", won)
	}
	if n := len(f.Sessions.All()); n != 0 {
		t.Errorf("%d sessions are left after the reuse", n)
	}
}

func TestScopeCanOnlyNarrow(t *testing.T) {
	f := newFixture(t)
	r := f.login("openid profile")
	r = f.renew(r.str("refresh_token"), "scope", "profile")
	if r.status != http.StatusOK || r.str("scope") != "profile" || r.body["id_token"] != nil {
		t.Fatalf("%d %s", r.status, r.text)
	}
	// The new refresh token has the scope of the old one (RFC 6749, 6).
	r = f.renew(r.str("refresh_token"))
	if r.str("scope") != "openid profile" {
		t.Errorf("%d %s", r.status, r.text)
	}
	narrow := f.login("profile")
	if r := f.renew(narrow.str("refresh_token"), "scope", "openid profile"); r.status != 400 || r.str("error") != "invalid_scope" {
		t.Errorf("%d %s", r.status, r.text)
	}
	if r := f.renew(narrow.str("refresh_token")); r.status != http.StatusOK {
		t.Errorf("the refused request has used up the token: %d %s", r.status, r.text)
	}
}

func TestRefreshTokenBelongsToItsClient(t *testing.T) {
	f := newFixture(t)
	token := f.login("").str("refresh_token")
	r := f.post("token", "grant_type", "refresh_token", "client_id", secretID, "client_secret", robotSecret, "refresh_token", token)
	if r.status != 400 || r.str("error") != "invalid_grant" {
		t.Errorf("%d %s", r.status, r.text)
	}
	if r := f.renew(token); r.status != http.StatusOK {
		t.Errorf("the other client has used up the token: %d %s", r.status, r.text)
	}
}

func TestSessionEndsHoweverOftenItIsRefreshed(t *testing.T) {
	f := newFixture(t)
	r := f.login("")
	f.wait(f.RefreshTTL - 2*time.Minute)
	r = f.renew(r.str("refresh_token"))
	if r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.text)
	}
	if left := r.body["expires_in"].(float64); left < 60 || left > 120 {
		t.Errorf("the access token outlives its session: %v s", left)
	}
	if left := r.body["refresh_expires_in"].(float64); left < 60 || left > 120 {
		t.Errorf("the session was prolonged: %v s", left)
	}
	f.wait(2*time.Minute + time.Second)
	if f.acceptsRefresh(r.str("refresh_token")) || f.accepts(r.str("access_token")) {
		t.Error("a token outlives its session")
	}
	if r := f.renew(r.str("refresh_token")); r.status != 400 || r.str("error") != "invalid_grant" {
		t.Errorf("%d %s", r.status, r.text)
	}
}

func TestUserWhoIsGoneCantRefresh(t *testing.T) {
	f := newFixture(t)
	r := f.login("")
	f.directory.remove()
	if r := f.renew(r.str("refresh_token")); r.status != 400 || r.str("error") != "invalid_grant" {
		t.Errorf("%d %s", r.status, r.text)
	}
	f.directory.users[userName] = nil
	if f.acceptsRefresh(r.str("refresh_token")) {
		t.Error("the next user of that name inherits the session")
	}
}

func TestEndSessions(t *testing.T) {
	f := newFixture(t)
	mine := f.login("")
	f.directory.users["bert"] = nil
	other := f.post("token", "grant_type", "password", "client_id", publicID, "username", "bert", "password", userPassword)
	if err := EndSessions(t.Context(), f.Sessions, userName, ""); err != nil {
		t.Fatal(err)
	}
	if f.accepts(mine.str("access_token")) || f.acceptsRefresh(mine.str("refresh_token")) {
		t.Error("the session lives on")
	}
	if !f.accepts(other.str("access_token")) {
		t.Error("another user's session has ended")
	}
}

func TestStoredSessionHoldsNoToken(t *testing.T) {
	f := newFixture(t)
	token := f.renew(f.login("").str("refresh_token")).str("refresh_token")
	family, secret, _ := strings.Cut(token, ".")
	for _, s := range f.Sessions.All() {
		stored, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(stored), family) || strings.Contains(string(stored), secret) {
			t.Errorf("the session is %s", stored)
		}
		// What is stored, put together in any way, is no token.
		for _, family := range []string{s.ID, base64.RawURLEncoding.EncodeToString(s.MACKey)} {
			for _, made := range []string{family + "." + s.Hash, newRefresh(family, s.MACKey)} {
				if f.acceptsRefresh(made) || f.renew(made).status == http.StatusOK {
					t.Errorf("%s is accepted", made)
				}
			}
		}
	}
	if !f.acceptsRefresh(token) {
		t.Error("the true token is refused now")
	}
}
