package sender

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
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
