package serve_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/sender"
)

// sentOn is what trace.get shows of a step that calls others.
type sentOn struct {
	Method     string `json:"method"`
	URL        string `json:"url"`
	Host       string `json:"host"`
	StatusCode int    `json:"statusCode"`
	Request    string `json:"request"`
	Response   string `json:"response"`
}

// exchanges returns what the steps of a call have sent and got, as someone sees it.
func (s *service) exchanges(query string, alterations ...func(*http.Request)) (all []sentOn) {
	s.t.Helper()
	var found struct {
		Items []struct {
			Runs []struct {
				Steps []struct {
					HTTP *sentOn `json:"http"`
				} `json:"steps"`
			} `json:"runs"`
		} `json:"items"`
	}
	s.send("GET", "/api/v3/command/trace.get?"+query, nil, alterations...).wantStatus(s.t, 200).into(s.t, &found)
	for _, item := range found.Items {
		for _, run := range item.Runs {
			for _, step := range run.Steps {
				if step.HTTP != nil {
					all = append(all, *step.HTTP)
				}
			}
		}
	}
	return all
}

// standardWebhooks checks what http.forward has signed.
func standardWebhooks(t *testing.T, key string) *sender.Verifier {
	t.Helper()
	scheme, err := sender.ParseScheme([]byte(`{"header": "webhook-signature", "format": "v1,{signature}", "encoding": "base64",
		"signed": "{id}.{timestamp}.{body}", "timestampHeader": "webhook-timestamp", "idHeader": "webhook-id"}`))
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := sender.New(scheme, []string{key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return verifier
}

// TestACallIsPassedOn: one step sends a call on as it came, signed, at each
// attempt with the same id; and the trace has what went out and came back, for
// those who may see it.
func TestACallIsPassedOn(t *testing.T) {
	t.Parallel()
	const key = "s3cret signing key"
	o := newOutside(t)
	tries := 0
	o.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("X-Own"))
		if tries++; tries < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte("you said " + r.Header.Get("X-Own")))
	}
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	s.command("secret.put", map[string]any{"name": "partner", "value": key}).wantStatus(t, 200)
	s.command("secret.put", map[string]any{"name": "own", "value": "h1dden"}).wantStatus(t, 200)
	hook := s.create("webhook.passed") // base64
	s.store("pass", "retry: {times: 2, backoff: 10ms}\npipeline:\n- event.listen: {eventKey: webhook.passed}\n- iam.run.as: {username: admin}\n"+
		"- http.forward: {url: '"+o.url+"/in?own=1', sign: partner, headers: {x-own: \"#{secret('own')}\"}}\n- set: {value: '#{body.statusCode}'}\n").wantStatus(t, 200)
	tail := s.follow(t, "")

	const body = "{\"z\": 1,  \"a\": \"\xff\"}"
	called := s.call(hook, "application/x-own", body, header("X-Hub-Signature", "sha1=x"), func(r *http.Request) {
		r.URL.RawQuery += "&source=shop"
	})
	got := called.result(t)
	if got.Status != "ok" || got.Value != 200.0 {
		t.Fatalf("it came to %+v", got)
	}
	verifier := standardWebhooks(t, key)
	for i, call := range o.all() {
		if call.body != body || call.header.Get("Content-Type") != "application/x-own" || call.header.Get("X-Hub-Signature") != "sha1=x" ||
			call.header.Get("Webhook-Id") != got.CorrelationID || call.header.Get("Svc-Trace-Id") != got.TraceID || call.header.Get("Token") != "" {
			t.Errorf("attempt %d: %q with %v", i+1, call.body, call.header)
		}
		if err := verifier.Verify(t.Context(), &sender.Call{Header: call.header, Body: []byte(call.body)}, time.Now()); err != nil {
			t.Errorf("attempt %d: %v", i+1, err)
		}
	}

	asViewer := s.user("vera", "trace.get")
	whole := "traceId=" + got.TraceID
	host := strings.TrimPrefix(o.url, "http://")
	eventually(t, "all attempts in the trace", func() bool { return len(s.exchanges(whole, asAdmin)) == 3 })
	for i, e := range s.exchanges(whole, asAdmin) {
		status := []int{503, 503, 200}[i]
		if e.Method != "POST" || e.URL != o.url+"/in?own=1&source=shop" || e.StatusCode != status || !strings.Contains(e.Request, "x-own: ***\n") ||
			!strings.HasSuffix(e.Request, "bytes that are not text)") || !strings.HasSuffix(e.Response, "\n\nyou said ***") {
			t.Errorf("attempt %d: %+v", i+1, e)
		}
	}
	for _, shown := range [][]sentOn{s.exchanges(whole, asViewer), s.exchanges("pipeline=pass", asAdmin)} {
		if len(shown) != 3 || shown[2] != (sentOn{Method: "POST", Host: host, StatusCode: 200}) {
			t.Errorf("who may not see payloads sees %+v", shown)
		}
	}
	for runs := 0; runs < 3; {
		if _, event, data := tail.next(t); event == "run" {
			runs++
			if !strings.Contains(data, host) || strings.Contains(data, "you said") || strings.Contains(data, "source=shop") {
				t.Errorf("the tail says %s", data)
			}
		}
	}
	seen := s.send("GET", "/api/v3/command/trace.get?"+whole, nil, asAdmin).body
	for _, secret := range []string{key, "h1dden", base64.StdEncoding.EncodeToString([]byte(key)), hook.UUID} {
		if strings.Contains(string(seen), secret) {
			t.Errorf("the trace has %s", secret)
		}
	}
}

// TestForwardsNeedRights: the secret is the owner's to use, and who sends an
// event does not choose it.
func TestForwardsNeedRights(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, untilDone, "http-allow=127.0.0.0/8")
	s.command("secret.put", map[string]any{"name": "partner", "value": "s3cret"}).wantStatus(t, 200)
	hook := s.create("webhook.rights", "payloadType", "raw")
	s.user("mover", "http.forward")
	asDev := s.user("dev", "pipeline.*", "event.listen", "iam.run.as", "run.as:mover")
	code := func(steps string, owner func(*http.Request)) string {
		t.Helper()
		s.put("rights", "pipeline: [event.listen: {eventKey: webhook.rights}, "+steps+"]", owner, forced).wantStatus(t, 200)
		called := s.call(hook, "text/plain", "partner").result(t)
		var found struct {
			Items []struct {
				Runs []struct {
					Error struct {
						Code string `json:"code"`
					} `json:"error"`
				} `json:"runs"`
			} `json:"items"`
		}
		eventually(t, "the run in the trace", func() bool {
			answer := s.send("GET", "/api/v3/command/trace.get?traceId="+called.TraceID, nil, asAdmin).wantStatus(t, 200)
			return json.Unmarshal(answer.body, &found) == nil && len(found.Items) == 1 && len(found.Items[0].Runs) == 1
		})
		return found.Items[0].Runs[0].Error.Code
	}
	forward := "http.forward: {url: '" + o.url + "'SIGN}"
	as := "iam.run.as: {username: mover}, "
	for _, test := range []struct {
		steps string
		owner func(*http.Request)
		want  string
	}{
		{as + strings.Replace(forward, "SIGN", "", 1), asDev, ""},
		{strings.Replace(forward, "SIGN", "", 1), asDev, "forbidden"},
		{as + strings.Replace(forward, "SIGN", ", sign: partner", 1), asDev, "forbidden"},
		{as + strings.Replace(forward, "SIGN", ", sign: partner", 1), asAdmin, ""},
		{as + strings.Replace(forward, "SIGN", ", sign: '#{body.payload}'", 1), asAdmin, "forbidden"},
		{as + strings.Replace(forward, "SIGN", ", sign: other", 1), asAdmin, "secret-unknown"},
	} {
		if got := code(test.steps, test.owner); got != test.want {
			t.Errorf("%s ends with %q, want %q", test.steps, got, test.want)
		}
	}
	s.run("pipeline: [http.forward: {url: '"+o.url+"'}]").wantProblem(t, 400, "no-event")
}
