package portal_test

import (
	"strings"
	"testing"
)

// TestCommands: the form of a command marks what is not given and offers known values.
// The output hides tokens until people ask for them.
func TestCommands(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, key := range []string{"webhook.a", "webhook.b"} {
		s.command("webhook.put", map[string]any{"eventKey": key})
	}
	v := s.signedIn("admin", adminPassword)
	v.get("/commands").wants(t, 200, "Dead letters <small>", `href="#group-webhook"`, "only in pipelines")
	v.get("/commands/webhook.put").wants(t, 200, `<option value="stripe">Stripe</option>`, ">not given<", `placeholder="not given"`)
	v.get("/commands/pipeline.put").wants(t, 200, "sluice command pipeline.put name=… --body source.yaml")
	token := s.token("webhook.a")
	v.post("/commands/webhook.get", "eventKey", "webhook.a").
		wants(t, 200, `<span class="mask">••••••••-`+token[len(token)-6:]+`</span><span class="bare">`+token+`</span>`, "Show tokens and secrets")
	v.post("/commands/iam.whoami").wants(t, 200).lacks(t, "Show tokens and secrets")
	v.post("/commands/webhook.get", "limit", "1").wants(t, 200, "There are more.", `value="webhook.a"`)
}

// TestTheReference: GET and POST of the same operation are listed once, and the current
// chapter is marked.
func TestTheReference(t *testing.T) {
	t.Parallel()
	v := start(t).signedIn("admin", adminPassword)
	page := v.get("/reference").wants(t, 200, "/api/v3/command/webhook.put", "eventKey", `aria-current="page">Webhooks<`, `<span class="method">GET</span> <span class="method">POST</span>`)
	if found := strings.Count(page.body, "/api/v3/command/webhook.get<"); found != 1 {
		t.Errorf("webhook.get is there %d times", found)
	}
	v.get("/reference/flow").wants(t, 200, "/api/v3/command/log<", "/commands/log")
	v.get("/commands/log").wants(t, 200, `href="/reference/flow"`)
	v.get("/reference/general").wants(t, 200, "/readyz", "is needed")
	v.get("/reference/nothing").wants(t, 404, "There is no such part of the reference.")
	v.get("/reference/pipeline").wants(t, 200, "/api/v3/pipeline/{name}", "application/json or application/yaml")
}
