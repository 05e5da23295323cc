package sender

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strconv"
	"time"

	"sluice/value"
)

func newMailgun(secret string, _ Keys) (checker, error) { return mailgunCheck{secret}, nil }

// mailgunTolerance is long, since Mailgun repeats calls for 8 hours, and
// advises against strict checks of the time.
const mailgunTolerance = 12 * time.Hour

type mailgunCheck struct{ key string }

func (m mailgunCheck) check(_ context.Context, c *Call, now time.Time) error {
	get := mailgunFields(c)
	timestamp, token := get("timestamp"), get("token")
	if timestamp == "" || token == "" || get("signature") == "" {
		return missing("The body has no timestamp, token and signature.")
	}
	// Events of a subaccount are signed with the key of the main account, too.
	expected, fits := []byte(m.signature(timestamp, token)), 0
	for _, name := range []string{"signature", "parent-signature"} {
		fits |= subtle.ConstantTimeCompare([]byte(get(name)), expected)
	}
	if fits != 1 {
		return invalid("The signature in the body does not match.")
	}
	// Only whole seconds: in the signed text nothing separates the time from the token.
	seconds, err := strconv.ParseUint(timestamp, 10, 63)
	if err != nil || len(timestamp) != 10 {
		return invalid("The timestamp in the body is no time.")
	}
	return fresh(time.Unix(int64(seconds), 0), now, mailgunTolerance)
}

func (m mailgunCheck) sign(c *Call, now time.Time) (err error) {
	timestamp, token := strconv.FormatInt(now.Unix(), 10), randomText()
	c.Body, err = putMember(c.Body, "signature", map[string]string{
		"timestamp": timestamp, "token": token, "signature": m.signature(timestamp, token),
	})
	return err
}

func (m mailgunCheck) signature(timestamp, token string) string {
	return hex.EncodeToString(macOf(sha256.New, m.key, timestamp, token))
}

// mailgunFields returns the fields of the signature: in JSON for events, in a
// form for mail.
func mailgunFields(c *Call) (get func(name string) string) {
	media, params, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	switch media {
	case "application/x-www-form-urlencoded":
		form, _ := url.ParseQuery(string(c.Body)) // malformed fields are missing
		return form.Get
	case "multipart/form-data":
		return multipartFields(c.Body, params["boundary"]).Get
	}
	return func(name string) string { return value.Scalar(value.Lookup(c.Body, "signature", name)) }
}

// multipartFields returns the short fields of a multipart body, as far as it
// can be read.
func multipartFields(body []byte, boundary string) url.Values {
	const maxParts, maxField = 256, 1 << 10
	fields := url.Values{}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	for range maxParts {
		part, err := reader.NextRawPart()
		if err != nil {
			break
		}
		if content, err := io.ReadAll(io.LimitReader(part, maxField)); err == nil && part.FileName() == "" {
			fields.Add(part.FormName(), string(content))
		}
	}
	return fields
}
