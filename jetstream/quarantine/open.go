package quarantine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
)

// sealedCall is what is sealed of a call.
type sealedCall struct {
	Token   string             `json:"token"`
	Request sluice.KeptRequest `json:"request"`
}

// Open implements sluice.QuarantineStore.
func (s *Store) Open(ctx context.Context, c *sluice.QuarantinedCall) (bool, error) {
	if err := s.host.Connected(); err != nil {
		return false, err
	}
	known := s.known.find(c.ID)
	if known == nil {
		return false, nil
	}
	msg, err := s.stream.GetLastMsgForSubject(ctx, known.subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && len(msg.Data) == 0 {
		s.known.remove(c.ID) // another node has dropped it, or it has expired
		return false, nil
	}
	if err != nil {
		return false, stream.NoAnswer(err)
	}
	text, err := s.box.Open(c.ID, msg.Data)
	if err != nil {
		return false, fmt.Errorf("call %s in the quarantine: %w", c.ID, err)
	}
	var opened sealedCall
	if err := json.Unmarshal(text, &opened); err != nil {
		return false, err
	}
	c.Token, c.Request = opened.Token, opened.Request
	return true, nil
}
