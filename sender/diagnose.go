package sender

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/value"
)

// A guess is a call as it may have been made, by what may have been meant, and the finding if it fits.
type guess struct {
	by      *Verifier // nil: it can't have been that
	call    *Call
	finding string
}

// Diagnose tells the operator why Verify refuses a call, and which change would make it
// valid: sentences, the cause first. others are further secrets to try, by the names they
// are called in the sentences. It tries many things and is expensive. Its result must not
// reach the caller.
func (v *Verifier) Diagnose(ctx context.Context, c *Call, now time.Time, others map[string]string) (findings []string) {
	// Only keys that are known count: guesses at a secret must not leave the house.
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	err := v.Verify(ctx, c, now)
	if err == nil {
		return nil
	}
	e := sluice.AsError(err)
	findings = []string{e.Message}
	if cause := errors.Unwrap(e); cause != nil {
		findings[0] = cause.Error()
	}
	if e.Code != string(sluice.CodeSignatureInvalid) {
		return findings
	}
	for _, guesses := range v.guesses(c, others) {
		for _, g := range guesses {
			if g.by != nil && g.by.fits(ctx, g.call, now) {
				findings = append(findings, g.finding)
				break
			}
		}
	}
	return findings
}

// fits reports whether a signature fits, even if it is too old.
func (v *Verifier) fits(ctx context.Context, c *Call, now time.Time) bool {
	err := v.Verify(ctx, c, now)
	return err == nil || isExpired(err)
}

// guesses returns what may have gone wrong: of each list only the first that fits is told.
func (v *Verifier) guesses(c *Call, others map[string]string) (all [][]guess) {
	all = [][]guess{v.otherCalls(c), {{
		v.otherEncoding(), c, "It would fit in the other encoding: the signature is sent in hex where base64 is " +
			"expected, or the other way round.",
	}}}
	for _, secret := range v.secrets {
		all = append(all, v.otherWritings(c, secret))
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if secret := others[name]; !slices.Contains(v.secrets, secret) {
			all = append(all, []guess{{v.with(secret), c, "It would fit with another secret: that of " + name + "."}})
		}
	}
	return all
}

// with returns the verifier with another secret, nil if that is none.
func (v *Verifier) with(secret string) *Verifier {
	other := &Verifier{preset: v.preset, secrets: []string{secret}, keys: v.keys}
	if other.build() != nil {
		return nil
	}
	return other
}

// otherWritings returns what a secret is often mistaken for.
func (v *Verifier) otherWritings(c *Call, secret string) (written []guess) {
	add := func(secret, finding string) { written = append(written, guess{v.with(secret), c, finding}) }
	bare := secret
	if _, rest, ok := strings.Cut(secret, "_"); ok {
		bare = rest
	}
	add(strings.Trim(secret, " \t\r\n\"'"), "It would fit with the secret without the spaces or quotes around it.")
	add(secret+"\n", "It would fit with a line end behind the secret: the sender was given one.")
	add(bare, "It would fit with the secret without its prefix.")
	for _, text := range []string{secret, bare} {
		if key, err := base64.StdEncoding.DecodeString(text); err == nil {
			add(string(key), "It would fit with the secret decoded from base64.")
		}
	}
	if key, err := hex.DecodeString(secret); err == nil {
		add(string(key), "It would fit with the secret decoded from hex.")
	}
	return written
}

// otherEncoding returns the verifier with hex in place of base64, or the other way round;
// nil if the sender uses neither.
func (v *Verifier) otherEncoding() *Verifier {
	if v.preset.Signature == nil {
		return nil
	}
	changed := *v.preset.Signature
	if changed.Encoding == "base64" {
		changed.Encoding = "hex"
	} else {
		changed.Encoding = "base64"
	}
	other := &Verifier{preset: Preset{Signature: &changed}, secrets: v.secrets}
	if other.preset.prepare() != nil || other.build() != nil {
		return nil
	}
	return other
}

// otherCalls returns what a call may have been before a proxy changed it.
func (v *Verifier) otherCalls(c *Call) (calls []guess) {
	add := func(finding string, bodies ...[]byte) {
		for _, body := range bodies {
			calls = append(calls, guess{v, &Call{c.Method, c.URL, c.Header, body}, finding})
		}
	}
	crlf, lf := []byte("\r\n"), []byte("\n")
	add("It would fit without the line end behind the body: something on the way has added it.",
		bytes.TrimSuffix(c.Body, lf), bytes.TrimSuffix(c.Body, crlf))
	add("It would fit with a line end behind the body: something on the way has removed it.",
		slices.Concat(c.Body, lf), slices.Concat(c.Body, crlf))
	add("It would fit with other line ends: something on the way has changed them.", bytes.ReplaceAll(c.Body, crlf, lf))
	if json.Valid(c.Body) {
		for _, text := range [][]byte{
			respaced(c.Body, "", ""), respaced(c.Body, " ", " "), indented(c.Body, "  "), indented(c.Body, "    "),
		} {
			add("It would fit with the JSON of the body written differently: something on the way has decoded and "+
				"encoded it.", text, bytes.ReplaceAll(text, []byte("/"), []byte(`\/`)))
		}
	}
	for _, address := range otherURLs(c.URL) {
		calls = append(calls, guess{v, &Call{c.Method, address, c.Header, c.Body}, "It would fit with another " +
			"public URL, " + redacted(address) + ": check the server's public URL and what was entered at the sender."})
	}
	return calls
}

func indented(body []byte, indent string) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, body, "", indent) // it is JSON
	return b.Bytes()
}

// respaced writes JSON with other spaces behind commas and colons.
func respaced(body []byte, comma, colon string) []byte {
	var out []byte
	for at := 0; at < len(body); at++ {
		switch c := body[at]; c {
		case ' ', '\n', '\r', '\t':
		case '"':
			end := value.SkipValue(body, at)
			out = append(out, body[at:end]...)
			at = end - 1
		case ',':
			out = append(append(out, c), comma...)
		case ':':
			out = append(append(out, c), colon...)
		default:
			out = append(out, c)
		}
	}
	return out
}

func otherURLs(address string) []string {
	bare, _, _ := strings.Cut(address, "?")
	urls := []string{bare, strings.TrimSuffix(address, "/"), address + "/"}
	scheme, rest, _ := strings.Cut(address, "://")
	if other := map[string]string{"http": "https", "https": "http"}[scheme]; other != "" {
		urls = append(urls, other+"://"+rest)
	}
	return urls
}

// redacted returns a URL without its query, which has the webhook's token.
func redacted(address string) string {
	bare, _, ok := strings.Cut(address, "?")
	if ok {
		return bare + "?…"
	}
	return bare
}
