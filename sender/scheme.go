package sender

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"sluice"
)

// A Scheme says how a sender signs its calls: the parameter signature of
// webhook.put. Empty fields have defaults.
type Scheme struct {
	Header          string `json:"header,omitempty"`          // that carries the signature
	Format          string `json:"format,omitempty"`          // how it reads, with {signature} and {timestamp}
	Algorithm       string `json:"algorithm,omitempty"`       // one of algorithms; "" means sha256
	Encoding        string `json:"encoding,omitempty"`        // hex or base64
	Signed          string `json:"signed,omitempty"`          // of {body}, {timestamp}, {id}, {url}, {method}
	TimestampHeader string `json:"timestampHeader,omitempty"` // that carries the time
	IDHeader        string `json:"idHeader,omitempty"`        // that carries the id
	Tolerance       string `json:"tolerance,omitempty"`       // how far the clocks may be apart

	Keys     string `json:"keys,omitempty"`     // address of the sender's JWKS, in place of a secret
	Issuer   string `json:"issuer,omitempty"`   // that a JWT must have
	Audience string `json:"audience,omitempty"` // likewise
	BodyHash string `json:"bodyHash,omitempty"` // claim of a JWT with the SHA-256 of the body, in hex

	Label      string   `json:"label,omitempty"`      // of the signature among several (RFC 9421)
	Components []string `json:"components,omitempty"` // that such a signature must cover
}

// Bounds of what a scheme may say.
const (
	maxName          = 128
	defaultTolerance = 5 * time.Minute
	maxTolerance     = 24 * time.Hour
)

// ParseScheme reads a scheme from JSON and checks it. Errors name the field.
func ParseScheme(data []byte) (Scheme, error) {
	var s Scheme
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			if wrong.Field == "components" {
				return s, fieldError(wrong.Field, "must be a list of texts")
			}
			return s, fieldError(wrong.Field, "must be a text")
		}
		if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok {
			return s, sluice.InvalidParameter("signature", "A signature has no field %s; it has header, format, algorithm, encoding, signed, timestampHeader, idHeader, tolerance, keys, issuer, audience, bodyHash, label and components.", field)
		}
		return s, sluice.InvalidParameter("signature", "A signature is a JSON object, with the field header for most algorithms.")
	}
	if _, err := dec.Token(); err != io.EOF {
		return s, sluice.InvalidParameter("signature", "A signature is one JSON object with nothing behind it.")
	}
	_, err := s.preset()
	return s, err
}

// A rule is a scheme with what only presets need.
type rule struct {
	Scheme

	key   func(secret string) ([]byte, error) // how a secret becomes a key
	url   func(string) string                 // how the URL is written when it is signed
	time  func(*Call) (string, error)         // the time, where it is in the body
	stamp func(*Call, time.Time) error        // puts it there
	milli bool                                // the time is sent in milliseconds

	layout string // how the time is written; "": in seconds
	commas bool   // several signatures have commas between them

	further []string // headers with signatures by other keys, in canonical form

	handedOut *regexp.Regexp // texts that the handshake signs for anybody; a body never matches
}

func (r rule) checker(secret string, _ Keys) (checker, error) {
	s, err := r.compile()
	if err != nil {
		return nil, err
	}
	return s, s.setKey(secret)
}

// compile checks a rule and prepares it for use.
func (r rule) compile() (*signature, error) {
	s := &signature{rule: r}
	for _, h := range []struct {
		field string
		name  string
		to    *string
	}{
		{"header", r.Header, &s.header},
		{"timestampHeader", r.TimestampHeader, &s.timestampHeader},
		{"idHeader", r.IDHeader, &s.idHeader},
	} {
		if h.name != "" && !isHeaderName(h.name) {
			return nil, fieldError(h.field, "must be the name of a header, such as X-Signature")
		}
		*h.to = http.CanonicalHeaderKey(h.name)
	}
	if s.header == "" {
		return nil, fieldError("header", "is missing: it names the header that carries the signature")
	}
	if !slices.Contains([]string{"", "hex", "base64"}, r.Encoding) {
		return nil, fieldError("encoding", "must be hex or base64")
	}
	var err error
	if s.format, err = parseFormat(r.Format); err != nil {
		return nil, err
	}
	if r.commas {
		s.format.separator = ','
	}
	if s.signed, err = parseSigned(r.Signed); err != nil {
		return nil, err
	}
	if s.tolerance, err = r.within(defaultTolerance); err != nil {
		return nil, err
	}
	return s, s.consistent()
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

// consistent finds contradictions between fields.
func (s *signature) consistent() error {
	has := func(p field) bool {
		return slices.ContainsFunc(s.signed, func(f fragment) bool { return f.field == p })
	}
	inFormat := s.format.timestamps()
	timed := inFormat || s.timestampHeader != ""
	switch {
	case !has(fieldBody):
		return fieldError("signed", "must have {body} in it; otherwise any body would fit")
	case inFormat && s.timestampHeader != "":
		return fieldError("timestampHeader", "is one place too many for the time, since format has {timestamp}")
	case s.timestampHeader == s.header:
		return fieldError("timestampHeader", "must be another header than that of the signature; for a header with both use {timestamp} in format")
	case s.idHeader != "" && (s.idHeader == s.header || s.idHeader == s.timestampHeader):
		return fieldError("idHeader", "must be another header than those of signature and time")
	case has(fieldTimestamp) && !timed:
		return fieldError("signed", "has {timestamp}, but neither format nor timestampHeader says where the time is")
	case timed && !has(fieldTimestamp):
		return fieldError("signed", "must have {timestamp} in it; otherwise any time would fit")
	case has(fieldID) && s.idHeader == "":
		return fieldError("signed", "has {id}, but idHeader does not say where the id is")
	case s.idHeader != "" && !has(fieldID):
		return fieldError("idHeader", "is of no use, since signed has no {id}")
	case s.Tolerance != "" && !timed && s.time == nil:
		return fieldError("tolerance", "is of no use without a time: say where it is with {timestamp} in format, or with timestampHeader")
	}
	return nil
}

func isHeaderName(name string) bool { return len(name) <= maxName && sluice.IsHeaderName(name) }

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

var algorithms = []string{"sha256", "sha1", "sha512", ed25519Signature, rsaSHA256, rsaPSSSHA256, ecdsaSHA256, plainSecret, basicLogin, webToken, messageSignature}

// isAsymmetric reports whether the secret of an algorithm is a public key.
func isAsymmetric(algorithm string) bool {
	return slices.Contains([]string{ed25519Signature, ecdsaSHA256, rsaSHA256, rsaPSSSHA256}, algorithm)
}

// preset returns what a known sender would be that proves itself by the scheme.
func (s Scheme) preset() (Preset, error) {
	if s.Algorithm != "" && !slices.Contains(algorithms, s.Algorithm) {
		return Preset{}, fieldError("algorithm", "must be one of %s", strings.Join(algorithms, ", "))
	}
	if field := s.useless(); field != "" {
		return Preset{}, fieldError(field, "is of no use with the algorithm %s", cmp.Or(s.Algorithm, algorithms[0]))
	}
	switch s.Algorithm {
	case plainSecret:
		header, err := s.headerName("the secret")
		return Preset{Unsigned: true, Masked: []string{strings.ToLower(header)}, checker: byToken(header, "")}, err
	case basicLogin:
		return Preset{Unsigned: true, Masked: []string{"authorization"}, checker: basic}, nil
	case webToken:
		return s.tokenPreset()
	case messageSignature:
		return s.messagePreset()
	}
	r := rule{Scheme: s, key: writtenKey}
	_, err := r.compile()
	return Preset{rule: &r}, err
}

// useless returns a field that is given and that the algorithm does not read, "" if there
// is none.
func (s Scheme) useless() string {
	useful := []string{"header", "format", "encoding", "signed", "timestampHeader", "idHeader", "tolerance"}
	switch s.Algorithm {
	case plainSecret:
		useful = []string{"header"}
	case basicLogin:
		useful = nil
	case webToken:
		useful = []string{"header", "keys", "issuer", "audience", "bodyHash", "tolerance"}
	case messageSignature:
		useful = []string{"keys", "label", "components", "tolerance"}
	}
	for _, field := range []struct{ name, value string }{
		{"header", s.Header}, {"format", s.Format}, {"encoding", s.Encoding}, {"signed", s.Signed}, {"timestampHeader", s.TimestampHeader},
		{"idHeader", s.IDHeader}, {"tolerance", s.Tolerance}, {"keys", s.Keys}, {"issuer", s.Issuer}, {"audience", s.Audience},
		{"bodyHash", s.BodyHash}, {"label", s.Label}, {"components", strings.Join(s.Components, " ")},
	} {
		if field.value != "" && !slices.Contains(useful, field.name) {
			return field.name
		}
	}
	return ""
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
