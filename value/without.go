package value

import (
	"bytes"
	"slices"
)

// Without returns a JSON object without the members of some names, which are written without
// escapes. Other texts stay as they are.
func Without(object []byte, names ...string) []byte {
	at := SkipSpace(object, 0)
	if at == len(object) || object[at] != '{' {
		return object
	}
	at++
	kept := slices.Clone(object[:at])
	for at = SkipSpace(object, at); at < len(object) && object[at] != '}'; {
		start := at
		colon := SkipValue(object, start)
		if colon < 0 {
			return object
		}
		name := object[start:colon]
		if at = SkipValue(object, SkipSpace(object, SkipSpace(object, colon)+1)); at < 0 {
			return object
		}
		if at = SkipSpace(object, at); at < len(object) && object[at] == ',' {
			at = SkipSpace(object, at+1)
		}
		if !slices.Contains(names, string(bytes.Trim(name, `"`))) {
			kept = append(kept, object[start:at]...)
		}
	}
	return append(bytes.TrimSuffix(kept, []byte(",")), object[at:]...)
}
