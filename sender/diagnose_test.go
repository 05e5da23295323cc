package sender

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestDiagnose(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	const body = `{"id":"evt_1","url":"https://a.example/b","n":[1,2]}`
	github, _ := Find("github")
	stripe, _ := Find("stripe")
	square, _ := Find("square")
	standard, _ := Find("standard-webhooks")
	tests := []struct {
		name   string
		preset Preset
		secret string // of the sender; ours is secret
		signed string // the body that the sender signed
		change func(*Call)
		at     time.Time
		want   string
	}{
		{name: "header missing", preset: github, change: func(c *Call) { c.Header.Del("X-Hub-Signature-256") }, want: "The header X-Hub-Signature-256 is missing"},
		{name: "clock behind", preset: stripe, at: now.Add(-10 * time.Minute), want: "10m0s old"},
		{name: "clock ahead", preset: stripe, at: now.Add(7*time.Minute + time.Second), want: "7m1s in the future"},
		{name: "secret with spaces", preset: github, secret: " secret ", want: ""},
		{name: "secret with a line end at the sender", preset: github, secret: "secret\n", want: "line end behind the secret"},
		{name: "another webhook's secret", preset: github, secret: "of-orders", want: "that of orders"},
		{name: "line end added", preset: github, signed: body, change: func(c *Call) { c.Body = append(c.Body, '\n') }, want: "has added it"},
		{name: "line end removed", preset: github, signed: body + "\n", change: func(c *Call) { c.Body = c.Body[:len(c.Body)-1] }, want: "has removed it"},
		{name: "JSON with spaces compacted", preset: github, signed: strings.NewReplacer(`":`, `": `, `,`, `, `).Replace(body), change: func(c *Call) { c.Body = []byte(body) }, want: "written differently"},
		{name: "JSON indented", preset: github, signed: body, change: func(c *Call) { c.Body = indented([]byte(body), "  ") }, want: "written differently"},
		{name: "JSON with its slashes unescaped", preset: github, signed: strings.ReplaceAll(body, "/", `\/`), change: func(c *Call) { c.Body = []byte(body) }, want: "written differently"},
		{name: "line ends changed", preset: github, signed: "a\nb", change: func(c *Call) { c.Body = []byte("a\r\nb") }, want: "other line ends"},
		{name: "http for https", preset: square, change: func(c *Call) { c.URL = strings.Replace(c.URL, "https", "http", 1) }, want: "another public URL, https://x.example.com/?…"},
		{name: "too old and changed", preset: stripe, at: now.Add(-time.Hour), change: func(c *Call) { c.Body = append(c.Body, '\n') }, want: "has added it"},
		{name: "another id", preset: standard, change: func(c *Call) { c.Header.Set("Webhook-Id", "x") }, want: ""},
		{name: "something else", preset: github, change: func(c *Call) { c.Body = []byte("{}") }, want: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ours := "secret00"
			theirs, signed, at := ours, body, now
			if test.secret != "" {
				theirs = strings.Replace(test.secret, "secret", ours, 1)
			}
			if test.signed != "" {
				signed = test.signed
			}
			if !test.at.IsZero() {
				at = test.at
			}
			call := &Call{Method: "POST", URL: "https://x.example.com/?token=t0ken", Header: http.Header{}, Body: []byte(signed)}
			sender, err := New(test.preset, []string{theirs}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := sender.Sign(call, at); err != nil {
				t.Fatal(err)
			}
			if test.change != nil {
				test.change(call)
			}
			v, err := New(test.preset, []string{ours}, nil)
			if err != nil {
				t.Fatal(err)
			}
			findings := v.Diagnose(t.Context(), call, now, map[string]string{"orders": "of-orders", "others": "of-others"})
			text := strings.Join(findings, "\n")
			if len(findings) == 0 || test.want == "" && len(findings) != 1 || !strings.Contains(text, test.want) || len(findings) > 2 {
				t.Errorf("findings are %q", findings)
			}
			if strings.Contains(text, ours) || strings.Contains(text, "t0ken") {
				t.Errorf("a secret is told: %s", text)
			}
		})
	}
}

func TestDiagnoseSecretsAndEncodings(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for name, test := range map[string]struct {
		theirs, ours           Scheme
		theirSecret, ourSecret string
		want                   string
	}{
		"spaces around ours":        {theirSecret: "secret", ourSecret: " secret\n", want: "without the spaces"},
		"quotes around ours":        {theirSecret: "secret", ourSecret: `"secret"`, want: "without the spaces or quotes"},
		"ours is base64 of theirs":  {theirSecret: "secret", ourSecret: "c2VjcmV0", want: "decoded from base64"},
		"ours is hex of theirs":     {theirSecret: "secret", ourSecret: "736563726574", want: "decoded from hex"},
		"ours has a prefix":         {theirSecret: "secret", ourSecret: "whsec_secret", want: "without its prefix"},
		"hex where base64 is meant": {theirs: Scheme{Encoding: "hex"}, ours: Scheme{Encoding: "base64"}, theirSecret: "secret", ourSecret: "secret", want: "other encoding"},
		"base64 where hex is meant": {theirs: Scheme{Encoding: "base64"}, theirSecret: "secret", ourSecret: "secret", want: "other encoding"},
	} {
		t.Run(name, func(t *testing.T) {
			test.theirs.Header, test.ours.Header = "X-S", "X-S"
			call := &Call{Method: "POST", Header: http.Header{}, Body: []byte("hello")}
			if err := schemeVerifier(t, test.theirs, test.theirSecret).Sign(call, now); err != nil {
				t.Fatal(err)
			}
			findings := schemeVerifier(t, test.ours, test.ourSecret).Diagnose(t.Context(), call, now, nil)
			if len(findings) != 2 || !strings.Contains(findings[1], test.want) {
				t.Errorf("findings are %q", findings)
			}
		})
	}
}

// Diagnose says nothing of calls that are right, and something of every other.
func TestDiagnoseOfVectors(t *testing.T) {
	for _, p := range Presets() {
		file := readVectors(t, p.Name)
		v := verifierOf(t, p.Name, file.Secrets, file.Keys)
		for _, c := range file.Calls {
			findings := v.Diagnose(t.Context(), c.call(), file.now(), nil)
			if (len(findings) == 0) != (c.Want == "ok") {
				t.Errorf("%s, %s: %q", p.Name, c.Name, findings)
			}
			if c.Name == "line end added to the body" && !strings.Contains(strings.Join(findings, "\n"), "has added it") {
				t.Errorf("%s, %s: %q", p.Name, c.Name, findings)
			}
		}
	}
}
