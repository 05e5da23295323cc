package sender

import (
	"context"
	"crypto/subtle"
	"time"
)

// A figmaCheck compares the passcode in the body.
type figmaCheck struct{ passcode string }

func newFigma(secret string, _ Keys) (checker, error) { return figmaCheck{secret}, nil }

func (f figmaCheck) check(_ context.Context, c *Call, _ time.Time) error {
	given := lookup(c.Body, []string{"passcode"})
	if len(given) == 0 || given[0] != '"' {
		return missing("The body has no passcode.")
	}
	if subtle.ConstantTimeCompare([]byte(scalar(given)), []byte(f.passcode)) != 1 {
		return invalid("The passcode in the body is another one.")
	}
	return nil
}

func (f figmaCheck) sign(c *Call, _ time.Time) (err error) {
	c.Body, err = putMember(c.Body, "passcode", f.passcode)
	return err
}
