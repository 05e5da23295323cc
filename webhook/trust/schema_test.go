package trust

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice"
	"sluice/limit"
)

// TestCheckEndsWithItsCaller: nobody checks a payload whose caller has gone, or for whose
// findings there is no memory.
func TestCheckEndsWithItsCaller(t *testing.T) {
	for name, test := range map[string]struct{ schema, body string }{
		"many values":    {`{"items":{"type":"string"}}`, "[" + strings.Repeat(`"a",`, lookEvery) + `"a"]`},
		"few, a pattern": {`{"items":{"pattern":"^(a?){50}$"}}`, "[" + strings.Repeat(`"`+strings.Repeat("a", 50)+`",`, 500) + `"a"]`},
	} {
		t.Run(name, func(t *testing.T) { checkEnds(t, test.schema, []byte(test.body)) })
	}
}

func checkEnds(t *testing.T, source string, body []byte) {
	s, err := newSchema([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	free := func(int64) error { return nil }
	if err := s.check(t.Context(), nil, body, free); err != nil {
		t.Errorf("a payload that meets the schema gives %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := s.check(gone, nil, body, free); !errors.Is(err, context.Canceled) {
		t.Errorf("without its caller it gives %v", err)
	}
	full := sluice.CodeOverloaded.Errorf("Full.")
	if err := s.check(t.Context(), nil, body, func(int64) error { return full }); !errors.Is(err, full) {
		t.Errorf("without memory it gives %v", err)
	}
}

// TestSchemaWaitsForAPlace: a check that computes for long waits until there is a place for it, however
// long that takes.
func TestSchemaWaitsForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := newSchema([]byte(`{"items":{"type":"string"}}`))
		if err != nil {
			t.Fatal(err)
		}
		computing, ended := limit.NewComputing(), make(chan error, 1)
		var others []*limit.Work
		for range max(1, runtime.GOMAXPROCS(0)-1) {
			w := computing.Work(t.Context(), "others", "others")
			if err := w.Spend(w.Left() + 1); err != nil {
				t.Fatal(err)
			}
			others = append(others, w)
		}
		go func() {
			body := "[" + strings.Repeat(`"a",`, lookEvery) + `"a"]`
			ended <- s.check(t.Context(), computing.Work(t.Context(), "webhook.a", ""), []byte(body),
				func(int64) error { return nil })
		}()
		time.Sleep(time.Hour)
		if len(ended) > 0 {
			t.Error("it does not wait")
		}
		for _, w := range others {
			w.Rest()
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
