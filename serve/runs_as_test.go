package serve_test

import (
	"net/http"
	"strings"
	"testing"
)

// user makes a user with a role of its own, and gives how it authenticates.
func (s *service) user(name string, permissions ...string) func(*http.Request) {
	s.t.Helper()
	s.command("iam.role.put", map[string]any{"role": name, "permissions": permissions}).wantStatus(s.t, 200)
	s.command("iam.user.put", map[string]any{"username": name, "password": name + "'s password", "roles": []string{name}}).wantStatus(s.t, 200)
	return func(r *http.Request) { r.SetBasicAuth(name, name+"'s password") }
}

// wantRefused checks that a result is an error about a permission.
func (s *service) wantRefused(t *testing.T, got result, permission string) {
	t.Helper()
	cause := s.cause(t, got)
	detail, _ := cause["detail"].(string)
	if got.Status != "error" || cause["statusCode"] != 403.0 || cause["code"] != "forbidden" || !strings.Contains(detail, "permission "+permission) {
		t.Errorf("the result is %+v, want that the permission %s is missing", got, permission)
	}
}

// wantOwnerGone checks that a result is an error about the account of the owner.
func (s *service) wantOwnerGone(t *testing.T, got result, owner string) {
	t.Helper()
	cause := s.cause(t, got)
	detail, _ := cause["detail"].(string)
	if got.Status != "error" || cause["statusCode"] != 403.0 || cause["code"] != "owner-gone" || !strings.Contains(detail, "The account of "+owner+", who owns this pipeline, is deleted or disabled") {
		t.Errorf("the cause is %v, want that the account of %s is gone", cause, owner)
	}
}

// TestADeletedOwner: the pipelines of a deleted user say that the user is gone,
// not what the user may not do, and run again once another user has stored them.
func TestADeletedOwner(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	s.command("secret.put", map[string]any{"name": "key", "value": "the value of it"}).wantStatus(t, 200)
	hook := s.create("webhook.orphan")
	for _, step := range []string{"iam.run.as: {username: ada}", `set: {value: "#{len(secret('key'))}"}`} {
		source := "pipeline: [event.listen: {eventKey: webhook.orphan}, " + step + "]"
		s.put("orphan", source, s.user("ada", "pipeline.put", "event.listen", "secret.use")).wantStatus(t, 200)
		if got := s.call(hook, "text/plain", "").result(t); got.Status != "ok" {
			t.Errorf("%s came to %+v", step, got)
		}
		s.command("iam.user.delete", map[string]any{"username": "ada"}).wantStatus(t, 200)
		s.wantOwnerGone(t, s.call(hook, "text/plain", "").result(t), "ada")
		s.user("ada", "read") // an account of the same name owns nothing
		s.wantOwnerGone(t, s.call(hook, "text/plain", "").result(t), "ada")
		s.store("orphan", source)
		if got := s.call(hook, "text/plain", "").result(t); got.Status != "ok" {
			t.Errorf("stored by another, %s came to %+v", step, got)
		}
	}
}

// TestAnonymousRuns: what an event starts runs as anonymousUser, who may do
// little; the refusal names what is missing.
func TestAnonymousRuns(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.anonymous")
	run := func(step string) result {
		t.Helper()
		s.put("anonymous", "pipeline: [{event.listen: {eventKey: webhook.anonymous}}, {"+step+"}]", asAdmin, forced).wantStatus(t, 200)
		return s.call(hook, "text/plain", "").result(t)
	}
	if got := run("iam.whoami: {}"); got.Status != "ok" || got.Value.(map[string]any)["username"] != "anonymousUser" {
		t.Errorf("it runs as %+v", got)
	}
	if got := run("set: {value: '#{[user.username, user.roles]}'}"); !strings.HasPrefix(toText(t, got.Value), `["anonymousUser",["anonymous"]`) {
		t.Errorf("it sees the user %v", got.Value)
	}
	for _, step := range []string{"log: {message: x}", "assert: {true: true}", "exit: {}", "wait: {duration: 1ms}", "convert.toJson: {}", "event.receive: {eventKey: x}"} {
		if got := run(step); got.Status != "ok" {
			t.Errorf("%s came to %+v", step, got)
		}
	}
	for step, permission := range map[string]string{
		"http.request: {url: 'http://example.com'}": "http.request",
		"event.send: {eventKey: x}":                 "event.send",
		"message.send: {key: x}":                    "message.send",
		"webhook.get: {}":                           "webhook.get",
		"webhook.put: {eventKey: webhook.x}":        "webhook.put",
		"pipeline.run: {name: anonymous}":           "pipeline.run",
		"pipeline.put: {name: x, source: x}":        "pipeline.put",
		"iam.user.put: {username: x}":               "iam.user.put",
		"secret.put: {name: x, value: y}":           "secret.put",
		"deadletter.get: {}":                        "deadletter.get",
		"audit.get: {}":                             "audit.get",
		"server.info: {}":                           "server.info",
	} {
		s.wantRefused(t, run(step), permission)
	}
	t.Run("the operator may allow more", func(t *testing.T) {
		s.command("iam.role.put", map[string]any{"role": "anonymous", "permissions": "server.info"}).wantStatus(t, 200)
		if got := run("server.info: {}"); got.Status != "ok" {
			t.Errorf("it came to %+v", got)
		}
		s.wantRefused(t, run("log: {message: x}"), "log")
	})
}

// TestRunAs: iam.run.as is checked against the pipeline's owner, as of now.
func TestRunAs(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.as", "payloadType", "raw")
	asDev := s.user("dev", "pipeline.*", "event.listen", "iam.run.as", "iam.whoami", "set", "run.as:ada")
	asBob := s.user("bob", "pipeline.*", "event.listen", "iam.run.as", "set")
	s.user("ada", "iam.whoami", "iam.run.as")
	source := `pipeline: [event.listen: {eventKey: webhook.as}, iam.run.as: {username: NAME}, iam.whoami]`
	call := func() result {
		t.Helper()
		return s.call(hook, "text/plain", "").result(t)
	}
	// as calls a pipeline that someone stores: who stores it last owns it.
	as := func(owner func(*http.Request), target string) result {
		t.Helper()
		s.put("as", strings.Replace(source, "NAME", target, 1), owner, forced).wantStatus(t, 200)
		return call()
	}
	wantUser := func(got result, name string) {
		t.Helper()
		if value, _ := got.Value.(map[string]any); value["username"] != name {
			t.Errorf("it runs as %+v, want %s", got, name)
		}
	}

	wantUser(as(asDev, "ada"), "ada")
	s.wantRefused(t, as(asDev, "admin"), "run.as:admin")
	s.wantRefused(t, as(asDev, "bob"), "run.as:bob")
	s.wantRefused(t, as(asDev, "nobody"), "run.as:nobody")
	s.wantRefused(t, as(asBob, "ada"), "run.as:ada")
	s.wantRefused(t, as(asBob, "bob"), "iam.whoami") // to oneself one may always
	wantUser(as(asDev, "ada"), "ada")
	s.command("iam.user.put", map[string]any{"username": "ada", "disabled": true}).wantStatus(t, 200)
	if got := call(); got.Status != "error" || s.cause(t, got)["statusCode"] != 403.0 {
		t.Errorf("it runs as a disabled user: %+v", got)
	}
	s.command("iam.user.put", map[string]any{"username": "ada", "disabled": false}).wantStatus(t, 200)
	wantUser(call(), "ada")
	s.command("iam.user.put", map[string]any{"username": "dev", "disabled": true}).wantStatus(t, 200)
	s.wantOwnerGone(t, call(), "dev")
	for _, name := range []string{"ada", "admin", "anonymousUser"} {
		wantUser(as(asAdmin, name), name)
	}

	t.Run("without storing it the caller counts", func(t *testing.T) {
		adHoc := `pipeline: [iam.run.as: {username: ada}, iam.whoami]`
		s.command("iam.user.put", map[string]any{"username": "dev", "disabled": false}).wantStatus(t, 200)
		s.send("POST", "/api/v3/pipeline", strings.NewReader(adHoc), asDev).wantStatus(t, 200)
		problem := s.send("POST", "/api/v3/pipeline", strings.NewReader(adHoc), asBob).wantProblem(t, 403, "forbidden")
		if !strings.Contains(problem["detail"].(string), "run.as:ada") {
			t.Errorf("the refusal is %v", problem)
		}
	})
	t.Run("a pipeline that is run by another keeps its own owner", func(t *testing.T) {
		s.put("inner", `pipeline: [iam.run.as: {username: admin}, iam.whoami]`, asBob, forced).wantStatus(t, 200)
		s.run(`pipeline: [pipeline.run: {name: inner}]`).wantProblem(t, 403, "forbidden")
	})
	t.Run("what an inner pipeline switches to ends with it", func(t *testing.T) {
		s.store("inner", `pipeline: [iam.run.as: {username: ada}, iam.whoami]`)
		got := s.run(`pipeline: [pipeline.run: {name: inner}, iam.whoami]`).wantStatus(t, 200).object(t)
		if got["username"] != "admin" {
			t.Errorf("behind it the outer one runs as %v", got["username"])
		}
	})
	t.Run("the sender of an event does not choose", func(t *testing.T) {
		s.store("chosen", `pipeline: [iam.run.as: {username: '#{vars.who ?? body.payload}'}, iam.whoami]`)
		got := s.send("POST", "/api/v3/pipeline/chosen?who=ada", nil, asAdmin).wantStatus(t, 200).object(t)
		if got["username"] != "ada" {
			t.Errorf("a caller's choice runs as %v", got["username"])
		}
		for _, steps := range []string{"iam.run.as: {username: '#{body.payload}'}", "iam.run.as: {username: admin}, pipeline.run: {name: chosen}"} {
			s.store("as", "pipeline: [event.listen: {eventKey: webhook.as}, "+steps+"]")
			if got := s.call(hook, "text/plain", "ada").result(t); got.Status != "error" || !strings.Contains(toText(t, s.cause(t, got)), "written out in the source") {
				t.Errorf("%s came to %+v", steps, got)
			}
		}
	})
	t.Run("refusals and what was stored are in the audit log, runs are not", func(t *testing.T) {
		before := string(s.command("audit.get", map[string]any{"command": "iam.run.as"}).wantStatus(t, 200).body)
		for _, part := range []string{
			`"username":"dev","address":"127.0.0.1","command":"iam.run.as","target":"as ada","outcome":"allowed"`,
			`"username":"dev","address":"127.0.0.1","command":"iam.run.as","target":"admin","outcome":"refused","code":"forbidden","pipeline":"as","owner":"dev"`,
		} {
			if !strings.Contains(before, part) {
				t.Errorf("the audit log lacks %s: %s", part, before)
			}
		}
		got := s.run(`pipeline: [iam.run.as: {username: ada}, iam.whoami]`).wantStatus(t, 200)
		if after := string(s.command("audit.get", map[string]any{"command": "iam.run.as"}).wantStatus(t, 200).body); after != before {
			t.Errorf("a run is in the audit log: %s", after)
		}
		if got := got.object(t); got["username"] != "ada" {
			t.Errorf("it ran as %v", got)
		}
	})
	t.Run("outside of a pipeline it is nothing", func(t *testing.T) {
		s.command("iam.run.as", map[string]any{"username": "ada"}).wantProblem(t, 400, "not-in-a-pipeline")
		s.command("iam.authorize", map[string]any{"authorization": "Basic YTpi"}).wantProblem(t, 400, "not-in-a-pipeline")
	})
}

// TestAuthorizeInAPipeline: credentials switch the rest of a run to their user,
// and are seen nowhere.
func TestAuthorizeInAPipeline(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	s.user("ada", "iam.whoami", "server.info")
	access, refresh := s.login()
	hook := s.create("webhook.authorize")
	const password = "ada's own password"
	s.command("iam.user.put", map[string]any{"username": "ada", "password": password}).wantStatus(t, 200)
	credentials := map[string]string{"ada": basic("ada", password), "admin": "bearer " + access, "admin again": "Refresh " + refresh}
	for name, value := range credentials {
		s.command("secret.put", map[string]any{"name": "credentials", "value": value}).wantStatus(t, 200)
		s.store("authorize", `pipeline: [event.listen: {eventKey: webhook.authorize}, iam.authorize: {authorization: "#{secret('credentials')}"}, server.info, iam.whoami]`)
		got := s.call(hook, "text/plain", "").result(t)
		if value, _ := got.Value.(map[string]any); got.Status != "ok" || value["username"] != strings.Fields(name)[0] {
			t.Errorf("with the credentials of %s it came to %+v", name, got)
		}
	}
	s.command("secret.put", map[string]any{"name": "credentials", "value": basic("ada", "wrong password")}).wantStatus(t, 200)
	if got := s.call(hook, "text/plain", "").result(t); got.Status != "error" || s.cause(t, got)["statusCode"] != 401.0 {
		t.Errorf("with wrong credentials it came to %+v", got)
	}
	for line := range strings.Lines(s.log.String()) {
		if found := secretsIn(line, map[string]string{"password": password, "wrong password": "wrong password", "token": refresh}); found != nil {
			t.Errorf("a line of the log has the %q in it: %s", found, line)
		}
	}
}
