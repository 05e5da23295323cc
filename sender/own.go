package sender

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"sluice"
)

// ParseScheme reads a scheme from JSON, and returns what a known sender would be that proves itself
// by it. Errors name the field.
func ParseScheme(data []byte) (p Preset, err error) {
	var s Scheme
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			if wrong.Field == "components" {
				return p, fieldError(wrong.Field, "must be a list of texts")
			}
			return p, fieldError(wrong.Field, "must be a text")
		}
		if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok {
			return p, sluice.InvalidParameter("signature",
				"A signature has no field %s; it has header, format, algorithm, "+
					"encoding, signed, timestampHeader, idHeader, tolerance, keys, issuer, audience, bodyHash, label "+
					"and components.", field)
		}
		return p, sluice.InvalidParameter("signature",
			"A signature is a JSON object, with the field header for most algorithms.")
	}
	if _, err := dec.Token(); err != io.EOF {
		return p, sluice.InvalidParameter("signature", "A signature is one JSON object with nothing behind it.")
	}
	return s.preset()
}

func (s Scheme) preset() (p Preset, err error) {
	p.Signature = &rule{Scheme: s, Key: "written"}
	return p, p.prepare()
}
