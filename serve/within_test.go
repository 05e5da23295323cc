package serve_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestARunWithinARun: an inner pipeline does what both the user of the outer one
// and its own owner may, so who may change it reaches no further than before; also
// after it has switched to someone.
func TestARunWithinARun(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.job")
	asDev := s.user("dev", "pipeline.*", "event.*", "iam.run.as", "iam.whoami", "set", "run.as:ada", "webhook.get")
	s.user("ada", "iam.*", "set", "webhook.*")
	s.store("helper", `pipeline: [set: {value: harmless}]`)
	s.store("job", listening("webhook.job", "iam.run.as: {username: admin}", "pipeline.run: {name: helper}"))
	call := func() result { return s.call(hook, "text/plain", "").result(t) }
	if got := call(); got.Value != "harmless" {
		t.Fatalf("it came to %+v", got)
	}
	const makesAdmin = "iam.user.put: {username: pwned, password: pwned by a pipeline, roles: [admin]}"
	for source, permission := range map[string]string{
		`pipeline: [` + makesAdmin + `]`:                                                "iam.user.put",
		`pipeline: [iam.run.as: {username: ada}, ` + makesAdmin + `]`:                   "iam.user.put",
		`pipeline: [iam.run.as: {username: dev}, ` + makesAdmin + `]`:                   "iam.user.put",
		`pipeline: [iam.run.as: {username: admin}, ` + makesAdmin + `]`:                 "run.as:admin",
		`pipeline: [pipeline.run: {source: 'pipeline: [` + makesAdmin + `]'}]`:          "iam.user.put",
		`pipeline: [iam.run.as: {username: ada}, webhook.put: {eventKey: webhook.new}]`: "webhook.put",
	} {
		s.put("helper?force=true", source, asDev).wantStatus(t, 200)
		s.wantRefused(t, call(), permission)
	}
	s.send("GET", "/api/v3/command/iam.user.get?username=pwned", nil, asAdmin).wantProblem(t, 404, "user-not-found")

	t.Run("what both may is done", func(t *testing.T) {
		s.put("helper", `pipeline: [webhook.get, iam.whoami]`, asDev).wantStatus(t, 200)
		if value, _ := call().Value.(map[string]any); value["username"] != "admin" {
			t.Errorf("it ran as %v", value["username"])
		}
		s.put("helper", `pipeline: [iam.run.as: {username: ada}, iam.whoami]`, asDev).wantStatus(t, 200)
		if value, _ := call().Value.(map[string]any); value["username"] != "ada" {
			t.Errorf("it ran as %v", value["username"])
		}
	})
	t.Run("it can't store what would belong to the outer user", func(t *testing.T) {
		s.put("helper", `pipeline: [pipeline.put: {name: later, input: 'pipeline: [set: {value: 1}]'}]`, asDev).wantStatus(t, 200)
		if got := call(); got.Status != "error" || !strings.Contains(toText(t, s.cause(t, got)), "can't store pipelines") {
			t.Errorf("it came to %+v", got)
		}
		s.store("helper", `pipeline: [pipeline.put: {name: later, input: 'pipeline: [set: {value: 1}]'}]`)
		if got := call(); got.Status != "ok" {
			t.Errorf("the admin's own came to %+v", got)
		}
	})
	t.Run("one whose owner is gone may nothing", func(t *testing.T) {
		s.put("helper", `pipeline: [set: {value: 1}]`, asDev).wantStatus(t, 200)
		s.command("iam.user.delete", map[string]any{"username": "dev"}).wantStatus(t, 200)
		s.wantRefused(t, call(), "set")
	})
	t.Run("the audit log names the pipeline and its owner", func(t *testing.T) {
		audit := string(s.command("audit.get", map[string]any{"command": "iam.user.put", "username": "admin"}).wantStatus(t, 200).body)
		if want := `"outcome":"refused","code":"forbidden","pipeline":"helper","owner":"dev"`; !strings.Contains(audit, want) {
			t.Errorf("the audit log lacks %s: %s", want, audit)
		}
	})
	t.Run("the audit log names who ran it", func(t *testing.T) {
		s.store("privileged", `pipeline: [iam.run.as: {username: admin}, iam.role.put: {role: odd, permissions: [log]}]`)
		asRunner := s.user("runner", "pipeline.run", "iam.run.as")
		s.send("POST", "/api/v3/pipeline/privileged", nil, asRunner).wantStatus(t, 200)
		audit := string(s.command("audit.get", map[string]any{"command": "iam.role.put"}).wantStatus(t, 200).body)
		if want := `"pipeline":"privileged","owner":"admin","caller":"runner","traceId":"`; !strings.Contains(audit, want) {
			t.Errorf("the audit log lacks %s: %s", want, audit)
		}
	})
}

// TestAPipelineOfADeletedUser: one of the same name who is made later does not
// own it.
func TestAPipelineOfADeletedUser(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.sleeper")
	asBob := s.user("bob", "pipeline.*", "event.listen", "iam.run.as", "iam.whoami", "run.as:admin")
	s.put("sleeper", listening("webhook.sleeper", "iam.run.as: {username: admin}", "iam.whoami"), asBob).wantStatus(t, 200)
	if got := s.call(hook, "text/plain", "").result(t); got.Status != "ok" {
		t.Fatalf("it came to %+v", got)
	}
	s.command("iam.user.delete", map[string]any{"username": "bob"}).wantStatus(t, 200)
	s.command("iam.user.put", map[string]any{"username": "bob", "password": "another bob's", "roles": "admin"}).wantStatus(t, 200)
	s.wantOwnerGone(t, s.call(hook, "text/plain", "").result(t), "bob")
	asNew := func(r *http.Request) { r.SetBasicAuth("bob", "another bob's") }
	s.put("sleeper", listening("webhook.sleeper", "iam.run.as: {username: admin}", "iam.whoami"), asNew).wantStatus(t, 200)
	if got := s.call(hook, "text/plain", "").result(t); got.Status != "ok" {
		t.Errorf("what the new one stores came to %+v", got)
	}
}

// TestTheTraceTellsOfSwitches: the audit log does not have one entry a run.
func TestTheTraceTellsOfSwitches(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.as")
	s.store("as", listening("webhook.as", "iam.run.as: {username: admin}", "iam.whoami"))
	id := traceOf(s.call(hook, "text/plain", "").wantStatus(t, 200))
	eventually(t, "the switch in the trace", func() bool {
		found := string(s.send("GET", "/api/v3/command/trace.get?traceId="+id, nil, asAdmin).wantStatus(t, 200).body)
		return strings.Contains(found, `"command":"iam.run.as"`) && strings.Contains(found, `"user":"admin"`)
	})
}

// TestCorrelationIDsAreForThoseWhoSeePayloads: with one the result can be read.
func TestCorrelationIDsAreForThoseWhoSeePayloads(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.secret", "payloadType", "raw")
	s.store("fails", listening("webhook.secret", "fail: {message: no}"))
	asVera := s.user("vera", "read", "event.replay", "deadletter.replay")
	tails := map[string]*stream{"vera": s.follow(t, "", asVera), "admin": s.follow(t, "")}
	answer := s.call(hook, "application/json", `"private"`).wantStatus(t, 200)
	correlation, id := answer.header.Get("Svc-Result-Correlationid"), traceOf(answer)
	eventually(t, "the run", func() bool {
		return len(s.trace(id).Runs) == 1 && strings.Contains(string(s.command("deadletter.get", nil).body), id)
	})
	users := map[string]func(*http.Request){"vera": asVera, "admin": asAdmin}
	for name, as := range users {
		sees := name == "admin"
		for _, path := range []string{"trace.get?traceId=" + id, "trace.get?eventKey=webhook.secret", "deadletter.get", "deadletter.get?letter=1"} {
			got := string(s.send("GET", "/api/v3/command/"+path, nil, as).wantStatus(t, 200).body)
			if !strings.Contains(got, id) || strings.Contains(got, correlation) != sees {
				t.Errorf("%s: %s sees %s", path, name, got)
			}
		}
		for range 2 { // the call and the run
			_, _, data := tails[name].next(t)
			if !strings.Contains(data, id) || strings.Contains(data, correlation) != sees {
				t.Errorf("the tail tells %s %s", name, data)
			}
		}
	}
	for name, as := range users {
		for command, params := range map[string]map[string]any{"event.replay": {"traceId": id}, "deadletter.replay": {"pipeline": "fails", "limit": 1}} {
			got := string(s.command(command, params, as).wantStatus(t, 200).body)
			if sees := name == "admin"; strings.Contains(got, "correlationId") != sees {
				t.Errorf("%s tells %s %s", command, name, got)
			}
		}
	}
	s.command("webhook.put", map[string]any{"uuid": hook.UUID, "disabled": true}).wantStatus(t, 200)
	for name, as := range map[string]func(*http.Request){"admin": asAdmin, "wim": s.user("wim", "quarantine.*")} {
		s.call(hook, "application/json", `"private"`).wantProblem(t, 403, "webhook-disabled")
		got := string(s.command("quarantine.get", nil, as).wantStatus(t, 200).body)
		admitted := string(s.command("quarantine.admit", map[string]any{"eventKey": "webhook.secret", "force": true}, as).wantStatus(t, 200).body)
		if sees := name == "admin"; strings.Contains(got, "private") != sees || strings.Contains(admitted, "correlationId") != sees || !strings.Contains(admitted, `"admitted":1`) {
			t.Errorf("of the quarantine %s sees %s and %s", name, got, admitted)
		}
	}
	audit := string(s.command("audit.get", map[string]any{"command": "quarantine.get"}).wantStatus(t, 200).body)
	if !strings.Contains(audit, `"username":"admin"`) || strings.Contains(audit, `"wim"`) {
		t.Errorf("the audit log tells of the quarantine %s", audit)
	}
	audit = string(s.command("audit.get", map[string]any{"command": "trace.get"}).wantStatus(t, 200).body)
	if !strings.Contains(audit, `"username":"admin","address":"127.0.0.1","command":"trace.get","target":"`+id+`","outcome":"allowed","code":"trace.payload"`) || strings.Contains(audit, `"vera"`) {
		t.Errorf("the audit log tells of payloads %s", audit)
	}
}
