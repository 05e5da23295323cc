package sender

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// docs/providers.md is generated: UPDATE_GOLDEN=1 go test ./... writes it anew.
func TestProvidersPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(beginning)
	b.WriteString("\n| Provider | Signed | Secret | Delivery id | Tries again |\n|---|---|---|---|---|\n")
	for _, p := range Presets() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s | %s |\n", p.Name, anchor(p.Title), yesNo(!p.Unsigned), secretMakers[p.SecretFrom()], known(p), retried(p))
	}
	for _, p := range Presets() {
		fmt.Fprintf(&b, "\n## %s\n\n`%s`. %s\n", p.Title, p.Name, facts(p))
		for i, line := range p.Setup {
			fmt.Fprintf(&b, "%d. %s\n", i+1, line)
		}
	}
	path := filepath.Join("..", "docs", "providers.md")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(content) != b.String() {
		t.Errorf("%s is not what the presets say; run UPDATE_GOLDEN=1 go test ./...", path)
	}
}

// TestWhereSecretsComeFrom names for each sender who makes its secret.
func TestWhereSecretsComeFrom(t *testing.T) {
	want := map[string]string{
		"adyen": "sender", "airtable": "sender", "alertmanager": "you", "asana": "handshake", "aws-sns": "sender", "azure-event-grid": "",
		"bigcommerce": "you", "bitbucket": "you", "box": "sender", "buildkite": "sender", "calendly": "you", "chargebee": "you", "circleci": "you",
		"clerk": "sender", "cloudevents": "you", "discord": "public-key", "docusign": "sender", "dropbox": "sender", "figma": "you", "gitea": "you",
		"github": "you", "gitlab": "you", "gocardless": "you", "google-pubsub": "sender", "grafana": "you", "hubspot": "sender", "intercom": "sender",
		"jira": "you", "klaviyo": "you", "lemon-squeezy": "you", "line": "sender", "linear": "sender", "mailgun": "sender", "meta": "sender",
		"microsoft-graph": "you", "monday": "sender", "mux": "sender", "netlify": "you", "notion": "sender", "okta": "you", "paddle": "sender",
		"pagerduty": "sender", "paypal": "sender", "pipedrive": "you", "plaid": "sender", "postmark": "you", "razorpay": "you", "resend": "sender", "salesforce": "", "sendgrid": "public-key",
		"sentry": "sender", "shopify": "sender", "slack": "sender", "square": "sender", "standard-webhooks": "sender", "strava": "", "stripe": "sender",
		"svix": "sender", "telegram": "you", "trello": "sender", "twilio": "sender", "twitch": "you", "typeform": "you", "vercel": "sender",
		"vonage": "sender", "wise": "public-key", "woocommerce": "you", "x": "sender", "xero": "sender", "zendesk": "sender", "zoom": "sender",
	}
	const random = "98b7670e98800692697dcdca94e66ff91ec12d39"
	for _, p := range Presets() {
		from, listed := want[p.Name]
		if got := p.SecretFrom(); !listed || got != from {
			t.Errorf("the secret of %s comes from %q, want %q", p.Name, got, from)
		}
		if _, err := New(p, []string{random}, nil); (err == nil) != (from == "you" || from == "sender" || from == "handshake") {
			t.Errorf("a random secret of %s: %v", p.Name, err)
		}
	}
}

// beginning is what the page says before it comes to the providers.
var beginning = strings.ReplaceAll(`# Providers

Senders that 'webhook.put' knows by the parameter 'provider': what is checked of their calls, and how to set them up. Any other sender is described with [signature](proofs.md#other-senders). The [tutorial](tutorial.md) does it for GitHub, step by step. The table says whether calls are signed, who makes the secret, whether calls have a delivery id, and how long a sender tries again after a failure. Bodies have up to 512,000 bytes unless another bound is named. This page is generated from the presets.

'sluice webhook test KEY --sample NAME' sends one of the samples as the provider would, signed. Where only the provider can sign (PayPal, Plaid, Amazon SNS, Google Pub/Sub, and any with a public key), send a real call, or try the pipeline alone with 'sluice pipeline test'.

The public keys of PayPal, Plaid, Amazon SNS and Google Pub/Sub, and those of 'keys', are fetched over HTTPS, directly: 'HTTPS_PROXY' is not used. If the server does not reach those hosts, their calls are 503 'sender-keys-unavailable', and the log names the host.

Some providers show their secret only when they have the URL. Then give any other of the same form first, and the right one afterwards: 'sluice webhook edit webhook.stripe --signing-secret secret:stripe'; until then all calls are refused. The portal does this by itself if the secret is left empty. A public key (Discord, SendGrid, Wise) cannot be made up: enter any URL at the provider first, and the right one when the webhook is there. While a secret is being changed, give both, separated by a comma.

### Repeated calls

Some senders sign neither the time nor the id of a call, so whoever has captured one can send it again as a new one. 'dedupe: content' closes that, where equal bodies never mean two events.
`, "'", "`")

// anchor returns the fragment that leads to a heading.
func anchor(title string) string {
	return strings.ReplaceAll(strings.Map(func(c rune) rune {
		if strings.ContainsRune("().,/", c) {
			return -1
		}
		return unicode.ToLower(c)
	}, title), " ", "-")
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// secretMakers says in the table where a secret comes from.
var secretMakers = map[string]string{"": "none", "you": "yours", "sender": "theirs", "public-key": "public key", "handshake": "learned"}

// retried says how long a sender tries again.
func retried(p Preset) string {
	switch p.Retries {
	case "none":
		return "never"
	case "unknown":
		return "not documented"
	}
	return "for " + p.Retries
}

// facts returns one line of what a preset says of itself.
func facts(p Preset) string {
	parts := []string{"Checked: " + p.Checks}
	switch {
	case p.Learns:
		parts = append(parts, "Signing secret: "+p.Secret)
	case p.Secret == "":
	case p.SecretOptional:
		parts = append(parts, "Signing secret, optional: "+p.Secret)
	default:
		parts = append(parts, "Signing secret: "+p.Secret)
	}
	if p.Handshake.Words != "" {
		parts = append(parts, "Handshake: "+p.Handshake.Words)
	}
	if p.MaxPayloadLength > 0 {
		parts = append(parts, fmt.Sprintf("Bodies up to %d bytes", p.MaxPayloadLength))
	}
	if p.Dedupe != "off" {
		parts = append(parts, "Delivery id: `"+p.Dedupe+"`")
	}
	if p.EventType != "" {
		parts = append(parts, "Type: `"+p.EventType+"`")
	}
	if p.Split != "" {
		parts = append(parts, "`split` `auto`: `"+p.Split+"`")
	}
	if repeatable(p) {
		parts = append(parts, "A captured call [can be repeated](#repeated-calls)")
	}
	if p.Answers.Words != "" {
		parts = append(parts, "Answered with "+p.Answers.Words)
	}
	var samples []string
	for _, s := range p.Samples() {
		samples = append(samples, "`"+s.Name+"`")
	}
	parts = append(parts, "Samples: "+strings.Join(samples, ", "))
	return strings.Join(parts, ". ") + "."
}

// known says whether repeated deliveries are recognised.
func known(p Preset) string {
	if strings.HasPrefix(p.Dedupe, "item:") {
		return "with `split`"
	}
	return yesNo(p.Dedupe != "off")
}

// repeatable reports whether a call that somebody has captured can be sent again as a new
// one: its signature covers neither a time nor the id of the delivery.
func repeatable(p Preset) bool {
	r := p.Signature
	if r == nil || r.Algorithm == webToken {
		return p.Name == "twilio" // of those with a check of their own
	}
	return !p.Unsigned && r.TimestampBody == "" && !strings.Contains(r.Signed, inTimestamp) && !strings.Contains(r.Signed, "{id}") && !strings.HasPrefix(p.Dedupe, "body:")
}
