package sender

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

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

// text returns a text in the body by its path, "" if there is none.
func (c *Call) text(path ...string) string {
	var text string
	_ = json.Unmarshal(value.Lookup(c.Body, path...), &text) // what is no text is none
	return text
}

func hexDigest(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }
