package sender

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
	"time"

	"sluice"
)

// A tokenCheck is for senders that send the secret itself in a header.
type tokenCheck struct {
	header string
	scheme string // a word before the secret, such as Bearer
	digest [sha256.Size]byte
	secret string

	challenge string // what the answer to another secret asks for, "" for nothing
}

// bySecret makes the checker of a sender that sends the secret in a header, perhaps behind a
// word.
func bySecret(header, word string) newChecker {
	return func(secret string, _ Keys) (checker, error) {
		return &tokenCheck{header: header, scheme: word, digest: sha256.Sum256([]byte(secret)), secret: secret}, nil
	}
}

// byLogin makes the checker of a sender that sends a name and a password. Some send them only
// when the answer asks for them. Where a user is given, the secret may be a password alone.
func byLogin(user string) newChecker {
	return func(secret string, _ Keys) (checker, error) {
		hasUser := strings.Contains(secret, ":")
		switch {
		case secret == ":", !hasUser && user == "":
			return nil, secretError("The signing secret must be what the sender logs in with, as user:password.")
		case !hasUser:
			secret = user + ":" + secret
		}
		login := base64.StdEncoding.EncodeToString([]byte(secret))
		return &tokenCheck{
			header: "Authorization", scheme: "Basic", digest: sha256.Sum256([]byte(login)), secret: login,
			challenge: `Basic realm="webhook.receive", charset="UTF-8"`,
		}, nil
	}
}

func (t *tokenCheck) check(_ context.Context, c *Call, _ time.Time) error {
	err := t.compare(c)
	if err != nil && t.challenge != "" {
		return sluice.AsError(err).Challenging(t.challenge)
	}
	return err
}

// compare compares digests, so that not even the length of the secret can be
// measured.
func (t *tokenCheck) compare(c *Call) error {
	value, err := c.header(t.header)
	if err != nil {
		return err
	}
	if t.scheme != "" {
		word, rest, _ := strings.Cut(value, " ")
		if !strings.EqualFold(word, t.scheme) {
			return invalid("The header %s does not begin with %s.", t.header, t.scheme)
		}
		value = rest
	}
	digest := sha256.Sum256([]byte(value))
	if subtle.ConstantTimeCompare(digest[:], t.digest[:]) != 1 {
		return invalid("The secret in the header %s is another one.", t.header)
	}
	return nil
}

func (t *tokenCheck) sign(c *Call, _ time.Time) error {
	value := t.secret
	if t.scheme != "" {
		value = t.scheme + " " + value
	}
	c.Header.Set(t.header, value)
	return nil
}
