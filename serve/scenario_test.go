package serve_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A scenario is a request of the admin and what must come of it.
type scenario struct {
	name   string
	method string // "" means POST
	target string // behind /api/v3/command/
	json   string // body
	form   string // body
	auth   string // Authorization header; "" means the admin's, "-" none

	status    int
	fields    map[string]any    // of the answer, which may have more
	code      string            // of the problem
	parameter string            // at fault
	detail    string            // part of the problem's detail
	header    map[string]string // of the answer
}

// run sends the request, with placeholders filled in, and checks the answer.
func (c scenario) run(t *testing.T, s *service, fill *strings.Replacer) {
	t.Helper()
	method := c.method
	if method == "" {
		method = http.MethodPost
	}
	alterations := []func(*http.Request){asAdmin}
	if c.auth != "" {
		alterations = nil
	}
	if c.auth != "" && c.auth != "-" {
		alterations = append(alterations, header("Authorization", c.auth))
	}
	if c.json != "" {
		alterations = append(alterations, header("Content-Type", "application/json"))
	}
	if c.form != "" {
		alterations = append(alterations, header("Content-Type", form))
	}
	got := s.send(method, "/api/v3/command/"+fill.Replace(c.target), strings.NewReader(fill.Replace(c.json+c.form)), alterations...)
	got.wantStatus(t, c.status)
	for name, want := range c.header {
		if value := got.header.Get(name); value != want {
			t.Errorf("the header %s is %q, want %q", name, value, want)
		}
	}
	if method == http.MethodHead {
		return
	}
	if c.code != "" {
		problem := got.wantProblem(t, c.status, c.code)
		if parameter, _ := problem["parameter"].(string); parameter != c.parameter {
			t.Errorf("the parameter at fault is %q, want %q", parameter, c.parameter)
		}
		if detail, _ := problem["detail"].(string); !strings.Contains(detail, c.detail) {
			t.Errorf("the detail is %q, want it to say %q", detail, c.detail)
		}
		return
	}
	if media := got.header.Get("Content-Type"); media != "application/json" {
		t.Errorf("Content-Type is %q, want application/json", media)
	}
	c.wantFields(t, got, fill)
}

func (c scenario) wantFields(t *testing.T, got answer, fill *strings.Replacer) {
	t.Helper()
	if c.fields == nil {
		return
	}
	text, err := json.Marshal(c.fields)
	if err != nil {
		t.Fatal(err)
	}
	want := decode(t, []byte(fill.Replace(string(text)))).(map[string]any)
	object := decode(t, got.body).(map[string]any)
	for name, value := range want {
		if diff := cmp.Diff(value, object[name]); diff != "" {
			t.Errorf("%s is another one (-want +got):\n%s", name, diff)
		}
	}
}

func runScenarios(t *testing.T, s *service, values []string, scenarios []scenario) {
	t.Helper()
	fill := strings.NewReplacer(values...)
	for _, c := range scenarios {
		t.Run(c.name, func(t *testing.T) { c.run(t, s, fill) })
	}
}

// TestParameters: how the parameters of a command are given, whichever command
// it is, and what is said when they are wrong.
func TestParameters(t *testing.T) {
	t.Parallel()
	s := start(t)
	post := map[string]string{"Allow": "POST"}
	getPost := map[string]string{"Allow": "GET, POST"}
	runScenarios(t, s, nil, []scenario{
		{name: "in the query", target: "webhook.put?eventKey=webhook.p1&maxPayloadLength=7", status: 200, fields: map[string]any{"maxPayloadLength": 7}},
		{name: "in a form", target: "webhook.put", form: "eventKey=webhook.p2&maxPayloadLength=7", status: 200, fields: map[string]any{"maxPayloadLength": 7}},
		{name: "in a JSON object", target: "webhook.put", json: `{"eventKey":"webhook.p3","maxPayloadLength":7}`, status: 200, fields: map[string]any{"maxPayloadLength": 7}},
		{name: "in query and form", target: "webhook.put?eventKey=webhook.p4", form: "maxPayloadLength=7", status: 200, fields: map[string]any{"eventKey": "webhook.p4", "maxPayloadLength": 7}},
		{name: "in query and JSON", target: "webhook.put?eventKey=webhook.p5", json: `{"maxPayloadLength":7}`, status: 200, fields: map[string]any{"eventKey": "webhook.p5", "maxPayloadLength": 7}},
		{name: "in both with the same value", target: "webhook.put?eventKey=webhook.p6&maxPayloadLength=7", json: `{"eventKey":"webhook.p6","maxPayloadLength":7}`, status: 200, fields: map[string]any{"eventKey": "webhook.p6"}},
		{name: "a JSON null is as good as none", target: "webhook.put", json: `{"eventKey":"webhook.p7","maxPayloadLength":null,"uuid":null}`, status: 200, fields: map[string]any{"maxPayloadLength": 512000}},
		{name: "by GET where nothing changes", method: "GET", target: "webhook.get?search=p1", status: 200},

		{name: "different values in query and body", target: "webhook.put?eventKey=webhook.x", json: `{"eventKey":"webhook.y"}`, status: 400, code: "parameter-conflict", parameter: "eventKey"},
		{name: "different values in the query", target: "webhook.put?eventKey=webhook.x&eventKey=webhook.y", status: 400, code: "parameter-conflict", parameter: "eventKey"},
		{name: "twice in a JSON object", target: "webhook.put", json: `{"eventKey":"webhook.x","eventKey":"webhook.y"}`, status: 400, code: "parameter-conflict", parameter: "eventKey"},
		{name: "an unknown name", target: "webhook.put", json: `{"eventkey":"webhook.x"}`, status: 400, code: "parameter-unknown", parameter: "eventkey", detail: "eventKey"},
		{name: "an unknown name, misspelt", target: "webhook.put?maxPayloadLenght=1&eventKey=webhook.x", status: 400, code: "parameter-unknown", parameter: "maxPayloadLenght", detail: "maxPayloadLength"},
		{name: "an unknown name like no other", target: "webhook.get?zzzzzz=1", status: 400, code: "parameter-unknown", parameter: "zzzzzz", detail: "uuid"},
		{name: "a required one is missing", target: "webhook.delete", status: 400, code: "parameter-missing", parameter: "uuid"},
		{name: "text for an integer", target: "webhook.put?eventKey=webhook.x&maxPayloadLength=many", status: 400, code: "parameter-invalid", parameter: "maxPayloadLength", detail: "integer"},
		{name: "a fraction for an integer", target: "webhook.put", json: `{"eventKey":"webhook.x","maxPayloadLength":1.5}`, status: 400, code: "parameter-invalid", parameter: "maxPayloadLength"},
		{name: "a JSON string for an integer", target: "webhook.put", json: `{"eventKey":"webhook.x","maxPayloadLength":"7"}`, status: 400, code: "parameter-invalid", parameter: "maxPayloadLength"},
		{name: "an integer beyond 64 bits", target: "webhook.put?eventKey=webhook.x&maxPayloadLength=99999999999999999999", status: 400, code: "parameter-invalid", parameter: "maxPayloadLength"},
		{name: "a number for a string", target: "webhook.put", json: `{"eventKey":7}`, status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "an object for a string", target: "webhook.put", json: `{"eventKey":{"a":1}}`, status: 400, code: "parameter-invalid", parameter: "eventKey"},
		{name: "an array where an object belongs", target: "webhook.put", json: `[{"eventKey":"webhook.x"}]`, status: 400, code: "body-malformed"},
		{name: "JSON that breaks off", target: "webhook.put", json: `{"eventKey":"webhook.x"`, status: 400, code: "body-malformed"},
		{name: "JSON with something behind it", target: "webhook.put", json: `{"eventKey":"webhook.x"}{}`, status: 400, code: "body-malformed"},
		{name: "JSON with a bracket behind it", target: "webhook.put", json: `{"eventKey":"webhook.x"}]`, status: 400, code: "body-malformed"},
		{name: "a form with a broken escape", target: "webhook.put", form: "eventKey=%zz", status: 400, code: "body-malformed"},
		{name: "a query with a broken escape", target: "webhook.put?eventKey=%zz", status: 400, code: "query-malformed"},
		{name: "more than a command needs", target: "webhook.put", json: `{"eventKey":"` + strings.Repeat("x", 1<<20) + `"}`, status: 413, code: "payload-too-large"},

		{name: "GET where something changes", method: "GET", target: "webhook.put?eventKey=webhook.x", status: 405, code: "method-not-allowed", header: post},
		{name: "HEAD where something changes", method: "HEAD", target: "webhook.put?eventKey=webhook.x", status: 405, header: post},
		{name: "HEAD where nothing changes", method: "HEAD", target: "webhook.get", status: 405, header: getPost},
		{name: "PUT", method: "PUT", target: "webhook.put?eventKey=webhook.x", status: 405, code: "method-not-allowed", header: post},
		{name: "DELETE", method: "DELETE", target: "webhook.get", status: 405, code: "method-not-allowed", header: getPost},
		{name: "an unknown command", target: "webhook.nothing", status: 404, code: "command-unknown"},
		{name: "a misspelt command", target: "webhok.put", status: 404, code: "command-unknown", detail: "webhook.put"},
		{name: "a command in capitals", target: "Webhook.Put", status: 404, code: "command-unknown", detail: "webhook.put"},
		{name: "nothing of all this has created a webhook", method: "GET", target: "webhook.get?search=webhook.x", status: 200, header: map[string]string{"Content-Length": "3"}}, // []
	})
}

// TestParametersOfOtherTypes: a body that is neither form nor JSON is no way to
// give parameters.
func TestParametersOfOtherTypes(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, contentType := range []string{"", "text/plain", "application/xml", upload} {
		got := s.send("POST", "/api/v3/command/webhook.put", strings.NewReader(`{"eventKey":"webhook.x"}`), asAdmin, header("Content-Type", contentType))
		got.wantProblem(t, http.StatusUnsupportedMediaType, "content-type-unsupported")
	}
}
