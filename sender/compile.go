package sender

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // some senders have nothing better
	"crypto/sha256"
	"crypto/sha512"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// checker makes the checker of one secret.
func (r rule) checker(secret string, _ Keys) (checker, error) {
	s, err := r.compile()
	if err != nil {
		return nil, err
	}
	return s, s.setKey(secret)
}

// compile checks a rule and prepares it for use.
func (r rule) compile() (*signatureCheck, error) {
	for _, h := range []struct {
		field string
		name  *string
	}{{"header", &r.Header}, {"timestampHeader", &r.TimestampHeader}, {"idHeader", &r.IDHeader}} {
		if *h.name != "" && !isHeaderName(*h.name) {
			return nil, fieldError(h.field, "must be the name of a header, such as X-Signature")
		}
		*h.name = http.CanonicalHeaderKey(*h.name)
	}
	if r.Header == "" {
		return nil, fieldError("header", "is missing: it names the header that carries the signature")
	}
	if !slices.Contains([]string{"", "hex", "base64"}, r.Encoding) {
		return nil, fieldError("encoding", "must be hex or base64")
	}
	s := &signatureCheck{rule: r, writeURL: urlForms[r.URL], handedOut: handedOut[r.HandedOut]}
	var err error
	if s.format, err = parseFormat(r.Format); err != nil {
		return nil, err
	}
	if r.Commas {
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

// consistent finds contradictions between fields.
func (s *signatureCheck) consistent() error {
	has := func(p string) bool {
		return slices.ContainsFunc(s.signed, func(f fragment) bool { return f.field == p })
	}
	inFormat := s.format.timestamps()
	timed := inFormat || s.TimestampHeader != ""
	for _, mistake := range []struct {
		made        bool
		field, text string
	}{
		{!has("body"), "signed", "must have {body} in it; otherwise any body would fit"},
		{
			inFormat && s.TimestampHeader != "", "timestampHeader",
			"is one place too many for the time, since format has {timestamp}",
		},
		{
			s.TimestampHeader == s.Header, "timestampHeader",
			"must be another header than that of the signature; for a header with both use {timestamp} in format",
		},
		{
			s.IDHeader != "" && (s.IDHeader == s.Header || s.IDHeader == s.TimestampHeader), "idHeader",
			"must be another header than those of signature and time",
		},
		{
			has("timestamp") && !timed, "signed",
			"has {timestamp}, but neither format nor timestampHeader says where the time is",
		},
		{timed && !has("timestamp"), "signed", "must have {timestamp} in it; otherwise any time would fit"},
		{has("id") && s.IDHeader == "", "signed", "has {id}, but idHeader does not say where the id is"},
		{s.IDHeader != "" && !has("id"), "idHeader", "is of no use, since signed has no {id}"},
		{
			s.Tolerance != "" && !timed && s.TimestampBody == "", "tolerance",
			"is of no use without a time: say where it is with {timestamp} in format, or with timestampHeader",
		},
	} {
		if mistake.made {
			return fieldError(mistake.field, "%s", mistake.text)
		}
	}
	return nil
}

// setKey makes the key of a secret.
func (s *signatureCheck) setKey(secret string) (err error) {
	shared := sha256.New
	switch s.Algorithm {
	case ed25519Signature:
		s.public, err = parseEd25519(secret)
	case ecdsaSHA256:
		s.public, err = parseECDSA(secret)
	case rsaSHA256, rsaPSSSHA256:
		s.public, err = parseRSA(secret, s.Algorithm == rsaPSSSHA256)
	case "sha1":
		shared = sha1.New
	case "sha512":
		shared = sha512.New
	}
	var key []byte
	if s.public == nil && err == nil {
		key, err = keyForms[s.Key](secret)
	}
	s.scratch.New = func() any {
		w := &scratch{found: make([]string, 0, maxAlternatives)}
		if s.public == nil {
			w.mac = hmac.New(shared, key)
		}
		return w
	}
	return err
}

// keyForms say how a secret becomes the key of an HMAC.
var keyForms = map[string]func(secret string) ([]byte, error){
	"":        func(secret string) ([]byte, error) { return []byte(secret), nil },
	"base64":  standardKey,
	"written": writtenKey,
}

// urlForms say how a URL is written when it is signed.
var urlForms = map[string]func(string) string{"hubspot": strings.NewReplacer(hubspotEscapes()...).Replace}

// handedOut are texts that a handshake signs for anybody.
var handedOut = map[string]*regexp.Regexp{"x": xChallenge}
