package quarantine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
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
	s.dirty.Store(true)
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
