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

// A guess is a value that may have been meant, and the finding if it fits.
type guess[T any] struct {
	of      T
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
	for _, changed := range changedCalls(c) {
		if v.fits(ctx, changed.of, now) {
			findings = append(findings, changed.finding)
			break
		}
	}
	if other := v.otherEncoding(); other != nil && other.fits(ctx, c, now) {
		findings = append(findings, "It would fit in the other encoding: the signature is sent in hex where base64 "+
			"is expected, or the other way round.")
	}
	return append(findings, v.otherSecrets(ctx, c, now, others)...)
}

// fits reports whether a signature fits, even if it is too old.
func (v *Verifier) fits(ctx context.Context, c *Call, now time.Time) bool {
	err := v.Verify(ctx, c, now)
	return err == nil || isExpired(err)
}

// otherSecrets finds secrets that would fit.
func (v *Verifier) otherSecrets(
	ctx context.Context, c *Call, now time.Time, others map[string]string,
) (findings []string) {
	fits := func(secret string) bool {
		other := &Verifier{preset: v.preset, secrets: []string{secret}, keys: v.keys}
		return other.build() == nil && other.fits(ctx, c, now)
	}
	for _, secret := range v.secrets {
		for _, written := range otherWritings(secret) {
			if written.of != secret && fits(written.of) {
				findings = append(findings, written.finding)
				break
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if !slices.Contains(v.secrets, others[name]) && fits(others[name]) {
			findings = append(findings, "It would fit with another secret: that of "+name+".")
		}
	}
	return findings
}

// otherWritings returns what a secret is often mistaken for.
func otherWritings(secret string) []guess[string] {
	bare := secret
	if _, rest, ok := strings.Cut(secret, "_"); ok {
		bare = rest
	}
	written := []guess[string]{
		{strings.Trim(secret, " \t\r\n\"'"), "It would fit with the secret without the spaces or quotes around it."},
		{secret + "\n", "It would fit with a line end behind the secret: the sender was given one."},
		{bare, "It would fit with the secret without its prefix."},
	}
	for _, text := range []string{secret, bare} {
		if key, err := base64.StdEncoding.DecodeString(text); err == nil {
			written = append(written, guess[string]{string(key), "It would fit with the secret decoded from base64."})
		}
	}
	if key, err := hex.DecodeString(secret); err == nil {
		written = append(written, guess[string]{string(key), "It would fit with the secret decoded from hex."})
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

// changedCalls returns what a call may have been before a proxy changed it.
func changedCalls(c *Call) (calls []guess[*Call]) {
	for _, b := range otherBodies(c.Body) {
		if !bytes.Equal(b.of, c.Body) {
			calls = append(calls, guess[*Call]{&Call{c.Method, c.URL, c.Header, b.of}, b.finding})
		}
	}
	for _, address := range otherURLs(c.URL) {
		if address != c.URL {
			calls = append(calls,
				guess[*Call]{&Call{c.Method, address, c.Header, c.Body}, "It would fit with another " +
					"public URL, " + redacted(address) +
					": check the server's public URL and what was entered at the sender."})
		}
	}
	return calls
}

func otherBodies(body []byte) []guess[[]byte] {
	const (
		added     = "It would fit without the line end behind the body: something on the way has added it."
		removed   = "It would fit with a line end behind the body: something on the way has removed it."
		changed   = "It would fit with other line ends: something on the way has changed them."
		reencoded = "It would fit with the JSON of the body written differently: something on the way has decoded " +
			"and encoded it."
	)
	bodies := []guess[[]byte]{
		{bytes.TrimSuffix(body, []byte("\n")), added},
		{bytes.TrimSuffix(body, []byte("\r\n")), added},
		{append(slices.Clone(body), '\n'), removed},
		{append(slices.Clone(body), '\r', '\n'), removed},
		{bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), changed},
	}
	if !json.Valid(body) {
		return bodies
	}
	for _, text := range [][]byte{
		respaced(body, "", ""), respaced(body, " ", " "), indented(body, "  "), indented(body, "    "),
	} {
		slashed := bytes.ReplaceAll(text, []byte("/"), []byte(`\/`))
		bodies = append(bodies, guess[[]byte]{text, reencoded}, guess[[]byte]{slashed, reencoded})
	}
	return bodies
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
	if rest, ok := strings.CutPrefix(address, "http://"); ok {
		urls = append(urls, "https://"+rest)
	}
	if rest, ok := strings.CutPrefix(address, "https://"); ok {
		urls = append(urls, "http://"+rest)
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
