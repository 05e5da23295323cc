package yamltext

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/value"
)

// One reads a text with one document. root is nil if the text is empty, and second is
// the start of a second document, which callers refuse.
func One(text string) (root, second *yaml.Node, err error) {
	dec := yaml.NewDecoder(strings.NewReader(text))
	var document, next yaml.Node
	if err := dec.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if len(document.Content) == 0 {
		return nil, nil, nil
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		second = &next
	case !errors.Is(err, io.EOF):
		return nil, nil, err
	}
	return document.Content[0], second, nil
}

// ErrNotFinite means that JSON can't express a number.
var ErrNotFinite = errors.New("only finite numbers are taken")

// Number returns the value of a number. It reads it as JSON if it can, so that it stays
// exact. Callers decide what a leading zero means.
func Number(n *yaml.Node) (any, error) {
	decoded, err := value.Decode(n.Value)
	if err != nil {
		decoded = nil
		if err := n.Decode(&decoded); err != nil {
			return nil, err
		}
	}
	switch number := decoded.(type) {
	case int, json.Number:
		return number, nil
	case uint64:
		return json.Number(strconv.FormatUint(number, 10)), nil
	case float64:
		if !math.IsInf(number, 0) && !math.IsNaN(number) {
			return number, nil
		}
	}
	return nil, ErrNotFinite
}
