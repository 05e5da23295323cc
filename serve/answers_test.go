package serve_test

import (
	"net/http"
	"strings"
	"testing"

	"sluice/sender"
)

// An answerCase is a call of a webhook, and what its caller gets back.
type answerCase struct {
	name     string
	settings []any  // of the webhook, by pairs
	steps    string // of the pipeline; "" for none
	query    string

	status int
	media  string // content type; "" for none
	body   string // all of it, unless it is JSON with more members
	parts  []string
}

var (
	asValue = []any{"answer", "value"}
	asEmpty = []any{"answer", "empty"}
)

var answerCases = []answerCase{
	{name: "text", settings: asValue, steps: "- set: {value: 'Grüße, <b>Ada</b>'}", status: 200, media: "text/plain; charset=utf-8", body: "Grüße, <b>Ada</b>"},
	{name: "text of a type", settings: []any{"answer", "value", "answerType", "text/xml"}, steps: "- set: {value: '<a/>'}", status: 200, media: "text/xml", body: "<a/>"},
	{name: "an object", settings: asValue, steps: "- set: {value: {type: 4, data: [1.50, null]}}", status: 200, media: "application/json", body: `{"data":[1.5,null],"type":4}`},
	{name: "a number", settings: asValue, steps: "- set: {value: 7}", status: 200, media: "application/json", body: "7"},
	{name: "false", settings: asValue, steps: "- set: {value: false}", status: 200, media: "application/json", body: "false"},
	{name: "JSON of a type", settings: []any{"answer", "value", "answerType", "application/hal+json"}, steps: "- set: {value: {a: 1}}", status: 200, media: "application/hal+json", body: `{"a":1}`},
	{name: "null", settings: asValue, steps: "- set: {value: null}", status: 200},
	{name: "an empty text", settings: asValue, steps: "- set: {value: ''}", status: 200, media: "text/plain; charset=utf-8"},
	{name: "no pipeline", settings: asValue, status: 200},
	{name: "the payload", settings: asValue, steps: "- set: {value: '#{body.payloadType}'}", status: 200, media: "text/plain; charset=utf-8", body: "{payloadType}"},
	{name: "fail with a status", settings: asValue, steps: "- fail: {message: No such order., statusCode: 404}", status: 404, media: "application/problem+json", parts: []string{`"status":404`, `"detail":"No such order."`, `"code":"pipeline-failed"`, `"traceId":"`}},
	{name: "another failure", settings: asValue, steps: "- set: {value: '#{1 / body.nothing}'}", status: 500, media: "application/problem+json", parts: []string{`"code":"pipeline-failed"`, `"status":500`}},
	{name: "a failure with a type", settings: []any{"answer", "value", "answerType", "text/xml"}, steps: "- fail: {message: No., statusCode: 422}", status: 422, media: "application/problem+json", parts: []string{`"detail":"No."`}},
	{name: "not in time", settings: []any{"answer", "value", "answerWait", "0s"}, steps: "- set: {value: late}", status: 202, media: "application/json", parts: []string{`"status":"processing"`, `"statusCode":200`, `"value":null`}},
	{name: "a redirect", settings: asValue, query: "&pollingRedirectEnabled=true", steps: "- set: {value: x}", status: 302},
	{name: "nothing", settings: asEmpty, steps: "- set: {value: unseen}", status: 200},
	{name: "nothing, and a failure", settings: asEmpty, steps: "- fail: {message: unseen}", status: 200},
	{name: "nothing, without a pipeline", settings: asEmpty, status: 200},
	{name: "nothing, and a redirect", settings: asEmpty, query: "&pollingRedirectEnabled=true", steps: "- set: {value: x}", status: 302},
	{name: "the result", settings: []any{"answer", "result"}, steps: "- set: {value: x}", status: 200, media: "application/json", parts: []string{`"status":"ok"`, `"value":"x"`}},
	{name: "the result, too late", settings: []any{"answerWait", "0s"}, steps: "- set: {value: x}", status: 200, media: "application/json", parts: []string{`"status":"processing"`}},
}

// TestAnswers: a webhook says what its callers get back, whatever form its payloads have.
func TestAnswers(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	for _, payloadType := range []string{"base64", "raw"} {
		for i, c := range answerCases {
			t.Run(payloadType+"/"+c.name, func(t *testing.T) {
				key := "webhook." + payloadType + "." + string(rune('a'+i))
				h := s.create(key, append([]any{"payloadType", payloadType}, c.settings...)...)
				if c.steps != "" {
					s.store(payloadType+"-"+string(rune('a'+i)), "pipeline:\n- event.listen: {eventKey: "+key+"}\n"+c.steps+"\n")
				}
				for _, target := range []string{receivePath + "?token=" + h.UUID, "/hook/" + h.UUID + "?x=1"} {
					c.check(t, payloadType, s.send("POST", target+c.query, strings.NewReader(`{"a":1}`), header("Content-Type", "application/json")))
				}
			})
		}
	}
}

func (c answerCase) check(t *testing.T, payloadType string, got answer) {
	t.Helper()
	got.wantStatus(t, c.status)
	if media := got.header.Get("Content-Type"); media != c.media {
		t.Errorf("Content-Type is %q, want %q", media, c.media)
	}
	for _, name := range []string{"Svc-Result-Correlationid", "Svc-Trace-Id"} {
		if got.header.Get(name) == "" {
			t.Errorf("the header %s is missing", name)
		}
	}
	if got.header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(got.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("a browser may run it: %v", got.header)
	}
	if want := strings.ReplaceAll(c.body, "{payloadType}", payloadType); c.parts == nil && string(got.body) != want {
		t.Errorf("the body is %q, want %q", got.body, want)
	}
	for _, part := range c.parts {
		if !strings.Contains(string(got.body), part) {
			t.Errorf("%s is missing in %s", part, got.body)
		}
	}
}

// TestThePortalRunsNoAnswer: what a pipeline writes is no script for a page of the same origin.
func TestThePortalRunsNoAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h := s.create("webhook.script", "answer", "value", "answerType", "text/javascript")
	s.store("script", listening("webhook.script", "set: {value: alert(1)}"))
	for site, want := range map[string]string{"same-origin": "text/plain; charset=utf-8", "cross-site": "text/javascript", "": "text/javascript"} {
		if got := s.call(h, "text/plain", "x", header("Sec-Fetch-Site", site)).wantStatus(t, 200); got.header.Get("Content-Type") != want {
			t.Errorf("for %q it is %s, want %s", site, got.header.Get("Content-Type"), want)
		}
	}
}

// TestSeveralPipelinesAnswerTogether: as value of the result has it.
func TestSeveralPipelinesAnswerTogether(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h := s.create("webhook.two", "answer", "value")
	for _, name := range []string{"one", "two"} {
		s.store(name, listening("webhook.two", "set: {value: from "+name+"}"))
	}
	if got := s.call(h, "text/plain", "x").wantStatus(t, 200); string(got.body) != `{"one":"from one","two":"from two"}` {
		t.Errorf("the answer is %s", got)
	}
	s.store("two", "pipeline:\n- event.listen: {eventKey: webhook.two}\n- fail: {message: No., statusCode: 409}\n")
	s.call(h, "text/plain", "x").wantProblem(t, 409, "pipeline-failed")
}

// TestARepeatedDeliveryIsAnsweredAlike: in the form of the first answer, as it is by then.
func TestARepeatedDeliveryIsAnsweredAlike(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	h := s.create("webhook.again", "answer", "value", "dedupe", "header:X-Id")
	s.store("again", "pipeline:\n- event.listen: {eventKey: webhook.again}\n- set: {value: '#{body.traceId}'}\n")
	first := s.call(h, "text/plain", "x", header("X-Id", "1")).wantStatus(t, 200)
	second := s.call(h, "text/plain", "x", header("X-Id", "1")).wantStatus(t, 200)
	if string(second.body) != string(first.body) || len(first.body) == 0 || second.header.Get("Svc-Duplicate") != "true" {
		t.Errorf("first %s, then %s", first, second)
	}
	if differs := s.call(h, "text/plain", "y", header("X-Id", "1")).wantStatus(t, 200); len(differs.body) != 0 {
		t.Errorf("another body is answered with %s", differs)
	}
}

// TestACallWaitsAsItsWebhookSays, for longer than others do, and no longer than the server
// runs.
func TestACallWaitsAsItsWebhookSays(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	s := start(t, "result-wait=1ms", "run-grace=1ms", "http-allow=127.0.0.0/8")
	h := s.create("webhook.patient", "answer", "value", "answerWait", "30s", "payloadType", "raw")
	s.store("patient", listening("webhook.patient", o.held(), "set: {value: done}"))
	answered := make(chan answer, 1)
	begin := func(size int) {
		go func() { answered <- s.call(h, "text/plain", strings.Repeat("x", size)) }()
		o.next()
	}
	begin(200 << 10)
	o.release <- struct{}{}
	got := <-answered
	if got.status != http.StatusOK || string(got.body) != "done" {
		t.Errorf("answered %s", got)
	}
	if found := s.command("trace.get", map[string]any{"traceId": got.header.Get("Svc-Trace-Id")}).wantStatus(t, 200); !strings.Contains(string(found.body), `"size":204800`) {
		t.Errorf("the trace has %s", found)
	}
	begin(1)
	s.stop()
	if got := <-answered; got.status != http.StatusAccepted {
		t.Errorf("at the end it is answered with %s", got)
	}
}

// TestAnswersThatSendersDemand: presets have their own forms.
func TestAnswersThatSendersDemand(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone, "public-url="+publicURL)
	for name, c := range map[string]struct {
		provider, steps string
		settings        []any
		status          int
		media, body     string
	}{
		"Twilio, a reply":     {"twilio", "- set: {value: <Response><Message>Hi</Message></Response>}", nil, 200, "text/xml; charset=utf-8", "<Response><Message>Hi</Message></Response>"},
		"Twilio, no text":     {"twilio", "- set: {value: {a: 1}}", nil, 200, "text/xml; charset=utf-8", "<Response/>"},
		"Twilio, no pipeline": {"twilio", "", nil, 200, "text/xml; charset=utf-8", "<Response/>"},
		"Twilio, not in time": {"twilio", "- set: {value: x}", []any{"answerWait", "0s"}, 200, "text/xml; charset=utf-8", "<Response/>"},
		"Twilio, as others":   {"twilio", "", []any{"answer", "empty"}, 200, "", ""},
		"Slack, a text":       {"slack", "- set: {value: Thanks.}", nil, 200, "text/plain; charset=utf-8", "Thanks."},
		"Slack, blocks":       {"slack", "- set: {value: {response_type: in_channel}}", nil, 200, "application/json", `{"response_type":"in_channel"}`},
		"Slack, nothing":      {"slack", "", nil, 200, "", ""},
		"Slack, not in time":  {"slack", "- set: {value: x}", []any{"answerWait", "0s"}, 200, "", ""},
		"Salesforce":          {"salesforce", "- fail: {message: unseen}", nil, 200, "text/xml; charset=utf-8", `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse></soapenv:Body></soapenv:Envelope>`},
	} {
		t.Run(name, func(t *testing.T) {
			preset, _ := sender.Find(c.provider)
			secrets, body, contentType := secretsOf(t, c.provider)
			v, err := sender.New(preset, secrets, nil)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.ToLower(strings.NewReplacer(" ", "-", ",", "").Replace(name))
			h := s.create("webhook."+name, append([]any{"provider", c.provider, "signingSecret", strings.Join(secrets, ","), "dedupe", "off"}, c.settings...)...)
			if c.steps != "" {
				s.store(name, "pipeline:\n- event.listen: {eventKey: webhook."+name+"}\n"+c.steps+"\n")
			}
			got := s.asSender(h, v, sender.Call{Method: "POST", Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body)}).wantStatus(t, c.status)
			if media := got.header.Get("Content-Type"); media != c.media || string(got.body) != c.body {
				t.Errorf("answered %q, %s", media, got)
			}
		})
	}
}

// TestAnswerSettings: what can be set, and how it is shown.
func TestAnswerSettings(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.set")
	runScenarios(t, s, []string{"{uuid}", h.UUID}, []scenario{
		{name: "at first", method: "GET", target: "webhook.get?uuid={uuid}", status: 200, fields: map[string]any{"answer": "result", "answerType": nil, "answerWait": nil}},
		{name: "all of them", target: "webhook.put?uuid={uuid}&answer=value&answerType=text/xml&answerWait=5000ms", status: 200, fields: map[string]any{"answer": "value", "answerType": "text/xml", "answerWait": "5s"}},
		{name: "others keep their value", target: "webhook.put?uuid={uuid}&description=x", status: 200, fields: map[string]any{"answer": "value", "answerType": "text/xml", "answerWait": "5s"}},
		{name: "no wait", target: "webhook.put?uuid={uuid}&answerWait=0s", status: 200, fields: map[string]any{"answerWait": "0s"}},
		{name: "as at first", target: "webhook.put", json: `{"uuid":"{uuid}","answer":"","answerType":"","answerWait":""}`, status: 200, fields: map[string]any{"answer": "result", "answerType": nil, "answerWait": nil}},
		{name: "an unknown form", target: "webhook.put?uuid={uuid}&answer=soap", status: 400, code: "parameter-invalid", parameter: "answer"},
		{name: "no type", target: "webhook.put?uuid={uuid}&answerType=xml", status: 400, code: "parameter-invalid", parameter: "answerType"},
		{name: "a type with a line end", target: "webhook.put", json: `{"uuid":"{uuid}","answerType":"text/xml\r\nX-A: b"}`, status: 400, code: "parameter-invalid", parameter: "answerType"},
		{name: "too long a wait", target: "webhook.put?uuid={uuid}&answerWait=31s", status: 400, code: "parameter-invalid", parameter: "answerWait"},
		{name: "a wait of less than nothing", target: "webhook.put?uuid={uuid}&answerWait=-1s", status: 400, code: "parameter-invalid", parameter: "answerWait"},
		{name: "no duration", target: "webhook.put?uuid={uuid}&answerWait=long", status: 400, code: "parameter-invalid", parameter: "answerWait"},
		{name: "a sender's own", target: "webhook.put?eventKey=webhook.sms&provider=twilio&signingSecret=x", status: 200, fields: map[string]any{"answer": "value", "answerType": "text/xml; charset=utf-8"}},
	})
}
