package queue

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	"github.com/nats-io/nats.go/jetstream"

	"sluice"
	"sluice/seal"
	"sluice/value"
)

// sealedFor returns what seals and opens what is kept of an event. The key is made of the event, and is gone with
// it: what is kept is removed without being overwritten, which would write all of the file that it is in.
func sealedFor(event []byte) *seal.Box {
	hash := sha256.New()
	hash.Write([]byte("sluice kept of an event\x00"))
	hash.Write(event)
	box, err := seal.New(hash.Sum(nil))
	if err != nil {
		panic(err) // the key has the right length
	}
	return box
}

// sealed returns what seals and opens what is kept of an item, nil if its event is gone.
func (w *Work) sealed(ctx context.Context, place string) (*seal.Box, error) {
	binding, key := eventOf(place)
	e, err := w.room.event(ctx, binding, key)
	if e == nil || err != nil {
		return nil, err
	}
	return sealedFor(e.data), nil
}

// openItem returns an item as it is stored, nil if it is gone, or its event is.
func openItem(msg *jetstream.RawStreamMsg, box *seal.Box, place string) *sluice.WorkItem {
	item := new(sluice.WorkItem)
	var sealed []byte
	if msg == nil || box == nil || json.Unmarshal(msg.Data, item) != nil || json.Unmarshal(item.Input, &sealed) != nil {
		return nil
	}
	input, err := box.Open(stepOf(place), sealed)
	if err != nil {
		return nil
	}
	item.Input = input
	return item
}

// seal returns an answer as it is stored.
func (w *Work) seal(ctx context.Context, place string, answer sluice.WorkAnswer) ([]byte, error) {
	text, err := value.Marshal(answer)
	if err != nil {
		return nil, err
	}
	box, err := w.sealed(ctx, place)
	switch {
	case err != nil:
		return nil, err
	case box == nil:
		return nil, leaseOver()
	}
	return box.Seal(stepOf(place), text), nil
}
