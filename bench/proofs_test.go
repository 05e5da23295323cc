package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/sender"
)

// TestProofsFit: a proof that the server refuses would measure refusals.
func TestProofsFit(t *testing.T) {
	body := []byte(bodyOf(bodySize))
	proofs, err := proofsOf(body)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range proofs {
		scheme, err := sender.ParseScheme([]byte(p.signature))
		if err != nil {
			t.Fatal(err)
		}
		v, err := sender.New(scheme, []string{p.secret}, nil)
		if err != nil {
			t.Fatal(err)
		}
		call := &sender.Call{Method: "POST", URL: "http://localhost/", Header: http.Header{}, Body: body}
		if p.authorization != "" {
			call.Header.Set("Authorization", p.authorization)
		}
		for line := range strings.SplitSeq(p.header, "\n") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				call.Header.Set(name, value)
			}
		}
		if err := v.Verify(t.Context(), call, time.Now()); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		if p.verify != nil && !p.verify() {
			t.Errorf("%s: the bare verification fails", p.name)
		}
	}
}
