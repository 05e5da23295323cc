package sender

import (
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice"
	"sluice/value"
)

// A Dedupe says where the id of a delivery is: the parameter dedupe.
type Dedupe struct {
	where string     // header, query, body, item, content, cloudevent, mailgun or off
	name  string     // of the header or of the query's parameter
	paths [][]string // in the body; only an item has several
}

// Bounds of what a dedupe may say, and of an id.
const (
	maxPath       = 16
	maxDeliveryID = 256
)

// ParseDedupe reads the parameter dedupe: header:<name>, query:<name>,
// body:<member.of.json>, item:<member.of.json> (several by comma), content, cloudevent, mailgun or
// off.
func ParseDedupe(text string) (Dedupe, error) {
	where, name, named := strings.Cut(text, ":")
	d := Dedupe{where: where, name: name}
	switch {
	case !named && slices.Contains([]string{"off", "content", "cloudevent", "mailgun"}, where):
		return d, nil
	case where == "header" && isHeaderName(name):
		d.name = http.CanonicalHeaderKey(name)
		return d, nil
	case where == "query" && name != "" && len(name) <= maxName:
		return d, nil
	case (where == "body" || where == "item") && len(name) <= maxPattern && utf8.ValidString(name):
		members := []string{name}
		if where == "item" {
			members = strings.Split(name, ",")
		}
		if d.paths = pathsOf(members); d.paths != nil {
			return d, nil
		}
	}
	return Dedupe{}, sluice.InvalidParameter("dedupe", "dedupe says where the id of a delivery is: header:<name>, "+
		"query:<name>, body:<member.of.json>, item:<member.of.json> of a call that is split, content, cloudevent, "+
		"mailgun, or off.")
}

// pathsOf returns where members of a body are, nil if one of them is no path, or there are too many.
func pathsOf(members []string) (paths [][]string) {
	for _, name := range members {
		path := strings.Split(name, ".")
		if len(path) > maxPath || slices.Contains(path, "") || len(members) > maxPath {
			return nil
		}
		paths = append(paths, path)
	}
	return paths
}

// ID returns the id of a delivery, "" if the call has none. An invalid one is an error with
// the code delivery-id-invalid.
func (d Dedupe) ID(c *Call) (string, error) {
	var values []string
	switch d.where {
	case "header":
		values = c.Header[d.name]
	case "query":
		values = c.query(d.name)
	case "body", "item":
		return d.inBody(c.Body)
	case "content":
		// A digest of the sender's own bytes: nothing that a signature may leave out counts.
		return hex.EncodeToString(digestOf([][]byte{[]byte(c.Method + "\n"), c.Body})), nil
	case "mailgun":
		return checkID(mailgunFields(c)("token"))
	case "cloudevent":
		if e, ok := c.CloudEvent(); ok {
			return checkID(short(joined(e.Source, e.ID)))
		}
	}
	if len(values) > 1 {
		return "", idInvalid("The id of the delivery came more than once.")
	}
	if len(values) == 0 {
		return "", nil
	}
	if values[0] == "" {
		return "", idEmpty()
	}
	return checkID(values[0])
}

// inBody returns the id that members of a body make, "" if one of them is missing.
func (d Dedupe) inBody(body []byte) (string, error) {
	parts := make([]string, len(d.paths))
	for i, path := range d.paths {
		raw := value.Lookup(body, path...)
		if string(raw) == `""` {
			return "", idEmpty()
		}
		if parts[i] = value.Scalar(raw); parts[i] == "" {
			return "", nil
		}
	}
	if len(parts) == 1 {
		return checkID(parts[0])
	}
	return checkID(short(joined(parts...)))
}

// joined returns texts of others as one that no other texts are joined to. All but the last are quoted
// where the next one might seem to begin in them.
func joined(parts ...string) string {
	for i, part := range parts[:len(parts)-1] {
		if strings.Contains(part, " ") || strings.HasPrefix(part, `"`) {
			parts[i] = strconv.Quote(part)
		}
	}
	return strings.Join(parts, " ")
}

// short returns an id, or its hash if it is long.
func short(id string) string {
	if len(id) <= maxDeliveryID {
		return id
	}
	return hexDigest([]byte(id))
}

func checkID(id string) (string, error) {
	if len(id) > maxDeliveryID {
		return "", idInvalid("The id of the delivery has more than 256 bytes.")
	}
	if !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return "", idInvalid("The id of the delivery has control characters in it.")
	}
	return id, nil
}

func idInvalid(text string) *sluice.Error {
	return sluice.CodeDeliveryIDInvalid.Errorf("%s", text)
}

func idEmpty() *sluice.Error { return idInvalid("The id of the delivery is empty.") }

// Renew gives a call of a sender another delivery id of the same form, and each item of it, so that a
// sample can be sent again and again.
func (d Dedupe) Renew(c *Call, split string) {
	c.Body = slices.Clone(c.Body)
	items, found := SplitOf(sluice.Auto, split, c.Header.Get("Content-Type")).Items(c.Body)
	if !found || d.where == "body" {
		items = [][]byte{c.Body}
	}
	switch d.where {
	case "header":
		c.renew(d.name)
	case "cloudevent":
		c.renew("Ce-Id")
		d.paths = [][]string{{"id"}}
	}
	for _, item := range items {
		if d.paths != nil {
			renewDigits(value.Lookup(item, d.paths[0]...))
		}
	}
}

// renew gives a call another id in a header that it has.
func (c *Call) renew(header string) {
	for i, id := range c.Header[header] {
		digits := []byte(id)
		renewDigits(digits)
		c.Header[header][i] = string(digits)
	}
}

// renewDigits replaces the digits of an id by random ones.
func renewDigits(id []byte) {
	for i, c := range id {
		if c >= '0' && c <= '9' {
			id[i] = '1' + byte(rand.IntN(9)) // it only has to differ
		}
	}
}
