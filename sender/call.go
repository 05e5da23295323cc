package sender

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice"
	"sluice/value"
)

// A Call is a call of a webhook as its sender made it.
type Call struct {
	Method string
	URL    string      // the public URL, whole: as it was entered at the sender
	Header http.Header // with canonical names
	Body   []byte      // the bytes as they came
}

// maxHeader bounds the headers that are read. Signatures and tokens are shorter. A signed
// id may be longer than an id can be; that is refused after its signature was checked.
const maxHeader = 16 << 10

// header returns the one value of a header whose name is canonical.
func (c *Call) header(name string) (string, error) {
	values := c.Header[name]
	switch {
	case len(values) == 0 || len(values) == 1 && values[0] == "":
		return "", missing("The header %s is missing.", name)
	case len(values) > 1:
		return "", invalid("The header %s came %d times.", name, len(values))
	case len(values[0]) > maxHeader:
		return "", invalid("The header %s has %d bytes.", name, len(values[0]))
	}
	return values[0], nil
}

// query returns the values of a parameter in the URL, decoded.
func (c *Call) query(name string) (values []string) {
	_, raw, _ := strings.Cut(c.URL, "?")
	for pair := range strings.SplitSeq(raw, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if key, err := url.QueryUnescape(key); err != nil || key != name {
			continue
		}
		if value, err := url.QueryUnescape(value); err == nil {
			values = append(values, value)
		}
	}
	return values
}

// parameter returns the value of a parameter that is in the URL once, otherwise "".
func (c *Call) parameter(name string) string {
	if values := c.query(name); len(values) == 1 {
		return values[0]
	}
	return ""
}

// The three ways in which a signature is refused. What the caller is told is the
// same for each; the cause is for the operator.

func missing(format string, args ...any) *sluice.Error {
	return sluice.Errorf(sluice.CodeSignatureMissing, "This webhook takes signed calls only; this one carries no signature.").
		Because(fmt.Errorf(format, args...))
}

func invalid(format string, args ...any) *sluice.Error {
	return sluice.Errorf(sluice.CodeSignatureInvalid, "The signature of this call is not valid.").
		Because(fmt.Errorf(format, args...))
}

func expired(format string, args ...any) *sluice.Error {
	return sluice.Errorf(sluice.CodeSignatureExpired, "The signature of this call is too old, or from the future.").
		Because(fmt.Errorf(format, args...))
}

// lookup returns the bytes of a value in JSON by its path, nil if it isn't there. It reads
// and checks no more than it must. In a list the only name is 0, and the list must have
// exactly one item.
func lookup(data []byte, path []string) []byte {
	at := value.SkipSpace(data, 0)
	for _, name := range path {
		if at = enter(data, at, name); at < 0 {
			return nil
		}
	}
	end := value.SkipValue(data, at)
	if end < 0 {
		return nil
	}
	return data[at:end]
}

// enter returns the position of a member of an object or of an element of a list, -1 if
// there is none.
func enter(data []byte, at int, name string) int {
	switch {
	case at >= len(data):
		return -1
	case data[at] == '{':
		return member(data, value.SkipSpace(data, at+1), name)
	case data[at] == '[' && name == "0":
		start := value.SkipSpace(data, at+1)
		end := value.SkipValue(data, start)
		if end < 0 {
			return -1
		}
		if end = value.SkipSpace(data, end); end < len(data) && data[end] == ']' {
			return start
		}
	}
	return -1
}

// elements visits the items of a JSON list, and nil where the list is malformed.
func elements(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if len(data) == 0 || data[0] != '[' {
			return
		}
		at := value.SkipSpace(data, 1)
		for at < len(data) && data[at] != ']' {
			end := value.SkipValue(data, at)
			if end < 0 {
				yield(nil)
				return
			}
			if !yield(data[at:end]) {
				return
			}
			at = value.SkipSpace(data, end)
			if at < len(data) && data[at] == ',' {
				at = value.SkipSpace(data, at+1)
			} else if at >= len(data) || data[at] != ']' {
				yield(nil)
				return
			}
		}
	}
}

func member(data []byte, at int, name string) int {
	for at < len(data) && data[at] == '"' {
		end := value.SkipValue(data, at)
		if end < 0 {
			return -1
		}
		found := isName(data[at:end], name)
		if at = value.SkipSpace(data, end); at >= len(data) || data[at] != ':' {
			return -1
		}
		at = value.SkipSpace(data, at+1)
		if found {
			return at
		}
		if at = value.SkipValue(data, at); at < 0 {
			return -1
		}
		if at = value.SkipSpace(data, at); at >= len(data) || data[at] != ',' {
			return -1
		}
		at = value.SkipSpace(data, at+1)
	}
	return -1
}

// isName reports whether a JSON string is a name.
func isName(quoted []byte, name string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == name
	}
	var text string
	return json.Unmarshal(quoted, &text) == nil && text == name
}

// putMember adds a member to a body that is a JSON object, before all others.
func putMember(body []byte, name string, member any) ([]byte, error) {
	encoded, err := value.Marshal(map[string]any{name: member})
	if err != nil {
		return nil, err
	}
	at := value.SkipSpace(body, 0)
	if !json.Valid(body) || body[at] != '{' {
		return nil, notAnObject()
	}
	rest := body[at+1:]
	if next := value.SkipSpace(rest, 0); rest[next] != '}' {
		encoded[len(encoded)-1] = ','
		return append(encoded, rest...), nil
	}
	return encoded, nil
}

// scalar returns a JSON string or number as text; other values can't be ids.
func scalar(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		var text string
		_ = json.Unmarshal(raw, &text) // what is no JSON has no id
		return text
	case (c == '-' || c >= '0' && c <= '9') && json.Valid(raw):
		return string(raw)
	}
	return ""
}

func notAnObject() *sluice.Error {
	return sluice.Errorf(sluice.CodeNotSignable, "Calls of this sender have a JSON object as their body.")
}

// fresh reports whether a time is near enough to now.
func fresh(at, now time.Time, tolerance time.Duration) error {
	switch apart := now.Sub(at); {
	case apart > tolerance:
		return expired("The signature matches, but is %s old; %s are allowed. Was the call held up, or does our clock go wrong?", round(apart), tolerance)
	case apart < -tolerance:
		return expired("The signature matches, but is %s in the future; %s are allowed. One of the two clocks goes wrong.", round(-apart), tolerance)
	}
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(time.Second) }

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}

func hexDigest(body []byte) string {
	digest := sha256.Sum256(body)
	return hex.EncodeToString(digest[:])
}
