package sender

import (
	"context"
	"crypto/subtle"
	"slices"
	"time"

	"sluice/value"
)

// A bodySecret is for senders that send the secret itself in the body: as a member of it, or of
// each notification in a list.
type bodySecret struct{ list, member, secret string }

// inBody makes the checker of a member, in the items of a list unless that is "".
func inBody(list, member string) newChecker {
	return func(secret string, _ Keys) (checker, error) { return bodySecret{list, member, secret}, nil }
}

// check decodes only what it looks for: a stranger may have sent the rest.
func (b bodySecret) check(_ context.Context, c *Call, _ time.Time) error {
	lacks, differs := "The body has no %s.", "The %s in the body is another one."
	items := slices.Values([][]byte{c.Body})
	if b.list != "" {
		lacks, differs = "A notification has no %s.", "The %s of a notification is another one."
		items = value.Elements(value.Lookup(c.Body, b.list))
	}
	none := true
	for item := range items {
		none = false
		given := value.Lookup(item, b.member)
		if len(given) == 0 || given[0] != '"' {
			return missing(lacks, b.member)
		}
		if subtle.ConstantTimeCompare([]byte(value.Scalar(given)), []byte(b.secret)) != 1 {
			return invalid(differs, b.member)
		}
	}
	if none {
		return missing("The body has no notification with a %s.", b.member)
	}
	return nil
}

func (b bodySecret) sign(c *Call, _ time.Time) (err error) {
	if b.list == "" {
		c.Body, err = putMember(c.Body, b.member, b.secret)
		return err
	}
	whole, each := listIn(c.Body, b.list)
	if len(each) == 0 {
		return notAnObject()
	}
	for _, item := range each {
		if n, ok := item.(map[string]any); ok {
			n[b.member] = b.secret
		}
	}
	c.Body, err = value.Marshal(whole)
	return err
}
