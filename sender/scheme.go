package sender

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"sluice"
)

// A Scheme says how a sender signs its calls: the parameter signature of
// webhook.put. Empty fields have defaults.
type Scheme struct {
	Header    string `json:"header,omitempty"`    // that carries the signature
	Format    string `json:"format,omitempty"`    // how it reads, with {signature} and {timestamp}
	Algorithm string `json:"algorithm,omitempty"` // one of algorithms; "" means sha256
	Encoding  string `json:"encoding,omitempty"`  // hex or base64
	Signed    string `json:"signed,omitempty"`    // of {body}, {timestamp}, {id}, {url}, {method}

	TimestampHeader string `json:"timestampHeader,omitempty" yaml:"timestampHeader"` // that carries the time
	IDHeader        string `json:"idHeader,omitempty" yaml:"idHeader"`               // that carries the id

	Tolerance string `json:"tolerance,omitempty"` // how far the clocks may be apart

	Keys     string `json:"keys,omitempty"`     // address of the sender's JWKS, in place of a secret
	Issuer   string `json:"issuer,omitempty"`   // that a JWT must have
	Audience string `json:"audience,omitempty"` // likewise

	BodyHash string `json:"bodyHash,omitempty" yaml:"bodyHash"` // claim of a JWT with the SHA-256 of the body, in hex

	Label      string   `json:"label,omitempty"`      // of the signature among several (RFC 9421)
	Components []string `json:"components,omitempty"` // that such a signature must cover
}

// Bounds of what a scheme may say.
const (
	maxName          = 128
	defaultTolerance = 5 * time.Minute
	maxTolerance     = 24 * time.Hour
)

// The algorithms of a scheme beside the HMACs sha256, sha1 and sha512.
const (
	ed25519Signature = "ed25519"
	ecdsaSHA256      = "ecdsa-sha256"
	rsaSHA256        = "rsa-sha256"
	rsaPSSSHA256     = "rsa-pss-sha256"
	plainSecret      = "plain"   // the header is the secret
	basicLogin       = "basic"   // user and password
	webToken         = "jwt"     // the header is a JSON Web Token
	messageSignature = "rfc9421" // HTTP Message Signatures
)

var algorithms = []string{
	"sha256", "sha1", "sha512", ed25519Signature, rsaSHA256, rsaPSSSHA256, ecdsaSHA256,
	plainSecret, basicLogin, webToken, messageSignature,
}

// isAsymmetric reports whether the secret of an algorithm is a public key.
func isAsymmetric(algorithm string) bool {
	return slices.Contains([]string{ed25519Signature, ecdsaSHA256, rsaSHA256, rsaPSSSHA256}, algorithm)
}

// A rule is a scheme, with what only presets say.
type rule struct {
	Scheme `yaml:",inline"`

	Word    string   `yaml:"word"`    // that stands before a plain secret, such as Bearer
	User    string   `yaml:"user"`    // who logs in where the secret is a password alone
	Endless bool     `yaml:"endless"` // a JWT needs no exp: it has the digest of its body
	Key     string   `yaml:"key"`     // how a secret becomes the key of an HMAC: one of keyForms
	URL     string   `yaml:"url"`     // how the URL is written when it is signed: one of urlForms
	Commas  bool     `yaml:"commas"`  // several signatures have commas between them
	Further []string `yaml:"further"` // headers with signatures by other keys

	TimestampBody string `yaml:"timestampBody"` // the member of the body that is the time
	TimestampForm string `yaml:"timestampForm"` // how we write the time: one of timeForms

	HandedOut string `yaml:"handedOut"` // texts that the handshake signs for anybody: one of handedOut
}

// check refuses an unknown algorithm, and a field that the algorithm does not read.
func (s Scheme) check() error {
	if s.Algorithm != "" && !slices.Contains(algorithms, s.Algorithm) {
		return fieldError("algorithm", "must be one of %s", strings.Join(algorithms, ", "))
	}
	useful := "header format encoding signed timestampHeader idHeader tolerance"
	switch s.Algorithm {
	case plainSecret:
		useful = "header"
	case basicLogin:
		useful = ""
	case webToken:
		useful = "header keys issuer audience bodyHash tolerance"
	case messageSignature:
		useful = "keys label components tolerance"
	}
	if len(s.Components) == 0 {
		s.Components = nil
	}
	for field, value := range reflect.ValueOf(s).Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "algorithm" && !value.IsZero() && !slices.Contains(strings.Fields(useful), name) {
			return fieldError(name, "is of no use with the algorithm %s", cmp.Or(s.Algorithm, algorithms[0]))
		}
	}
	return nil
}

// headerName returns the canonical name of the header that carries something.
func (s Scheme) headerName(what string) (string, error) {
	switch {
	case s.Header == "":
		return "", fieldError("header", "is missing: it names the header that carries "+what)
	case !isHeaderName(s.Header):
		return "", fieldError("header", "must be the name of a header, such as X-Signature")
	}
	return http.CanonicalHeaderKey(s.Header), nil
}

// within returns how far the clocks may be apart.
func (s Scheme) within(otherwise time.Duration) (time.Duration, error) {
	if s.Tolerance == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(s.Tolerance)
	if err != nil || d < time.Second || d > maxTolerance {
		return 0, fieldError("tolerance", "must be a duration from 1s to 24h, such as 5m")
	}
	return d, nil
}

func isHeaderName(name string) bool { return len(name) <= maxName && sluice.IsHeaderName(name) }

func fieldError(field, format string, args ...any) *sluice.Error {
	return sluice.InvalidParameter("signature."+field, field+" "+format+".", args...)
}

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}
