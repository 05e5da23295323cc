package stream

import (
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// Remove removes a message, if it is there. With overwrite its bytes on disk are
// overwritten.
func Remove(ctx context.Context, s jetstream.Stream, sequence uint64, overwrite bool) error {
	remove := s.DeleteMsg
	if overwrite {
		remove = s.SecureDeleteMsg
	}
	if err := remove(ctx, sequence); err != nil && !IsGone(err) {
		return NoAnswer(err)
	}
	return nil
}

// RemoveAll removes the messages of a subject, see Remove.
func RemoveAll(ctx context.Context, s jetstream.Stream, subject string, overwrite bool) error {
	for next := uint64(1); ; {
		msg, err := First(ctx, s, next, subject)
		if msg == nil || err != nil {
			return err
		}
		if err := Remove(ctx, s, msg.Sequence, overwrite); err != nil {
			return err
		}
		next = msg.Sequence + 1
	}
}

// IsGone reports whether a message could not be removed because it is not there. The library tells
// only in words what the engine says of a removal.
func IsGone(err error) bool {
	return errors.Is(err, jetstream.ErrMsgNotFound) || errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) &&
		(strings.Contains(err.Error(), "no message found") || strings.Contains(err.Error(), "err_code=10043"))
}
