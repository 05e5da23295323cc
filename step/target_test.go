package step_test

import (
	"context"
	"encoding/json"
	"testing"

	"sluice"
	"sluice/step"
)

// TestTargetsAreNotCalledInTries: what was recorded is the answer, and nobody is dialled.
func TestTargetsAreNotCalledInTries(t *testing.T) {
	set := newSet(step.Options{HTTP: brief})
	statement := sqlStep("statement: 'select $1::int as n', values: [1]")
	for _, test := range []struct{ name, source, url, request, recorded, want, code string }{
		{"rows", statement, "postgres://db.example.com:5432/x", "\n" + `[{"statement":"select $1::int as n","values":[1]}]`, "\n" + `{"count":1,"rows":[{"n":1}]}`, `{"count":1,"rows":[{"n":1}]}`, ""},
		{"a record", sendStep("topic: t, value: x"), "kafka://db.example.com:5432/x", "\n" + `{"headers":{},"key":null,"topic":"t","value":"x"}`, "\n" + `{"partition":1,"offset":2}`, `{"offset":2,"partition":1}`, ""},
		{"something else", statement, "postgres://db.example.com:5432/x", "\n" + `[{"statement":"select $1::int as n","values":[1]}]`, "(12 bytes that are not text)", "", "not-recorded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			secrets := map[string]string{"db": "postgres://a:p4ssword@db.example.com:5432/x?sslmode=disable", "k": "kafka://a:p4ssword@db.example.com:5432/x"}
			out, err := runWith(t, set, test.source, secrets, func(r *sluice.Run) {
				r.Recorded = func(_ context.Context, sent sluice.Exchange) (sluice.Exchange, error) {
					if sent.URL != test.url || sent.Request != test.request {
						t.Errorf("asks for %+v", sent)
					}
					sent.Response = test.recorded
					return sent, nil
				}
			})
			if got := sluice.AsError(err); (err == nil) != (test.code == "") || err != nil && got.Code != test.code {
				t.Fatal(err)
			}
			if got, _ := json.Marshal(out.Body); test.want != "" && string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestTargetsOnce: steps that reach databases and clusters can be done once.
func TestTargetsOnce(t *testing.T) {
	set := newSet(step.Options{HTTP: brief})
	for _, text := range []string{sqlStep("statement: select 1, once: true"), sendStep("topic: t, once: true")} {
		_, err := runWith(t, set, text, map[string]string{"db": "x", "k": "x"})
		refuses(t, err, sluice.Invalid, "auth-failed", "must be a URL such as")
	}
}

// TestTargetsBehindNames: a name that leads to a refused address is of no use, and none is told.
func TestTargetsBehindNames(t *testing.T) {
	set := newSet(step.Options{HTTP: step.HTTPOptions{Idle: brief.Idle}})
	for text, secret := range map[string]string{
		sqlStep("statement: select 1"): "postgres://a:p4ssword@localhost:1/x", sendStep("topic: t"): "kafka://a:p4ssword@localhost:1",
	} {
		_, err := runWith(t, set, text, map[string]string{"db": secret, "k": secret})
		refuses(t, err, sluice.Forbidden, "address-refused", `"localhost" leads to an address in a private`)
	}
}
