package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"sluice"
)

// TestAnIssuerRefuses: a login ends with what the issuer says, in the browser and with a code.
func TestAnIssuerRefuses(t *testing.T) {
	for name, c := range map[string]struct{ code, said, want string }{
		"somebody cancels":  {"access_denied", "", "The login was refused in the browser."},
		"by its rules":      {"access_denied", "Ada has no role here.", "The login was refused in the browser: Ada has no role here."},
		"for another cause": {"server_error", "The database is away.", "The issuer gives no login: The database is away."},
		"without a reason":  {"invalid_scope", "", "The issuer gives no login: invalid_scope."},
	} {
		t.Run(name, func(t *testing.T) {
			var company *httptest.Server
			company = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch r.URL.Path {
				case "/.well-known/openid-configuration":
					_, _ = io.WriteString(w, `{"issuer":"`+company.URL+`","authorization_endpoint":"`+company.URL+`/sign-in","token_endpoint":"`+company.URL+`/token","device_authorization_endpoint":"`+company.URL+`/device"}`)
				case "/device":
					_, _ = io.WriteString(w, `{"device_code":"d","user_code":"U","verification_uri":"`+company.URL+`/code","expires_in":60,"interval":1}`)
				case "/token":
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, `{"error":"`+c.code+`","error_description":"`+c.said+`"}`)
				}
			}))
			t.Cleanup(company.Close)
			ours := answering(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/openapi.json" {
					_, _ = io.WriteString(w, `{"paths":{},"components":{"securitySchemes":{"openid":{"openIdConnectUrl":"`+company.URL+`/.well-known/openid-configuration"}}}}`)
					return
				}
				_, _ = io.WriteString(w, `{"issuer":"`+company.URL+`","cliClient":"cli"}`)
			})
			signIn, err := ours.SignIn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			asked, _ := url.Parse(signIn.URL)
			back := asked.Query().Get("redirect_uri") + "?" + url.Values{"error": {c.code}, "error_description": {c.said}, "state": {asked.Query().Get("state")}}.Encode()
			go func() {
				if r, err := http.NewRequestWithContext(t.Context(), "GET", back, nil); err == nil {
					if answer, err := http.DefaultClient.Do(r); err == nil {
						_ = answer.Body.Close()
					}
				}
			}()
			if _, err := signIn.Wait(t.Context()); sluice.AsError(err).Message != c.want {
				t.Errorf("in the browser: %v", err)
			}
			device, err := ours.Device(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := device.Wait(t.Context()); sluice.AsError(err).Message != c.want {
				t.Errorf("with a code: %v", err)
			}
		})
	}
}
