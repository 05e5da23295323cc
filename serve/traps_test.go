package serve_test

import (
	"net/http"
	"strings"
	"testing"

	"sluice"
)

// TestTraps: what is written correctly and can't work is found before a call finds it, by
// linting, storing and trying alike.
func TestTraps(t *testing.T) {
	t.Parallel()
	s := start(t, "http-allow=10.1.0.0/16")
	s.command("secret.put", map[string]any{"name": "db", "value": "postgres://a:b@example.com/c"}).wantStatus(t, 200)
	s.create("webhook.bytes", "payloadType", "base64")
	s.create("webhook.values", "payloadType", "raw")
	s.put("sender", "pipeline:\n- iam.run.as: {username: admin}\n- event.send: {eventKey: order.ready}", asAdmin).wantStatus(t, http.StatusOK)
	const again = "retry: {times: 1}\n"
	bytes, values := "pipeline:\n- event.listen: {eventKey: webhook.bytes}\n", "pipeline:\n- event.listen: {eventKey: webhook.values}\n- iam.run.as: {username: admin}\n"
	for name, c := range map[string]struct{ source, want string }{
		"a member of bytes":              {bytes + "- set: {value: 'Hello #{body.payload.name} #{body.payload.id}'}", "payload-is-base64"},
		"an item of bytes":               {bytes + "- set: {value: '#{body.payload[0]}'}", "payload-is-base64"},
		"a member, in a condition":       {bytes + "- log: {message: hi}\n- exit: {if: body.payload.a == 1}", "payload-is-base64"},
		"the bytes themselves":           {bytes + "- set: {value: '#{body.payload.origin} #{body.payload.files} #{body.payload.fields.a}'}", ""},
		"another body":                   {bytes + "- set: {value: {payload: {name: Ada}}}\n- set: {value: '#{body.payload.name}'}", ""},
		"by a pattern":                   {"pipeline:\n- event.listen: {eventKey: webhook.*}\n- set: {value: '#{body.payload.name}'}", "payload-is-base64"},
		"a member of values":             {values + "- set: {value: '#{body.payload.name}'}", ""},
		"a misspelled variable":          {"vars: {name: Ada}\n" + values + "- set: {value: '#{vars.nmae} #{vars.nmae}'}", "name-unset"},
		"a variable of a step":           {values + "- set: {value: 1, output: vars.a}\n- foreach: {in: '#{[1]}', as: b, do: [{set: {value: '#{vars.a + vars.b}'}}]}", ""},
		"a header of the call":           {values + "- set: {value: '#{headers.token}'}", "name-unset"},
		"a variable of callers":          {"pipeline:\n- set: {value: '#{vars.name}'}", ""},
		"a URL that is none":             {values + "- http.request: {url: example.com/x}", "parameter-invalid"},
		"a private address":              {values + "- http.request: {url: 'http://192.168.1.1/'}", "address-refused"},
		"this machine":                   {again + values + "- http.forward: {url: 'http://localhost:8080/'}", "address-refused"},
		"a private address, allowed":     {values + "- http.request: {url: 'http://10.1.2.3/'}", ""},
		"a URL that a run computes":      {values + "- http.request: {url: 'http://192.168.1.1/#{body.payload.id}'}", ""},
		"statuses that are none":         {values + "- if: {true: body.payload.a, then: [{http.request: {url: 'https://example.com', expect: 2x}}]}", "parameter-invalid"},
		"sent at two times":              {values + "- event.send: {eventKey: order.ready, delay: 1s, at: '2030-01-01T00:00:00Z'}", "parameter-invalid"},
		"values that a run computes":     {values + "- sql.exec: {database: db, statements: [{statement: select 1, values: ['#{body.payload.a}']}]}", ""},
		"a constant that fails":          {values + "- set: {value: 'It is #{1 + \"a\"}'}", "expression-failed"},
		"a number and a text":            {values + "- set: {value: '#{len(body.payload.name) + \"x\"}'}", "expression-failed"},
		"a text and a number, made one":  {values + "- set: {value: '#{\"x\" + string(len(body.payload.name))}'}", ""},
		"a text times a number":          {values + "- set: {value: '#{upper(body.payload.name) * 2}'}", "expression-failed"},
		"a number of any kind":           {values + "- set: {value: '#{(len(body.payload.a) + 1) % 2 / 1.5}'}", ""},
		"forwards, and tries once":       {values + "- http.forward: {url: 'https://example.com/'}", "retry-missing"},
		"forwards, and tries again":      {again + values + "- http.forward: {url: 'https://example.com/'}", ""},
		"forwards, once on purpose":      {"retry: {times: 0}\n" + values + "- http.forward: {url: 'https://example.com/'}", ""},
		"forwards, retried by the step":  {values + "- http.forward: {url: 'https://example.com/', onError: {retry: {times: 3}}}", ""},
		"forwards, if somebody runs it":  {"pipeline:\n- http.forward: {url: 'https://example.com/'}", ""},
		"braces of others":               {values + "- set: {value: {text: ['Hello {{ body.payload.name }}']}}", "braces-are-text"},
		"braces that are text":           {values + "- set: {value: 'Hello {{ name }} {{body}'}", ""},
		"the length of an element":       {values + "- convert.fromXml: {input: '#{body.payload}'}\n- set: {value: '#{len(body.order.item)}'}", "length-of-text"},
		"the length, in a variable":      {values + "- convert.fromXml: {input: '#{body.payload}', output: vars.x}\n- exit: {if: '#{len(vars.x.order.item) > 1}'}", "length-of-text"},
		"the length of a list":           {values + "- convert.fromXml: {input: '#{body.payload}', lists: [item]}\n- set: {value: '#{len(body.order.item)}'}", ""},
		"the length of another body":     {values + "- convert.fromXml: {input: '#{body.payload}'}\n- set: {value: {a: [1]}}\n- set: {value: '#{len(body.a)}'}", ""},
		"the error that is ignored":      {values + "- set: {value: '#{1 + body.x}', onError: ignore}\n- set: {value: '#{vars.error.code}'}", ""},
		"what a pipeline sends":          {"pipeline:\n- event.listen: {eventKey: order.ready}", ""},
		"an alert":                       {"pipeline:\n- event.listen: {eventKey: sluice.alert.raised}", ""},
		"an expression that may succeed": {values + "- set: {value: '#{1 + body.payload.a}'}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			asYAML := header("Content-Type", "application/yaml")
			for _, command := range []string{"pipeline.lint", "pipeline.put?name=" + strings.NewReplacer(" ", "-", ",", "").Replace(strings.ToLower(name)), "pipeline.try?eventKey=webhook.values"} {
				var found struct {
					Warnings []struct{ Code, Message string }
				}
				answer := s.send("POST", "/api/v3/command/"+command, strings.NewReader(c.source), asAdmin, asYAML).wantStatus(t, http.StatusOK)
				answer.into(t, &found)
				codes := []string{}
				for _, w := range found.Warnings {
					codes = append(codes, w.Code)
				}
				if got := strings.Join(codes, " "); got != c.want {
					t.Errorf("%s warns of %q, want %q: %s", command, got, c.want, answer.body)
				}
			}
		})
	}
}

// TestBoundsOfSteps: what can never be within the bounds of a step is refused when it is stored, with its place.
func TestBoundsOfSteps(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, c := range map[string]struct{ step, message string }{
		"too little time for work": {"work: {queue: a, within: 0s}", "The parameter within must be a duration from 1s to 168h, such as 2s."},
		"too much time for work":   {"work: {queue: a, within: 169h}", "The parameter within must be a duration from 1s to 168h, such as 2s."},
		"too short a delay":        {"event.send: {eventKey: a, delay: 999ms}", "The parameter delay must be a duration from 1s to 720h, such as 2s."},
		"of a message too":         {"message.send: {key: a, delay: 0s}", "The parameter delay must be a duration from 1s to 720h, such as 2s."},
		"no time at all":           {"http.request: {url: https://a.example.com, timeout: 0s}", "The parameter timeout must be a duration from 1ms to 5m, such as 2s."},
		"no key":                   {"event.send: {eventKey: a b}", "The parameter eventKey must be " + sluice.KeyRule + "."},
		"a key of the server":      {"message.send: {key: svc.event.sluice.schedule.a}", "The parameter key must not begin with sluice.: such events are made by the server itself."},
		"no statement":             {"sql.exec: {database: db}", "sql.exec takes either statement or statements."},
		"a statement twice":        {"sql.exec: {database: db, statement: select 1, statements: [{statement: select 1}]}", "sql.exec takes either statement or statements."},
		"no statements":            {"sql.exec: {database: db, statements: []}", "The parameter statements must be a list of 1 to 100 objects."},
		"no text of a statement":   {"sql.exec: {database: db, statements: [{values: [1]}]}", "The parameter statements has a mistake in statement 1: it must be the text of a statement."},
		"values that are no list":  {"sql.exec: {database: db, statement: select 1, values: 1}", "The parameter values must be a list."},
		"a copy that waits":        {"sql.exec: {database: db, statement: copy a from stdin}", "The parameter statement must not be copy from stdin, which waits for data; insert takes values."},
		"one of several, computed": {"sql.exec: {database: db, statements: [{statement: select $1, values: ['#{body.a}']}, {statement: COPY a FROM STDIN}]}", "The parameter statements has a mistake in statement 2: it must not be copy from stdin, which waits for data; insert takes values."},
		"too long an id":           {"event.send: {eventKey: a, deliveryId: " + strings.Repeat("x", 201) + "}", "The parameter deliveryId must have at most 200 bytes."},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.put("bounds", "pipeline:\n- event.listen: {eventKey: a}\n- "+c.step, asAdmin).wantProblem(t, 400, "pipeline-invalid")
			if column, _ := got["column"].(float64); got["detail"] != "Line 3: "+c.message || column < 3 {
				t.Errorf("got %v", got)
			}
		})
	}
}
