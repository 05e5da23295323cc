package main

import (
	"testing"

	"sluice"
)

// TestWhatATrySentIsShownWhereItDiffers: two lines of one outcome are never the same.
func TestWhatATrySentIsShownWhereItDiffers(t *testing.T) {
	outcome := func(request string) *sluice.TryOutcome {
		call := sluice.TryCall{Command: "http.request", HTTP: &sluice.Exchange{Method: "POST", URL: "https://a.example/", Request: request}}
		return &sluice.TryOutcome{Status: sluice.StatusOK, Calls: []sluice.TryCall{call}}
	}
	was, same, other := outcome("a: b\n\n{\"sum\":10}"), outcome("a: c\n\n{\"sum\":10}"), outcome("a: b\n\n{\"sum\":10000}")
	for want, got := range map[string]string{
		`ok, http.request POST https://a.example/`:               outcomeLine(was, same),
		`ok, http.request POST https://a.example/ {"sum":10}`:    outcomeLine(was, other),
		`ok, http.request POST https://a.example/ {"sum":10000}`: outcomeLine(other, was),
		`no run`: outcomeLine(nil, other),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
