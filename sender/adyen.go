package sender

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"time"

	"sluice/value"
)

func newAdyen(secret string, _ Keys) (checker, error) {
	key, err := hex.DecodeString(secret)
	if err != nil || len(key) == 0 {
		return nil, secretError("The signing secret must be the HMAC key in hex, as Adyen shows it.")
	}
	return adyenCheck{key}, nil
}

type adyenCheck struct{ key []byte }

// adyenSigned has the members of a notification that are signed, in their order.
var adyenSigned = [][]string{
	{"pspReference"}, {"originalReference"}, {"merchantAccountCode"}, {"merchantReference"},
	{"amount", "value"}, {"amount", "currency"}, {"eventCode"}, {"success"},
}

// check takes webhooks whose body is signed as a whole, in a header, and those in which
// each notification is.
func (a adyenCheck) check(_ context.Context, c *Call, _ time.Time) error {
	if len(c.Header["Hmacsignature"]) > 0 {
		given, err := c.header("Hmacsignature")
		if err == nil && !a.fits(given, c.Body) {
			err = invalid("The signature in the header HmacSignature does not match.")
		}
		return err
	}
	none := true
	for item := range value.Elements(value.Lookup(c.Body, "notificationItems")) {
		none = false
		item = value.Lookup(item, "NotificationRequestItem")
		given := value.Scalar(value.Lookup(item, "additionalData", "hmacSignature"))
		if given == "" {
			return missing("A notification has no hmacSignature.")
		}
		if !a.fits(given, adyenText(item)) {
			return invalid("The hmacSignature of a notification does not match.")
		}
	}
	if none {
		return missing("The body has no notification with an hmacSignature.")
	}
	return nil
}

// adyenText returns what is signed of a notification.
func adyenText(item []byte) []byte {
	parts := make([]string, len(adyenSigned))
	for i, path := range adyenSigned {
		parts[i] = value.Scalar(value.Lookup(item, path...))
	}
	return []byte(strings.Join(parts, ":"))
}

func (a adyenCheck) signature(text []byte) string {
	return base64.StdEncoding.EncodeToString(macOf(sha256.New, string(a.key), string(text)))
}

func (a adyenCheck) fits(given string, text []byte) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(a.signature(text))) == 1
}

func (a adyenCheck) sign(c *Call, _ time.Time) (err error) {
	whole, items := listIn(c.Body, "notificationItems")
	if len(items) == 0 {
		c.Header.Set("Hmacsignature", a.signature(c.Body))
		return nil
	}
	for _, item := range items {
		wrapped, _ := item.(map[string]any)
		notification, ok := wrapped["NotificationRequestItem"].(map[string]any)
		if !ok {
			return notAnObject()
		}
		text, err := value.Marshal(notification)
		if err != nil {
			return err
		}
		more, _ := notification["additionalData"].(map[string]any)
		if more == nil {
			more = map[string]any{}
		}
		more["hmacSignature"] = a.signature(adyenText(text))
		notification["additionalData"] = more
	}
	c.Body, err = value.Marshal(whole)
	return err
}
