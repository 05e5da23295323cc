package serve_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/command"
	"sluice/serve"
)

// TestEveryCommandSaysWhatItIsAbout: otherwise scopes would not hold for it.
func TestEveryCommandSaysWhatItIsAbout(t *testing.T) {
	t.Parallel()
	for _, cmd := range serve.Commands().All() {
		if cmd.Scoping == "" {
			t.Errorf("%s declares neither what its parameters name nor that it names nothing", cmd.Name)
		}
	}
}

// member makes a user of a team, and gives how it authenticates.
func (s *service) member(name, scope, like string) func(*http.Request) {
	s.t.Helper()
	s.command("iam.role.put", map[string]any{"role": name, "like": like, "scope": scope}).wantStatus(s.t, 200)
	s.command("iam.user.put", map[string]any{"username": name, "password": name + "'s password", "roles": []string{name}}).wantStatus(s.t, 200)
	return func(r *http.Request) { r.SetBasicAuth(name, name+"'s password") }
}

// A side is what one of two teams has.
type side struct {
	team                       string
	hook, strict               hook
	trace, letter, quarantined string
}

// equip gives a team a webhook with a payload, a pipeline that fails on it, a secret, a
// message, and a call in the quarantine.
func (s *service) equip(team string) (own side) {
	s.t.Helper()
	own = side{team: team, hook: s.create("webhook."+team+".paid", "payloadType", "raw"), strict: s.create("webhook."+team+".strict", "disabled", true)}
	s.command("secret.put", map[string]any{"name": team + ".key", "value": team + "-value"}).wantStatus(s.t, 200)
	s.store(team+".in", listening("webhook."+team+".paid", "fail: {message: '"+team+" broke'}"))
	s.store(team+".by-hand", "pipeline: [set: {value: "+team+"}]")
	own.trace = s.call(own.hook, "application/json", `{"who":"`+team+`-payload"}`).result(s.t).TraceID
	s.call(own.strict, "application/json", `{"who":"`+team+`-refused"}`).wantStatus(s.t, 403)
	s.command("message.send", map[string]any{"key": team + ".message", "payload": team}).wantStatus(s.t, 200)
	s.send("POST", "/api/v3/pipeline/"+team+".by-hand", nil, asAdmin).wantStatus(s.t, 200)
	own.letter = s.first("deadletter.get", "pipeline="+team+".in", "letter")
	own.quarantined = s.first("quarantine.get", "eventKey=webhook."+team+".strict", "id")
	return own
}

// first returns a field of the first item of a list.
func (s *service) first(name, query, field string) (value string) {
	s.t.Helper()
	eventually(s.t, "an item of "+name, func() bool {
		var list struct {
			Items []map[string]any `json:"items"`
		}
		s.send("GET", "/api/v3/command/"+name+"?"+query, nil, asAdmin).wantStatus(s.t, 200).into(s.t, &list)
		if len(list.Items) > 0 {
			value, _ = list.Items[0][field].(string)
		}
		return value != ""
	})
	return value
}

// values returns what parameters name for a team.
func (own side) values(cmd string) map[string]string {
	name := own.team + ".in"
	if strings.HasPrefix(cmd, "secret.") {
		name = own.team + ".key"
	}
	key := own.team + ".message"
	if strings.HasPrefix(cmd, "event.") {
		key = own.hook.EventKey
	}
	return map[string]string{
		"uuid": own.hook.UUID, "eventKey": own.hook.EventKey, "key": key, "name": name, "pipeline": own.team + ".in", "traceId": own.trace,
		"letter": own.letter, "id": own.quarantined, "search": own.team, "token": own.hook.UUID, "sample": own.team,
	}
}

// TestScopesLeakNothing: a developer of one team calls every command, with the names and ids
// of another team's things and with those of things that are not there. The answers are the
// same, nothing of the other team is in any of them, and nothing of it is changed.
func TestScopesLeakNothing(t *testing.T) { //nolint:gocyclo // one attacker after the other
	t.Parallel()
	s := start(t, untilDone)
	const canary = "zulu"
	own, foreign := s.equip("partner"), s.equip(canary)
	s.store("zulu.all", listening("webhook.#", "set: {value: zulu-saw}"))
	absent := side{
		team: "yoke", hook: hook{UUID: "0b0bb4ca-5dbb-4cf7-9e4e-1b1b5ab2d8d4", EventKey: "webhook.yoke.paid"}, trace: "abcdef:" + foreign.trace[7:15] + "zzzzzzzz", letter: "99999", quarantined: "abcdef:0000000000000000",
	}
	asPaula := s.member("paula", "partner", "developer")
	if before := s.inventory(t, asAdmin); !strings.Contains(before, canary) {
		t.Fatal("the other team has nothing")
	}
	before := s.inventory(t, asAdmin)
	required := map[string]string{
		"value": "v", "for": "1h", "version": "1", "eventKey": own.hook.EventKey, "key": "partner.message", "name": "partner.in", "token": "abcdef", "uuid": own.hook.UUID, "since": "1h",
	}
	ask := func(cmd command.Command, given map[string]string, method string) answer {
		query, body := url.Values{}, ""
		for _, p := range cmd.Params {
			if p.Body == command.BodyOnly {
				body = `pipeline: [set: {value: 1}]`
			} else if value, ok := given[p.Name]; ok {
				query.Set(p.Name, value)
			} else if p.Required && p.Type != "" || p.Name == "since" && cmd.Name == "event.replay" && given["traceId"] == "" {
				query.Set(p.Name, required[p.Name])
			}
		}
		return s.send(method, "/api/v3/command/"+cmd.Name+"?"+query.Encode(), strings.NewReader(body), asPaula)
	}
	wordless := regexp.MustCompile(`"(time|updated|created|traceId|correlationId|next)":"[^"]*"`)
	for _, cmd := range serve.Commands().All() {
		if cmd.InRun || cmd.HTTPOnly() || cmd.Trigger || cmd.Scoping == command.OfServer || cmd.Scoping == command.NoNames {
			continue
		}
		if cmd.ReadOnly {
			if got := ask(cmd, nil, "GET"); strings.Contains(string(got.body), canary) {
				t.Errorf("%s without a name shows %s", cmd.Name, got)
			}
		}
		for _, p := range cmd.Params {
			value, of := foreign.values(cmd.Name)[p.Name], absent.values(cmd.Name)[p.Name]
			if value == "" {
				continue
			}
			got, want := ask(cmd, map[string]string{p.Name: value}, "POST"), ask(cmd, map[string]string{p.Name: of}, "POST")
			plain := func(a answer, name string) string {
				return fmt.Sprint(a.status, " ", wordless.ReplaceAllString(strings.ReplaceAll(string(a.body), name, "NAME"), ""))
			}
			if plain(got, value) != plain(want, of) {
				t.Errorf("%s with %s=%s answers\n%s, and with %s\n%s", cmd.Name, p.Name, value, got, of, want)
			}
			if strings.Contains(strings.ReplaceAll(string(got.body), value, ""), canary) {
				t.Errorf("%s with %s=%s tells of the other team: %s", cmd.Name, p.Name, value, got)
			}
		}
	}
	if after := s.inventory(t, asAdmin); after != before {
		t.Errorf("the other team had\n%s\nand has\n%s", before, after)
	}
	t.Run("what is made outside", func(t *testing.T) {
		for cmd, params := range map[string]map[string]any{
			"webhook.put": {"eventKey": "webhook.zulu.paid"}, "secret.put": {"name": "zulu.key", "value": "v"},
			"event.send": {"eventKey": "webhook.zulu.paid", "payload": 1}, "message.send": {"key": "svc.event.webhook.zulu.paid", "payload": 1},
		} {
			taken := s.command(cmd, params, asPaula)
			taken.wantProblem(t, 403, "forbidden")
			free := s.command(cmd, renamed(params), asPaula)
			if strings.ReplaceAll(string(taken.body), "zulu", "yoke") != string(free.body) {
				t.Errorf("%s answers %s where the name is taken, and %s where it is free", cmd, taken, free)
			}
		}
	})
	t.Run("one's own is there", func(t *testing.T) {
		for query, want := range map[string]string{
			"webhook.get?": own.hook.UUID, "pipeline.get?name=partner.in": "partner broke", "trace.get?traceId=" + own.trace: "partner-payload",
			"deadletter.get?letter=" + own.letter: "partner-payload", "quarantine.get?id=" + own.quarantined: "partner-refused", "secret.get?": "partner.key",
			"trace.get?search=partner-payload&payloads=true": own.trace, "webhook.stats?": "webhook.partner.paid", "deadletter.groups?": "partner.in",
		} {
			got := s.send("GET", "/api/v3/command/"+query, nil, asPaula).wantStatus(t, 200)
			if !strings.Contains(string(got.body), want) {
				t.Errorf("%s lacks %s: %s", query, want, got)
			}
		}
	})
	t.Run("the runs of others are not in its traces", func(t *testing.T) {
		eventually(t, "all runs", func() bool { return len(s.trace(s.call(own.hook, "text/plain", "").result(t).TraceID).Runs) == 2 })
		got := s.send("GET", "/api/v3/command/trace.get?facets=true&eventKey=webhook.partner.paid", nil, asPaula).wantStatus(t, 200)
		if strings.Contains(string(got.body), canary) || !strings.Contains(string(got.body), "partner.in") {
			t.Errorf("traces are %s", got)
		}
		for _, query := range []string{"search=zulu", "pipeline=zulu.all", "search=zulu-payload&payloads=true"} {
			if got := s.send("GET", "/api/v3/command/trace.get?"+query, nil, asPaula).wantStatus(t, 200); !strings.Contains(string(got.body), `"items":[]`) {
				t.Errorf("%s finds %s", query, got)
			}
		}
	})
	t.Run("its live tail", func(t *testing.T) {
		tail := s.follow(t, "", func(r *http.Request) { asPaula(r) })
		s.call(foreign.hook, "text/plain", "")
		id := s.call(own.hook, "text/plain", "").result(t).TraceID
		for {
			_, _, data := tail.next(t)
			if strings.Contains(data, canary) {
				t.Fatalf("it tells %s", data)
			}
			if strings.Contains(data, id) && strings.Contains(data, "partner.in") {
				break
			}
		}
	})
}

func renamed(params map[string]any) map[string]any {
	text, _ := json.Marshal(params)
	var out map[string]any
	_ = json.Unmarshal([]byte(strings.ReplaceAll(string(text), "zulu", "yoke")), &out)
	return out
}

// inventory returns all that is stored of a team.
func (s *service) inventory(t *testing.T, as func(*http.Request)) string {
	t.Helper()
	var all []string
	for _, list := range []string{"webhook.get?eventKey=webhook.zulu.paid", "pipeline.get?name=zulu.in", "secret.get?name=zulu.key", "deadletter.get?pipeline=zulu.in", "quarantine.get?eventKey=webhook.zulu.strict", "trace.get?eventKey=webhook.zulu.paid"} {
		all = append(all, string(s.send("GET", "/api/v3/command/"+list, nil, as).wantStatus(t, 200).body))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
