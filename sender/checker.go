package sender

import (
	"context"
	"fmt"
	"time"

	"sluice"
)

// A checker recognises calls of a sender, by one secret.
type checker interface {
	// check returns nil if the sender made the call, otherwise an error with
	// one of the codes signature-missing, signature-invalid, signature-expired.
	// The signature is checked before its time.
	check(ctx context.Context, c *Call, now time.Time) error

	// sign changes a call so that check accepts it.
	sign(c *Call, now time.Time) error
}

// newChecker makes the checker of one secret.
type newChecker func(secret string, keys Keys) (checker, error)

// Keys gets the public keys that senders publish.
type Keys interface {
	// Get returns the content of an address, not older than maxAge. What stands behind a #
	// is sent there as JSON, by POST. Unavailable if the address can't be read now. Once ctx
	// has ended, nobody is asked: what is known counts.
	Get(ctx context.Context, address string, maxAge time.Duration) ([]byte, error)
}

// The three ways in which a signature is refused. What the caller is told is the
// same for each; the cause is for the operator.

func missing(format string, args ...any) *sluice.Error {
	return sluice.CodeSignatureMissing.Errorf(
		"This webhook takes signed calls only; this one carries no signature.").Because(fmt.Errorf(format, args...))
}

func invalid(format string, args ...any) *sluice.Error {
	return sluice.CodeSignatureInvalid.Errorf(
		"The signature of this call is not valid.").Because(fmt.Errorf(format, args...))
}

func expired(format string, args ...any) *sluice.Error {
	return sluice.CodeSignatureExpired.Errorf(
		"The signature of this call is too old, or from the future.").Because(fmt.Errorf(format, args...))
}

func isExpired(err error) bool { return sluice.CodeSignatureExpired.Is(err) }

// fresh reports whether a time is near enough to now.
func fresh(at, now time.Time, tolerance time.Duration) error {
	switch apart := now.Sub(at); {
	case apart > tolerance:
		return expired("The signature matches, but is %s old; %s are allowed. "+
			"Was the call held up, or does our clock go wrong?", round(apart), tolerance)
	case apart < -tolerance:
		return expired("The signature matches, but is %s in the future; %s are allowed. "+
			"One of the two clocks goes wrong.", round(-apart), tolerance)
	}
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(time.Second) }

func secretError(text string) *sluice.Error {
	return sluice.InvalidParameter("signingSecret", "%s", text)
}

func notSignable() *sluice.Error {
	return sluice.CodeNotSignable.Errorf(
		"Calls of this sender can't be signed here, since only the sender has the key for that.")
}
