package webhook

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
	s, err := newSchema([]byte(`{"items":{"type":"string"}}`))
	if err != nil {
		t.Fatal(err)
	}
	body := []byte("[" + strings.Repeat(`"a",`, 2*tellEvery) + `"a"]`)
	free := func(int64) error { return nil }
	if err := s.check(t.Context(), body, free); err != nil {
		t.Errorf("a payload that meets the schema gives %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := s.check(gone, body, free); !errors.Is(err, context.Canceled) {
		t.Errorf("without its caller it gives %v", err)
	}
	full := sluice.Errorf(sluice.CodeOverloaded, "Full.")
	if err := s.check(t.Context(), body, func(int64) error { return full }); !errors.Is(err, full) {
		t.Errorf("without memory it gives %v", err)
	}
}
