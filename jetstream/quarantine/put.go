package quarantine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/jetstream/stream"
	"sluice/value"
)

// Put implements sluice.QuarantineStore.
func (s *Store) Put(ctx context.Context, c *sluice.QuarantinedCall) error {
	if err := s.host.Ready(); err != nil {
		return err
	}
	request, err := value.Marshal(sealedCall{c.Token, c.Request})
	if err != nil {
		return err
	}
	sealed := s.box.Seal(c.ID, request)
	meta, err := value.Marshal(c)
	if err != nil {
		return err
	}
	kept := &keptCall{QuarantinedCall: *c, subject: subjectOfCall(c), size: len(meta) + len(sealed)}
	if err := stream.Fits("The call", kept.size); err != nil {
		return err
	}
	kept.Token, kept.Request = "", sluice.KeptRequest{}
	if err := s.publish(ctx, &nats.Msg{
		Subject: kept.subject, Data: sealed, Header: nats.Header{metaHeader: {string(meta)}},
	}); err != nil {
		return err
	}
	s.known.add(kept)
	for {
		surplus := s.known.surplus(shareOf(kept.subject))
		if surplus == nil {
			return nil
		}
		if err := s.erase(ctx, surplus); err != nil {
			return err
		}
		s.pushed.Add(1)
	}
}

func (s *Store) publish(ctx context.Context, msg *nats.Msg) error {
	if _, err := s.host.SideJS.PublishMsg(ctx, msg, jetstream.WithMsgID(rand.Text())); err != nil {
		return stream.NotTaken("the call", err)
	}
	s.stored()
	return nil
}

// erase replaces a call by the note that it is gone.
func (s *Store) erase(ctx context.Context, c *keptCall) error {
	if err := s.publish(ctx, &nats.Msg{Subject: c.subject}); err != nil {
		return err
	}
	s.known.remove(c.ID)
	return nil
}

// subjectOfCall returns where a call is stored. The token is secret, its hash is not.
func subjectOfCall(c *sluice.QuarantinedCall) string {
	hash := sha256.Sum256([]byte(c.Token))
	return stream.QuarantinePrefix + hex.EncodeToString(hash[:8]) + "." + strings.ReplaceAll(c.ID, ":", "=")
}

func idOf(subject string) string {
	return strings.ReplaceAll(subject[strings.LastIndexByte(subject, '.')+1:], "=", ":")
}

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
	msg, err := stream.Found(s.stream.GetLastMsgForSubject(ctx, known.subject))
	if err != nil {
		return false, err
	}
	if msg == nil || len(msg.Data) == 0 {
		s.known.remove(c.ID) // another node has dropped it, or it has expired
		return false, nil
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
