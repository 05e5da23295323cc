package oidc

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

func TestClientAuthentication(t *testing.T) {
	f := newFixture(t)
	const challenge = `Basic realm="default", charset="UTF-8"`
	raw := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	tests := []struct {
		name    string
		headers []string
		form    []string
		status  int
		code    string
	}{
		{name: "by header", headers: []string{clientHeader(secretID, robotSecret)}, status: 200},
		{name: "scheme in lower case", headers: []string{strings.Replace(clientHeader(secretID, robotSecret), "Basic", "basic", 1)}, status: 200},
		{name: "by header, naming itself in the form", headers: []string{clientHeader(secretID, robotSecret)}, form: []string{"client_id", secretID}, status: 200},
		{name: "by form", form: []string{"client_id", secretID, "client_secret", robotSecret}, status: 200},
		{name: "by both", headers: []string{clientHeader(secretID, robotSecret)}, form: []string{"client_secret", robotSecret}, status: 400, code: "invalid_request"},
		{name: "two clients", headers: []string{clientHeader(secretID, robotSecret)}, form: []string{"client_id", publicID}, status: 400, code: "invalid_request"},
		{name: "two headers", headers: []string{clientHeader(secretID, robotSecret), clientHeader(secretID, robotSecret)}, status: 400, code: "invalid_request"},
		{name: "wrong secret by header", headers: []string{clientHeader(secretID, "guess")}, status: 401, code: "invalid_client"},
		{name: "wrong secret by form", form: []string{"client_id", secretID, "client_secret", "guess"}, status: 401, code: "invalid_client"},
		{name: "hash of the secret", form: []string{"client_id", secretID, "client_secret", f.directory.clients[secretID].Secret}, status: 401, code: "invalid_client"},
		{name: "no secret", form: []string{"client_id", secretID}, status: 401, code: "invalid_client"},
		{name: "empty secret", form: []string{"client_id", secretID, "client_secret", ""}, status: 401, code: "invalid_client"},
		{name: "unknown client", form: []string{"client_id", "nobody", "client_secret", robotSecret}, status: 401, code: "invalid_client"},
		{name: "unknown client without a secret", form: []string{"client_id", "nobody"}, status: 401, code: "invalid_client"},
		{name: "no client", status: 401, code: "invalid_client"},
		{name: "public client with a secret", form: []string{"client_id", publicID, "client_secret", "x"}, status: 401, code: "invalid_client"},
		{name: "secret not form-encoded", headers: []string{raw(secretID + ":" + robotSecret)}, status: 401, code: "invalid_client"},
		{name: "other scheme", headers: []string{"Bearer abc"}, status: 401, code: "invalid_client"},
		{name: "no colon", headers: []string{raw(secretID)}, status: 401, code: "invalid_client"},
		{name: "bad base64", headers: []string{"Basic ***"}, status: 401, code: "invalid_client"},
		{name: "control characters", headers: []string{raw("robot%00:x")}, status: 401, code: "invalid_client"},
		{name: "empty header", headers: []string{""}, status: 401, code: "invalid_client"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			header := http.Header{"Authorization": test.headers}
			r := f.postWith(header, "token", append(test.form, "grant_type", "client_credentials")...)
			if r.status != test.status || r.str("error") != test.code {
				t.Errorf("answer is %d %s", r.status, r.text)
			}
			if got := r.header.Get("WWW-Authenticate"); (got == challenge) != (test.status == 401) {
				t.Errorf("challenge is %q", got)
			}
		})
	}
}

func TestPublicClientMayLeaveItsSecretEmpty(t *testing.T) {
	f := newFixture(t)
	header := http.Header{"Authorization": {clientHeader(publicID, "")}}
	r := f.postWith(header, "token", "grant_type", "password", "username", userName, "password", userPassword)
	if r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.text)
	}
}
