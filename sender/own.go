package sender

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"sluice"
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
			return s, sluice.InvalidParameter("signature",
				"A signature has no field %s; it has header, format, algorithm, "+
					"encoding, signed, timestampHeader, idHeader, tolerance, keys, issuer, audience, bodyHash, label "+
					"and components.", field)
		}
		return s, sluice.InvalidParameter("signature",
			"A signature is a JSON object, with the field header for most algorithms.")
	}
	if _, err := dec.Token(); err != io.EOF {
		return s, sluice.InvalidParameter("signature", "A signature is one JSON object with nothing behind it.")
	}
	_, err := s.preset()
	return s, err
}

// preset returns what a known sender would be that proves itself by the scheme.
func (s Scheme) preset() (p Preset, err error) {
	p.Signature = &rule{Scheme: s, Key: "written"}
	return p, p.prepare()
}

// NewScheme returns the verifier of a scheme. A secret that begins with base64:
// or hex: is decoded first. Keys are needed where the scheme says where they are.
func NewScheme(s Scheme, secrets []string, keys Keys) (*Verifier, error) {
	p, err := s.preset()
	switch {
	case err != nil:
		return nil, err
	case len(secrets) == 0 && !p.Public:
		return nil, secretError("A webhook with a signature needs the secret that is shared with the sender, or its " +
			"public key.")
	case len(secrets) > 0 && p.Public:
		return nil, secretError("The keys of this sender come from the address in keys, so that there is no signing " +
			"secret to be set.")
	}
	v := &Verifier{preset: p, secrets: secrets, keys: keys}
	return v, v.build()
}

// SendsSecret reports whether calls of a provider, or by a scheme, carry the secret itself.
func SendsSecret(provider string, scheme []byte) bool {
	p, ok := Find(provider)
	if !ok {
		s, _ := ParseScheme(scheme) // a wrong one is refused elsewhere
		p, _ = s.preset()
	}
	return p.Unsigned
}
