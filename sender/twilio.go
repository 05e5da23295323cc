package sender

import (
	"context"
	"crypto/sha1" //nolint:gosec // it is what Twilio signs with
	"crypto/subtle"
	"encoding/base64"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"
)

func newTwilio(secret string, _ Keys) (checker, error) { return twilioCheck{secret}, nil }

type twilioCheck struct{ token string }

func (t twilioCheck) check(_ context.Context, c *Call, _ time.Time) error {
	value, err := c.header("X-Twilio-Signature")
	if err != nil {
		return err
	}
	fields, err := twilioFields(c)
	if err != nil {
		return err
	}
	fits := 0
	for _, address := range withAndWithoutPort(c.URL) {
		fits |= subtle.ConstantTimeCompare([]byte(value), []byte(t.signature(address, fields)))
	}
	if fits != 1 {
		return invalid("The signature in the header X-Twilio-Signature does not match. Is the public URL of this " +
			"server the one that was entered at Twilio?")
	}
	return nil
}

func (t twilioCheck) sign(c *Call, _ time.Time) error {
	if isForm(c) || len(c.Body) == 0 {
		fields, err := twilioFields(c)
		c.Header.Set("X-Twilio-Signature", t.signature(c.URL, fields))
		return err
	}
	joint := "?"
	if strings.Contains(c.URL, "?") {
		joint = "&"
	}
	c.URL += joint + "bodySHA256=" + hexDigest(c.Body)
	c.Header.Set("X-Twilio-Signature", t.signature(c.URL, ""))
	return nil
}

func (t twilioCheck) signature(address, fields string) string {
	return base64.StdEncoding.EncodeToString(macOf(sha1.New, t.token, address, fields))
}

// twilioFields returns the fields of a form as they are signed: by name,
// without separators. Other bodies are covered by a digest in the URL.
func twilioFields(c *Call) (string, error) {
	if !isForm(c) {
		if len(c.Body) > 0 &&
			subtle.ConstantTimeCompare([]byte(c.parameter("bodySHA256")), []byte(hexDigest(c.Body))) != 1 {
			return "", invalid("The body is neither a form nor the one whose digest bodySHA256 in the URL is.")
		}
		return "", nil
	}
	form, err := url.ParseQuery(string(c.Body))
	if err != nil {
		return "", invalid("The body is no form.")
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(form)) {
		values := form[name]
		slices.Sort(values)
		for _, value := range slices.Compact(values) {
			b.WriteString(name)
			b.WriteString(value)
		}
	}
	return b.String(), nil
}

func isForm(c *Call) bool {
	media, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	return media == "application/x-www-form-urlencoded"
}

// withAndWithoutPort returns a URL with its port and without, since Twilio
// signs either.
func withAndWithoutPort(address string) []string {
	u, err := url.Parse(address)
	scheme, rest, ok := strings.Cut(address, "://")
	if err != nil || !ok {
		return []string{address}
	}
	host := u.Host + standardPorts[u.Scheme]
	if port := u.Port(); port != "" {
		host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return []string{address, scheme + "://" + strings.Replace(rest, u.Host, host, 1)}
}
