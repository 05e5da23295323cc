package trust

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sluice"
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
	if err := s.check(t.Context(), body, free); err != nil {
		t.Errorf("a payload that meets the schema gives %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := s.check(gone, body, free); !errors.Is(err, context.Canceled) {
		t.Errorf("without its caller it gives %v", err)
	}
	full := sluice.CodeOverloaded.Errorf("Full.")
	if err := s.check(t.Context(), body, func(int64) error { return full }); !errors.Is(err, full) {
		t.Errorf("without memory it gives %v", err)
	}
}
