package serve_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// description loads /openapi.json and checks that it is what it says to be.
func description(t *testing.T, s *service) *openapi3.T {
	t.Helper()
	got := s.send("GET", "/openapi.json", nil, asAdmin).wantStatus(t, http.StatusOK)
	if media := got.header.Get("Content-Type"); media != "application/json" {
		t.Errorf("Content-Type is %q", media)
	}
	document, err := openapi3.NewLoader().LoadFromData(got.body)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(document.OpenAPI, "3.1.") {
		t.Errorf("the document is OpenAPI %s, want 3.1", document.OpenAPI)
	}
	return document
}

// TestDescriptionIsComplete: every endpoint is described, with its methods and
// with who may call it.
func TestDescriptionIsComplete(t *testing.T) {
	t.Parallel()
	s := start(t)
	document := description(t, s)
	want := map[string]string{
		"/api/v3/command/webhook.put":     "POST",
		"/api/v3/command/webhook.get":     "GET POST",
		"/api/v3/command/webhook.delete":  "POST",
		"/api/v3/command/webhook.receive": "GET POST open",
		"/api/v3/command/trace.get":       "GET POST",
		"/api/v3/command/event.replay":    "POST",
		"/api/v3/events":                  "GET",
		"/api/v3/result":                  "GET open",
		"/healthz":                        "GET open",
		"/readyz":                         "GET open",
	}
	for path, expected := range want {
		item := document.Paths.Value(path)
		if item == nil {
			t.Errorf("%s is not described", path)
			continue
		}
		var words []string
		open := ""
		for method, operation := range item.Operations() {
			words = append(words, method)
			if operation.Security == nil {
				t.Errorf("%s %s doesn't say who may call it", method, path)
			} else if len(*operation.Security) == 0 {
				open = " open"
			}
		}
		slices.Sort(words)
		if got := strings.Join(words, " ") + open; got != expected {
			t.Errorf("%s is described as %s, want %s", path, got, expected)
		}
	}
	if servers := document.Servers; len(servers) != 1 || servers[0].URL != s.server.URL() {
		t.Errorf("the server is described as %v, want %s", servers, s.server.URL())
	}
}

// TestAnswersAreAsDescribed: what the service answers fits its description, good
// and bad.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	s := start(t)
	router, err := gorillamux.NewRouter(description(t, s))
	if err != nil {
		t.Fatal(err)
	}
	hook := s.create("Described") // with warnings
	call := s.call(hook, "text/plain", "hi").wantStatus(t, http.StatusOK)
	command := "/api/v3/command/"
	for _, test := range []struct {
		method, target, body string
		status               int
	}{
		{"POST", command + "webhook.put?eventKey=webhook.new&payloadType=raw", "", 200},
		{"POST", command + "webhook.put", `{"eventKey":"Other","maxPayloadLength":5}`, 200},
		{"POST", command + "webhook.put?eventKey=..", "", 400},
		{"POST", command + "webhook.put?eventKey=Described", "", 409},
		{"GET", command + "webhook.get", "", 200},
		{"POST", command + "webhook.get?limit=1", "", 200},
		{"GET", command + "webhook.get?uuid=" + hook.UUID, "", 200},
		{"GET", command + "webhook.get?uuid=" + unknownToken, "", 404},
		{"GET", command + "webhook.receive?token=" + hook.UUID, "", 200},
		{"GET", command + "webhook.receive?pollingRedirectEnabled=true&token=" + hook.UUID, "", 302},
		{"POST", command + "webhook.receive?token=" + unknownToken, "", 401},
		{"POST", command + "webhook.receive", "", 401},
		{"GET", resultPath + "?svc-result-correlationid=" + call.header.Get("svc-result-correlationid"), "", 200},
		{"GET", resultPath + "?svc-result-correlationid=" + unknownToken, "", 410},
		{"GET", command + "trace.get?traceId=" + call.header.Get("svc-trace-id"), "", 200},
		{"GET", command + "trace.get?status=rejected", "", 200},
		{"POST", command + "event.replay?traceId=" + call.header.Get("svc-trace-id"), "", 200},
		{"GET", "/healthz", "", 200},
		{"GET", "/readyz", "", 200},
		{"POST", command + "webhook.delete?uuid=" + hook.UUID, "", 200},
	} {
		t.Run(test.method+" "+test.target, func(t *testing.T) {
			got := s.send(test.method, test.target, strings.NewReader(test.body), asAdmin, header("Content-Type", "application/json")).wantStatus(t, test.status)
			r, err := http.NewRequestWithContext(t.Context(), test.method, s.server.URL()+test.target, nil)
			if err != nil {
				t.Fatal(err)
			}
			wantAsDescribed(t, router, r, got)
		})
	}
}

func wantAsDescribed(t *testing.T, router routers.Router, r *http.Request, got answer) {
	t.Helper()
	route, parameters, err := router.FindRoute(r)
	if err != nil {
		t.Fatal(err)
	}
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: parameters, Route: route},
		Status:                 got.status,
		Header:                 got.header,
		Body:                   readCloser{bytes.NewReader(got.body)},
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
	if err != nil {
		t.Errorf("%v: %s", err, got.body)
	}
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// TestDescriptionMakesGoodClients: generated clients have the names that people use, know the
// required parameters, and can tell a list from one of its items.
func TestDescriptionMakesGoodClients(t *testing.T) {
	t.Parallel()
	s := start(t, "public-url=https://hooks.example.org/sluice")
	document := description(t, s)
	schemas := document.Components.Schemas
	for name, property := range map[string]string{
		"Webhook": "webhookUrl", "User": "username", "Pipeline": "source", "Call": "traceId", "Result": "correlationId",
		"Problem": "code", "Role": "permissions", "OAuthClient": "grants", "Provider": "provider",
	} {
		if schemas[name] == nil || schemas[name].Value.Properties[property] == nil {
			t.Errorf("there is no schema %s with %s", name, property)
		}
	}
	get := document.Paths.Value("/api/v3/command/webhook.get").Get
	var alternatives []string
	for _, one := range get.Responses.Value("200").Value.Content["application/json"].Schema.Value.OneOf {
		alternatives = append(alternatives, one.Ref)
	}
	if want := []string{"#/components/schemas/WebhookList", "#/components/schemas/Webhook"}; !slices.Equal(alternatives, want) {
		t.Errorf("webhook.get answers with %v", alternatives)
	}
	remove := document.Paths.Value("/api/v3/command/webhook.delete").Post
	if body := remove.RequestBody.Value; !body.Required || !slices.Equal(body.Content["application/json"].Schema.Value.Required, []string{"uuid"}) {
		t.Error("webhook.delete can be called without uuid")
	}
	if redirect := document.Paths.Value("/api/v3/result").Get.Responses.Value("302"); redirect == nil || redirect.Value.Headers["Location"] == nil {
		t.Error("a poll is not redirected")
	}
	if url := document.Components.SecuritySchemes["openid"].Value.OpenIdConnectUrl; url != "https://hooks.example.org/sluice/auth/realms/default/.well-known/openid-configuration" {
		t.Errorf("the issuer is at %s", url)
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			if len(operation.Tags) != 1 || document.Tags.Get(operation.Tags[0]) == nil || operation.Description == "" {
				t.Errorf("%s %s has the tags %v and the description %q", method, path, operation.Tags, operation.Description)
			}
			for _, parameter := range operation.Parameters {
				if parameter.Value.Description == "" {
					t.Errorf("%s %s does not say what %s is", method, path, parameter.Value.Name)
				}
			}
		}
	}
}
