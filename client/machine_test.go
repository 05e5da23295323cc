package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"sluice"
	"sluice/client"
)

// TestAProgramGetsItsOwnTokens: with an id and a secret, and a new token when
// the one before has expired.
func TestAProgramGetsItsOwnTokens(t *testing.T) {
	server := startServer(t, map[string]string{"access-ttl": "1s"})
	admin := newClient(t, server, client.Password("admin", password))
	answer, err := admin.Command(t.Context(), "iam.client.put", url.Values{"clientId": {"ci"}, "roles": {"viewer"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal(answer.Body, &made); err != nil {
		t.Fatal(err)
	}
	machine := &client.Machine{Server: server, ID: "ci", Secret: made.Secret}
	c := newClient(t, server, machine)
	for range 3 { // a token of one second is never good for another call
		answer, err := c.Command(t.Context(), "iam.whoami", nil, nil)
		if err != nil || !strings.Contains(string(answer.Body), `"client:ci"`) {
			t.Fatalf("got %s, %v", answer.Body, err)
		}
	}
	first, err := machine.Authorization(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := machine.Authorization(t.Context(), first); err != nil || second == first {
		t.Errorf("a token that was refused was given again (%v)", err)
	}
	wrong := newClient(t, server, &client.Machine{Server: server, ID: "ci", Secret: "wrong"})
	_, err = wrong.Command(t.Context(), "iam.whoami", nil, nil)
	if e := sluice.AsError(err); e.Kind != sluice.Unauthenticated || !strings.Contains(e.Message, "SLUICE_CLIENT_SECRET") {
		t.Errorf("a wrong secret: %v", err)
	}
}

// TestAProgramAtAnotherProvider: tokens come from where the issuer says.
func TestAProgramAtAnotherProvider(t *testing.T) {
	var server *httptest.Server
	asked := 0
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]string{
			"/openapi.json": `{"paths":{},"components":{"securitySchemes":{"openid":{"openIdConnectUrl":"` + server.URL + `/realm/.well-known/openid-configuration"}}}}`,
			"/realm/.well-known/openid-configuration": `{"token_endpoint":"` + server.URL + `/token"}`,
			"/token": `{"access_token":"a.b.c","expires_in":300}`,
		}[r.URL.Path]
		if r.URL.Path == "/token" {
			asked++
			if r.FormValue("grant_type") != "client_credentials" || r.FormValue("client_id") != "ci" || r.FormValue("client_secret") != "hush" {
				t.Errorf("asked with %v", r.Form)
			}
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	machine := &client.Machine{Server: server.URL, ID: "ci", Secret: "hush"}
	for range 2 {
		if got, err := machine.Authorization(t.Context(), ""); err != nil || got != "Bearer a.b.c" {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if asked != 1 {
		t.Errorf("%d tokens were asked for, want one", asked)
	}
}

func TestAPlaceIsKeptForItsEvents(t *testing.T) {
	profiles := client.OpenProfiles(t.TempDir())
	kept := client.Position{URL: "http://a", Pattern: "webhook.x", Forward: "http://localhost:1", After: "5-5"}
	if err := profiles.Keep(kept); err != nil {
		t.Fatal(err)
	}
	for want, position := range map[string]client.Position{
		"5-5": {URL: "http://a", Pattern: "webhook.x", Forward: "http://localhost:2"},
		"":    {URL: "http://a", Pattern: "webhook.y", Forward: "http://localhost:1"},
	} {
		if got, err := profiles.Resume(position); err != nil || got.After != want || got.Forward != position.Forward {
			t.Errorf("%+v resumes at %q, %v; want %q", position, got.After, err, want)
		}
	}
}

func TestWhereEventsAreForwardedTo(t *testing.T) {
	for text, want := range map[string]string{
		"3000": "http://localhost:3000", "localhost:3000/hook": "http://localhost:3000/hook", "http://localhost:3000": "http://localhost:3000",
		"app.example.com": "https://app.example.com", "": "", "ftp://x": "", "99999999": "", "0": "", "localhost:port": "",
	} {
		f, err := client.NewForwarder(text)
		if (err == nil) != (want != "") || err == nil && f.URL() != want {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
