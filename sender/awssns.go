package sender

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // version 1 of the signature has nothing better
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"sluice/value"
)

// greetSNS has the subscription confirmed, whose message is signed.
func greetSNS(g greeting) *Answer {
	message, ok := uniqueTexts(g.Body)
	if !ok || message["Type"] != "SubscriptionConfirmation" || !isSubscribeURL(message["SubscribeURL"]) {
		return nil
	}
	return &Answer{Status: http.StatusOK, Header: http.Header{}, Fetch: message["SubscribeURL"]}
}

func newSNS(secret string, keys Keys) (checker, error) { return snsCheck{secret, keys}, nil }

type snsCheck struct {
	topic string // "" means any
	keys  Keys
}

// snsSigned has the members that are signed, in their order, by type of message.
var snsSigned = map[string]string{
	"Notification":             "Message MessageId Subject Timestamp TopicArn Type",
	"SubscriptionConfirmation": "Message MessageId SubscribeURL Timestamp Token TopicArn Type",
	"UnsubscribeConfirmation":  "Message MessageId SubscribeURL Timestamp Token TopicArn Type",
}

// check ignores the time: SNS repeats a message for weeks with the same Timestamp.
func (s snsCheck) check(ctx context.Context, c *Call, now time.Time) error {
	message, ok := uniqueTexts(c.Body)
	if !ok || message["Signature"] == "" {
		return missing("The body is no message of SNS with a Signature.")
	}
	signature, err := base64.StdEncoding.DecodeString(message["Signature"])
	names := snsSigned[message["Type"]]
	if err != nil || names == "" {
		return invalid("The message has an unknown type, or a Signature that is no base64.")
	}
	if !isSigningCertURL(message["SigningCertURL"]) {
		return invalid("SigningCertURL is no address of SNS.")
	}
	key, err := certificateKey(ctx, s.keys, message["SigningCertURL"], now)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for name := range strings.FieldsSeq(names) {
		if said, ok := message[name]; ok {
			text.WriteString(name + "\n" + said + "\n")
		}
	}
	algorithm, digest := crypto.SHA256, sha256.Sum256(text.Bytes())
	sum := digest[:]
	if message["SignatureVersion"] == "1" {
		weak := sha1.Sum(text.Bytes()) //nolint:gosec // see above
		algorithm, sum = crypto.SHA1, weak[:]
	}
	if rsa.VerifyPKCS1v15(key, algorithm, sum, signature) != nil {
		return invalid("The Signature in the body does not match.")
	}
	if s.topic != "" && message["TopicArn"] != s.topic {
		return invalid("The message is of another topic than the one that is set as the signing secret.")
	}
	return nil
}

func (snsCheck) sign(*Call, time.Time) error { return notSignable() }

var (
	// snsHost excludes other hosts below amazonaws.com, above all buckets of
	// strangers.
	snsHost = regexp.MustCompile(`^sns\.[a-z]{2,4}(-[a-z]+)+-\d{1,2}\.amazonaws\.com(\.cn)?$`)
	snsCert = regexp.MustCompile(`^/SimpleNotificationService-[0-9a-zA-Z]{1,64}\.pem$`)
)

func snsURL(address string) (*url.URL, bool) {
	u, err := url.Parse(address)
	if err != nil || len(address) > 2<<10 {
		return nil, false
	}
	return u, u.Scheme == "https" && u.User == nil && u.Fragment == "" && u.Opaque == "" && snsHost.MatchString(u.Host)
}

func isSigningCertURL(address string) bool {
	u, ok := snsURL(address)
	return ok && u.RawQuery == "" && !u.ForceQuery && snsCert.MatchString(u.EscapedPath())
}

func isSubscribeURL(address string) bool {
	u, ok := snsURL(address)
	return ok && u.Path == "/" && u.Query().Get("Action") == "ConfirmSubscription"
}

// uniqueTexts returns the members of a JSON object that are texts. It refuses an object
// that has a name twice, since readers differ in which one counts. Other members are
// skipped without decoding them: a stranger may have sent them.
func uniqueTexts(body []byte) (map[string]string, bool) {
	const most = 64 // a message has a dozen
	texts, seen := map[string]string{}, map[string]bool{}
	err := value.Members(body, func(name string, content json.RawMessage) error {
		if seen[name] || len(seen) == most {
			return value.ErrNoObject
		}
		if seen[name] = true; content[0] == '"' {
			texts[name] = value.Scalar(content)
		}
		return nil
	})
	return texts, err == nil
}
