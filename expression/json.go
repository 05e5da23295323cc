package expression

import (
	"errors"
	"math/bits"
	"slices"
	"time"

	"sluice/value"
)

// text returns a value as part of a text: a text as it is, null as nothing, anything else
// as compact JSON.
func (f *frame) text(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case time.Duration:
		return v.String(), nil
	}
	return f.json(v)
}

// json returns a value as compact JSON with its keys in order.
func (f *frame) json(v any) (string, error) {
	v, weight, err := f.weighed(v)
	if err != nil {
		return "", err
	}
	if err := f.spend(weight.Comparisons); err != nil {
		return "", err
	}
	if f.buffer, err = value.AppendJSON(f.buffer[:0], v, value.MaxSize); err != nil {
		return "", err
	}
	if err := f.makeText(len(f.buffer)); err != nil {
		return "", err
	}
	return string(f.buffer), nil
}

// sortedKeys returns the keys of an object in order.
func (f *frame) sortedKeys(object map[string]any) ([]string, error) {
	const bytesPerKey = 16
	if err := f.allocate(bytesPerKey * len(object)); err != nil {
		return nil, err
	}
	if err := f.spend(len(object) * (1 + logarithm(len(object)))); err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(object))
	bytes := 0
	for key := range object {
		keys = append(keys, key)
		bytes += len(key)
	}
	slices.Sort(keys)
	return keys, f.read(bytes)
}

// logarithm returns how often n can be halved.
func logarithm(n int) int { return max(0, bits.Len(uint(n))-1) }

// fromJSON reads a text as one JSON value.
func (f *frame) fromJSON(text string) (any, error) {
	_, values := value.Inspect(text)
	const bytesPerValue = 300 // the worst case: an object of one member
	if err := f.makeItems(values - 1); err != nil {
		return nil, err
	}
	if err := f.allocate((values - 1) * bytesPerValue); err != nil {
		return nil, err
	}
	const bytesPerDecoder = 1 << 10
	if err := f.makeText(len(text) + bytesPerDecoder); err != nil {
		return nil, err
	}
	decoded, err := value.Decode(text)
	if _, refused := errors.AsType[*value.Error](err); err != nil && !refused {
		return nil, fail("the text is not JSON")
	}
	return decoded, err
}
