package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// ErrNoObject is the error of a text that is not one JSON object.
var ErrNoObject = errors.New("it is no JSON object")

// Members shows the members of a JSON object in order, as they are written, also those that have the same name.
func Members(object []byte, see func(name string, content json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(object))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return ErrNoObject
	}
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		var content json.RawMessage
		if err != nil || !ok || dec.Decode(&content) != nil {
			return ErrNoObject
		}
		if err := see(name, content); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return ErrNoObject
	}
	if _, err := dec.Token(); err != io.EOF {
		return ErrNoObject
	}
	return nil
}
