package sluice_test

import (
	"testing"

	"sluice"
)

// TestTheCauseNamesWhoFailed: the target of a call that was never made has nothing to do with it.
func TestTheCauseNamesWhoFailed(t *testing.T) {
	for _, test := range []struct {
		code   sluice.Code
		detail string
		status int
		want   string
	}{
		{sluice.CodeHTTPStatus, "It is down.", 503, "http-status 503 from api.example.com"},
		{sluice.CodeHTTPFailed, "It is away.", 0, "http-failed from api.example.com"},
		{sluice.CodeAuthFailed, "login.example.com is away.", 0, "auth-failed: login.example.com is away."},
	} {
		run := sluice.RunReport{
			Error: &sluice.Problem{Code: string(test.code), Detail: test.detail},
			Steps: []sluice.StepReport{{Status: sluice.StatusError, Code: string(test.code), HTTP: &sluice.Exchange{Host: "api.example.com", StatusCode: test.status}}},
		}
		if got := run.Cause(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}
