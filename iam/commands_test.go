package iam

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice"
	"sluice/command"
)

func TestAUserIsCreatedEditedAndDeleted(t *testing.T) {
	d := newDirectory(t)
	made := must(t, d, "admin", "iam.user.put", `{"username":"ada","password":"correct horse","roles":["developer","viewer","viewer"]}`)
	if made["username"] != "ada" || len(made["roles"].([]any)) != 2 || made["password"] != nil || made["warnings"] != nil {
		t.Errorf("a new user is shown as %v", made)
	}
	if _, err := d.Login(t.Context(), "ada", "correct horse", "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	edited := must(t, d, "admin", "iam.user.put", `{"username":"ada","disabled":true}`)
	if edited["disabled"] != true || len(edited["roles"].([]any)) != 2 || edited["created"] != made["created"] {
		t.Errorf("an edit made it %v", edited)
	}
	_, err := d.Login(t.Context(), "ada", "correct horse", "192.0.2.1")
	wantCode(t, err, sluice.Unauthenticated, "authorization-invalid")
	must(t, d, "admin", "iam.user.delete", `{"username":"ada"}`)
	_, err = call(t, d, "admin", "iam.user.get", `{"username":"ada"}`)
	wantCode(t, err, sluice.NotFound, "user-not-found")
	_, err = call(t, d, "admin", "iam.user.delete", `{"username":"ada"}`)
	wantCode(t, err, sluice.NotFound, "user-not-found")
}

func TestBadUsersRolesAndClientsAreRefused(t *testing.T) {
	d := newDirectory(t)
	tests := map[string]struct {
		command, arguments string
		kind               sluice.Kind
		code               string
	}{
		"a colon in a name":           {"iam.user.put", `{"username":"a:b"}`, sluice.Invalid, "parameter-invalid"},
		"an empty name":               {"iam.user.put", `{"username":""}`, sluice.Invalid, "parameter-invalid"},
		"a control character":         {"iam.user.put", `{"username":"a\u0000"}`, sluice.Invalid, "parameter-invalid"},
		"a role that is not there":    {"iam.user.put", `{"username":"ada","roles":["king"]}`, sluice.Invalid, "parameter-invalid"},
		"an empty password":           {"iam.user.put", `{"username":"ada","password":""}`, sluice.Invalid, "parameter-invalid"},
		"the anonymous user":          {"iam.user.put", `{"username":"anonymousUser","password":"x"}`, sluice.Conflict, "built-in"},
		"without the anonymous user":  {"iam.user.delete", `{"username":"anonymousUser"}`, sluice.Conflict, "built-in"},
		"another admin role":          {"iam.role.put", `{"role":"admin","permissions":[]}`, sluice.Conflict, "built-in"},
		"no admin role":               {"iam.role.delete", `{"role":"admin"}`, sluice.Conflict, "built-in"},
		"a role to delete":            {"iam.role.delete", `{"role":"king"}`, sluice.NotFound, "role-not-found"},
		"a star in the middle":        {"iam.role.put", `{"role":"king","permissions":["web*.get"]}`, sluice.Invalid, "parameter-invalid"},
		"a role in upper case":        {"iam.role.put", `{"role":"King","permissions":["log"]}`, sluice.Invalid, "parameter-invalid"},
		"a user who looks like admin": {"iam.user.put", `{"username":"Admin"}`, sluice.Conflict, "username-taken"},
		"one who looks like no one":   {"iam.user.put", `{"username":"AnonymousUser"}`, sluice.Conflict, "built-in"},
		"the client of the house":     {"iam.client.put", `{"clientId":"sluice"}`, sluice.Conflict, "built-in"},
		"a grant that is not there":   {"iam.client.put", `{"clientId":"ci","grants":["implicit"]}`, sluice.Invalid, "parameter-invalid"},
		"a client that is not there":  {"iam.client.get", `{"clientId":"ci"}`, sluice.NotFound, "client-not-found"},
		"a redirect to anywhere":      {"iam.client.put", `{"clientId":"ci","redirectUris":["https://*.example.org"]}`, sluice.Invalid, "parameter-invalid"},
		"a redirect by plain HTTP":    {"iam.client.put", `{"clientId":"ci","redirectUris":["http://app.example.org/cb"]}`, sluice.Invalid, "parameter-invalid"},
		"own tokens without a secret": {"iam.client.put", `{"clientId":"ci","public":true,"grants":["client_credentials"]}`, sluice.Invalid, "parameter-invalid"},
		"a new secret for none":       {"iam.client.put", `{"clientId":"ci","public":true,"renew":true}`, sluice.Invalid, "parameter-invalid"},
		"a client id with a space":    {"iam.client.put", `{"clientId":"c i"}`, sluice.Invalid, "parameter-invalid"},
		"a password for nobody":       {"iam.password.set", `{"username":"nobody","password":"correct horse"}`, sluice.NotFound, "user-not-found"},
		"one's own without the old":   {"iam.password.set", `{"password":"another one"}`, sluice.Invalid, "parameter-missing"},
		"one's own with a wrong old":  {"iam.password.set", `{"password":"another one","current":"no"}`, sluice.Forbidden, "password-wrong"},
		"a time that is none":         {"audit.get", `{"from":"yesterday"}`, sluice.Invalid, "parameter-invalid"},
		"a cursor that is none":       {"audit.get", `{"after":"x"}`, sluice.Invalid, "parameter-invalid"},
		"the last admin deleted":      {"iam.user.delete", `{"username":"admin"}`, sluice.Conflict, "last-admin"},
		"the last admin disabled":     {"iam.user.put", `{"username":"admin","disabled":true}`, sluice.Conflict, "last-admin"},
		"the last admin without role": {"iam.user.put", `{"username":"admin","roles":["viewer"]}`, sluice.Conflict, "last-admin"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := call(t, d, "admin", test.command, test.arguments)
			wantCode(t, err, test.kind, test.code)
		})
	}
}

func TestTheLastAdminMayGoAfterAnotherCame(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.user.put", `{"username":"eve","roles":["admin"]}`)
	_, err := call(t, d, "admin", "iam.user.delete", `{"username":"admin"}`)
	wantCode(t, err, sluice.Conflict, "last-admin") // eve has no password
	must(t, d, "admin", "iam.user.put", `{"username":"eve","password":"correct horse"}`)
	must(t, d, "eve", "iam.user.delete", `{"username":"admin"}`)
}

func TestNobodyReachesFurtherThanTheirOwnPermissions(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.role.put", `{"role":"helpdesk","permissions":["iam.*","webhook.get"]}`)
	must(t, d, "admin", "iam.user.put", `{"username":"hal","password":"correct horse","roles":["helpdesk"]}`)
	must(t, d, "admin", "iam.user.put", `{"username":"dev","password":"correct horse","roles":["developer"]}`)
	for name, test := range map[string][2]string{
		"make an admin":            {"iam.user.put", `{"username":"new","roles":["admin"]}`},
		"promote oneself":          {"iam.user.put", `{"username":"hal","roles":["admin"]}`},
		"set the admin's password": {"iam.password.set", `{"username":"admin","password":"mine now"}`},
		"edit the admin":           {"iam.user.put", `{"username":"admin","password":"mine now"}`},
		"delete a developer":       {"iam.user.delete", `{"username":"dev"}`},
		"widen a role":             {"iam.role.put", `{"role":"helpdesk","permissions":["*"]}`},
		"cripple another's role":   {"iam.role.put", `{"role":"developer","permissions":["webhook.get"]}`},
		"a client that is admin":   {"iam.client.put", `{"clientId":"ci","roles":["admin"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := call(t, d, "hal", test[0], test[1])
			wantCode(t, err, sluice.Forbidden, "forbidden")
		})
	}
	must(t, d, "hal", "iam.user.put", `{"username":"new","roles":["helpdesk"]}`)
}

func TestAChangedRoleCountsAtOnce(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.role.put", `{"role":"auditor","permissions":["audit.get"]}`)
	must(t, d, "admin", "iam.user.put", `{"username":"ada","roles":["auditor"]}`)
	must(t, d, "ada", "audit.get", `{}`)
	must(t, d, "admin", "iam.role.put", `{"role":"auditor","permissions":["iam.whoami"]}`)
	_, err := call(t, d, "ada", "audit.get", `{}`)
	wantCode(t, err, sluice.Forbidden, "forbidden")
	must(t, d, "admin", "iam.role.delete", `{"role":"auditor"}`)
	_, err = call(t, d, "ada", "iam.whoami", `{}`)
	wantCode(t, err, sluice.Forbidden, "forbidden")
}

func TestDefaultRoles(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.user.put", `{"username":"dev","roles":["developer"]}`)
	must(t, d, "admin", "iam.user.put", `{"username":"vi","roles":["viewer"]}`)
	must(t, d, "admin", "iam.user.put", `{"username":"sue","roles":["support"]}`)
	for username, want := range map[string]map[string]bool{
		"dev":                {"webhook.put": true, "webhook.token": true, "pipeline.put": true, "trace.payload": true, "iam.user.put": false, "audit.get": false, "server.backup": false, "iam.key.rotate": false},
		"vi":                 {"webhook.get": true, "pipeline.get": true, "trace.get": true, "server.stats": true, "webhook.put": false, "webhook.token": false, "trace.payload": false, "iam.user.get": false, "iam.client.get": false, "secret.get": false, "audit.get": false, "deadletter.replay": false},
		"sue":                {"webhook.get": true, "trace.payload": true, "event.replay": true, "deadletter.replay": true, "quarantine.admit": true, "webhook.put": false, "audit.get": false, "event.send": false},
		sluice.AnonymousName: {"log": true, "convert.fromBase64": true, "iam.run.as": true, "event.receive": true, "crypto.hmac": true, "webhook.get": false, "read": false, "http.request": false},
	} {
		user, err := d.User(t.Context(), username)
		if err != nil {
			t.Fatal(err)
		}
		for permission, may := range want {
			if user.May(permission) != may {
				t.Errorf("%s may %s: %v, want %v", username, permission, !may, may)
			}
		}
	}
	_, err := call(t, d, "vi", "iam.user.get", `{}`) // changes nothing, and is about users
	wantCode(t, err, sluice.Forbidden, "forbidden")
	_, err = d.Login(t.Context(), sluice.AnonymousName, "", "192.0.2.1")
	wantCode(t, err, sluice.Unauthenticated, "authorization-invalid")
}

func TestAClientsSecretIsShownOnce(t *testing.T) {
	d := newDirectory(t)
	made := must(t, d, "admin", "iam.client.put", `{"clientId":"ci","roles":["viewer"]}`)
	secret, _ := made["secret"].(string)
	if len(secret) < 20 || made["grants"].([]any)[0] != "client_credentials" {
		t.Fatalf("a new client is shown as %v", made)
	}
	for _, answer := range []map[string]any{
		must(t, d, "admin", "iam.client.get", `{"clientId":"ci"}`),
		must(t, d, "admin", "iam.client.put", `{"clientId":"ci","grants":["client_credentials","password"]}`),
	} {
		if answer["secret"] != nil {
			t.Errorf("the secret is shown again: %v", answer)
		}
	}
	if client, err := d.Client(t.Context(), "ci"); err != nil || client.Secret != sluice.HashSecret(secret) {
		t.Errorf("the secret was changed by an edit (%v)", err)
	}
	renewed := must(t, d, "admin", "iam.client.put", `{"clientId":"ci","renew":true}`)
	if renewed["secret"] == nil || renewed["secret"] == secret {
		t.Errorf("renewed to %v", renewed["secret"])
	}
	must(t, d, "admin", "iam.client.delete", `{"clientId":"ci"}`)
}

// TestTokensOfAnEarlierClientStayDead, also those of the same second.
func TestTokensOfAnEarlierClientStayDead(t *testing.T) {
	d := newDirectory(t)
	generation := func() string {
		client, err := d.Client(t.Context(), "ci")
		if err != nil {
			t.Fatal(err)
		}
		return client.Generation()
	}
	alive := func(generation string) bool {
		_, err := d.Identify(t.Context(), sluice.Identity{ClientID: "ci", Client: true, Generation: generation})
		return err == nil
	}
	must(t, d, "admin", "iam.client.put", `{"clientId":"ci","roles":["viewer"]}`)
	token := generation()
	must(t, d, "admin", "iam.client.put", `{"clientId":"ci","roles":["developer"]}`)
	if !alive(token) || alive("") {
		t.Error("a token of the client is dead, or one of no client is alive")
	}
	for since, want := range map[time.Duration]bool{-time.Minute: false, time.Minute: true} {
		_, err := d.Identify(t.Context(), sluice.Identity{ClientID: "ci", Client: true, Issued: time.Now().Add(since)})
		if (err == nil) != want {
			t.Errorf("a token without a generation, issued %s from now: %v", since, err)
		}
	}
	for what, change := range map[string]func(){
		"a new secret": func() { must(t, d, "admin", "iam.client.put", `{"clientId":"ci","renew":true}`) },
		"other grants": func() {
			must(t, d, "admin", "iam.client.put", `{"clientId":"ci","grants":["password"]}`)
			must(t, d, "admin", "iam.client.put", `{"clientId":"ci","grants":["client_credentials"]}`)
		},
		"another client": func() {
			must(t, d, "admin", "iam.client.delete", `{"clientId":"ci"}`)
			must(t, d, "admin", "iam.client.put", `{"clientId":"ci","roles":["viewer"]}`)
		},
	} {
		before := generation()
		change()
		if alive(before) || !alive(generation()) {
			t.Errorf("after %s, a token from before is alive, or one of now is dead", what)
		}
	}
}

func TestOnesOwnPassword(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.user.put", `{"username":"vi","password":"first password","roles":["viewer"]}`)
	must(t, d, "vi", "iam.password.set", `{"password":"second password","current":"first password"}`)
	if _, err := d.Login(t.Context(), "vi", "second password", "192.0.2.1"); err != nil {
		t.Error(err)
	}
	_, err := d.Login(t.Context(), "vi", "first password", "192.0.2.1") // was remembered
	wantCode(t, err, sluice.Unauthenticated, "authorization-invalid")
	_, err = call(t, d, "vi", "iam.password.set", `{"username":"admin","password":"mine now"}`)
	wantCode(t, err, sluice.Forbidden, "forbidden")
}

// runAs switches a run of a pipeline with that owner to another user.
func runAs(t *testing.T, d *Directory, owner, target string) (sluice.User, error) {
	t.Helper()
	run := &sluice.Run{Pipeline: "switching", OwnerName: owner, Owner: func(ctx context.Context) (sluice.User, error) { return d.User(ctx, owner) }}
	anonymous, err := d.User(t.Context(), sluice.AnonymousName)
	if err != nil {
		t.Fatal(err)
	}
	run.Switch(anonymous)
	set := command.NewSet(d.Note, Commands(d, nil))
	cmd, _ := set.Find("iam.run.as")
	ctx := sluice.WithRun(sluice.WithUser(t.Context(), anonymous), run)
	passed, err := set.Call(ctx, cmd, command.Args{{Name: "username", Value: target}, {Name: "body", Value: "passed"}})
	if err == nil && passed != "passed" {
		t.Errorf("the body became %v", passed)
	}
	return run.User(), err
}

func TestRunAsIsTheOwnersRight(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.role.put", `{"role":"switcher","permissions":["run.as:worker"]}`)
	for _, user := range []string{`"username":"worker","roles":["developer"]`, `"username":"sam","roles":["switcher"]`, `"username":"off","disabled":true`} {
		must(t, d, "admin", "iam.user.put", "{"+user+"}")
	}
	tests := []struct {
		owner, target string
		may           bool
	}{
		{"admin", "worker", true},
		{"admin", "sam", true},
		{"sam", "worker", true},
		{"sam", "sam", true},
		{"worker", "worker", true},
		{"sam", "admin", false},
		{"worker", "admin", false},
		{sluice.AnonymousName, "worker", false},
		{"gone", "worker", false},
		{"admin", "off", false},
		{"admin", "gone", false},
	}
	refused := 0
	for _, test := range tests {
		if !test.may {
			refused++
		}
		user, err := runAs(t, d, test.owner, test.target)
		if (err == nil) != test.may || test.may && user.Name != test.target {
			t.Errorf("%s as %s: %v, %v", test.owner, test.target, user.Name, err)
		}
		if err != nil && sluice.AsError(err).Kind != sluice.Forbidden {
			t.Errorf("%s as %s: %v", test.owner, test.target, err)
		}
	}
	entries, _, err := d.Audit.Entries(t.Context(), sluice.AuditQuery{Command: "iam.run.as", Limit: 100})
	if err != nil || len(entries) != refused {
		t.Errorf("%d of %d refused switches are in the audit log (%v)", len(entries), refused, err)
	}
	for _, e := range entries {
		if e.Outcome != sluice.AuditRefused || e.Pipeline != "switching" || e.Owner == "" {
			t.Errorf("the audit log has %+v", e)
		}
	}
}

func TestTheAuditLogTellsWhoDidWhat(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.user.put", `{"username":"vi","password":"canary-password","roles":["viewer"]}`)
	if _, err := call(t, d, "vi", "iam.user.delete", `{"username":"admin"}`); err == nil {
		t.Fatal("a viewer deleted the admin")
	}
	must(t, d, "vi", "iam.whoami", `{}`) // changes nothing: not in the log
	if _, err := d.Login(t.Context(), "vi", "canary-guess", "198.51.100.7"); err == nil {
		t.Fatal("a wrong password was right")
	}
	answer := must(t, d, "admin", "audit.get", `{"limit":10}`)
	want := []string{
		"vi login  refused authorization-invalid 198.51.100.7",
		"vi iam.user.delete admin refused forbidden 192.0.2.1",
		"admin iam.user.put vi viewer allowed  192.0.2.1",
	}
	wantAudit(t, d, sluice.AuditQuery{Limit: 10}, want...)
	if items := answer["items"].([]any); len(items) != len(want) || strings.Contains(fmt.Sprint(items), "canary") {
		t.Errorf("audit.get shows %v", items)
	}
}

// TestTheAuditLogHasNoMadeUpNames: what can't be a name may be a password, or
// made to confuse who reads the log.
func TestTheAuditLogHasNoMadeUpNames(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.user.put", `{"username":"vi","roles":["viewer"]}`)
	for _, username := range []string{"admin", "vi"} {
		if _, err := call(t, d, username, "iam.user.put", `{"username":"my canary password","roles":["a\nb","viewer"]}`); err == nil {
			t.Fatal("such a user can be made")
		}
	}
	if _, err := runAs(t, d, "admin", "canary <b>"); err == nil {
		t.Fatal("such a user can be run as")
	}
	if _, err := d.Login(t.Context(), "canary password", "x", "192.0.2.1"); err == nil {
		t.Fatal("such a user can log in")
	}
	wantAudit(t, d, sluice.AuditQuery{Limit: 10},
		" login  refused authorization-invalid 192.0.2.1",
		"admin iam.run.as (invalid) refused forbidden ",
		"vi iam.user.put (invalid) (invalid),viewer refused forbidden 192.0.2.1",
		"admin iam.user.put (invalid) (invalid),viewer failed parameter-invalid 192.0.2.1",
		"admin iam.user.put vi viewer allowed  192.0.2.1",
	)
}

func TestLogoutsAreInTheAuditLog(t *testing.T) {
	d := newDirectory(t)
	d.NoteLogout(t.Context(), sluice.Logout{Username: "admin", ClientID: "sluice", Address: "192.0.2.1"})
	d.NoteLogout(t.Context(), sluice.Logout{Username: "admin", ClientID: "sluice", Address: "198.51.100.7", Reused: true})
	wantAudit(t, d, sluice.AuditQuery{Command: "logout", Limit: 10},
		"admin logout sluice refused token-reused 198.51.100.7",
		"admin logout sluice allowed  192.0.2.1",
	)
}

func TestAUserMayBeEditedUnderItsOwnName(t *testing.T) {
	d := newDirectory(t)
	must(t, d, "admin", "iam.user.put", `{"username":"Ada"}`)
	must(t, d, "admin", "iam.user.put", `{"username":"Ada","roles":["viewer"]}`)
	for _, name := range []string{"ada", "ADA"} {
		_, err := call(t, d, "admin", "iam.user.put", `{"username":"`+name+`"}`)
		wantCode(t, err, sluice.Conflict, "username-taken")
	}
	must(t, d, "admin", "iam.user.delete", `{"username":"Ada"}`)
	must(t, d, "admin", "iam.user.put", `{"username":"ada"}`)
}

func TestPermissionsThatAllowNothingAreWarnedOf(t *testing.T) {
	d := newDirectory(t)
	put := func(permissions string) string {
		return fmt.Sprint(must(t, d, "admin", "iam.role.put", `{"role":"test","permissions":`+permissions+`}`)["warnings"])
	}
	for permissions, wrong := range map[string][]string{
		`["*","webhook.*","webhook.get","server.i*","read","metrics.get","secret.*","webhook.token"]`: nil,
		`["run.as:ada","run.as:*","run.*","run.as:a*"]`:                                               nil,
		`["webhook.gett","webhook.get"]`:                                                              {"webhook.gett"},
		`["web","hook.*","Webhook.get","pipeline.*"]`:                                                 {"web", "hook.*", "Webhook.get", "pipeline.*"},
	} {
		got := put(permissions)
		if (got == "<nil>") != (wrong == nil) || strings.Count(got, "allows nothing") != len(wrong) {
			t.Errorf("%s: the warnings are %s", permissions, got)
		}
		for _, permission := range wrong {
			if !strings.Contains(got, "The permission "+permission+" allows nothing") {
				t.Errorf("%s: the warnings are %s", permissions, got)
			}
		}
	}
}

func TestTheAuditLogIsReadInPagesAndRanges(t *testing.T) {
	d := newDirectory(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		must(t, d, "admin", "iam.user.put", `{"username":"`+name+`"}`)
	}
	var targets []string
	var middle string
	query := sluice.AuditQuery{Limit: 2}
	for {
		entries, next, err := d.Audit.Entries(context.Background(), query)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			targets = append(targets, e.Target)
			if e.Target == "c" {
				middle = e.Time.Format("2006-01-02T15:04:05.999999999Z07:00")
			}
		}
		if next == "" {
			break
		}
		query.Before = next
	}
	if got := strings.Join(targets, ""); got != "edcba" {
		t.Errorf("the pages give %s", got)
	}
	for arguments, want := range map[string]int{
		`{"from":"` + middle + `"}`:                       3,
		`{"to":"` + middle + `"}`:                         3,
		`{"username":"admin","limit":1000}`:               5,
		`{"username":"nobody"}`:                           0,
		`{"command":"iam.user.put"}`:                      5,
		`{"command":"iam.user.delete"}`:                   0,
		`{"from":"` + middle + `","to":"` + middle + `"}`: 1,
	} {
		if got := len(must(t, d, "admin", "audit.get", arguments)["items"].([]any)); got != want {
			t.Errorf("%s gives %d entries, want %d", arguments, got, want)
		}
	}
}

// away is a store of records whose engine does not answer: what is in its copy in
// memory is known, and nothing else.
type away[T any] struct{ sluice.Records[T] }

func (away[T]) Get(context.Context, string) (*T, error) {
	return nil, sluice.CodeEngineUnavailable.Errorf("The engine did not answer.")
}

type awayRoles struct {
	away[sluice.Role]

	followed sluice.FollowedRecords[sluice.Role]
}

func (r awayRoles) Follow(follow func(before, after *sluice.Role)) { r.followed.Follow(follow) }

// TestTheEngineIsAway: built-in roles need no engine, and what it can't tell is
// not taken for a refusal.
func TestTheEngineIsAway(t *testing.T) {
	d := newDirectory(t)
	d.Roles = awayRoles{away[sluice.Role]{d.Roles}, d.Roles}
	user, err := d.User(t.Context(), sluice.AnonymousName)
	if err != nil || !user.May("log") {
		t.Errorf("the anonymous user is %+v, %v", user, err)
	}
	d.Accounts = away[sluice.Account]{d.Accounts}
	_, err = d.runAs(t.Context(), sluice.User{Permissions: []string{"*"}}, "somebody")
	wantCode(t, err, sluice.Unavailable, "engine-unavailable")
}
