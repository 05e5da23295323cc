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
func sealedFor(event []byte) *seal.Box { return sealedBy(keyFor(event)) }

// keyFor returns the key for what is kept of an event.
func keyFor(event []byte) []byte {
	hash := sha256.New()
	hash.Write([]byte("sluice kept of an event\x00"))
	hash.Write(event)
	return hash.Sum(nil)
}

func sealedBy(key []byte) *seal.Box {
	box, err := seal.New(key)
	if err != nil {
		panic(err) // the key has the right length
	}
	return box
}

// unlock finds the key for what is kept of a locked item, nothing if its event is gone. An item that is
// erased is no job any more, and nobody asks it.
func (w *Work) unlock(ctx context.Context, j *job) error {
	if j.key != nil {
		return nil
	}
	binding, key := eventOf(j.place)
	e, err := w.room.event(ctx, binding, key)
	if e != nil {
		j.key = keyFor(e.data)
	}
	return err
}

// openItem returns an item as it is stored, nil if it is gone, or its event is.
func openItem(msg *jetstream.RawStreamMsg, key []byte, place string) *sluice.WorkItem {
	item := new(sluice.WorkItem)
	var sealed []byte
	if msg == nil || key == nil || json.Unmarshal(msg.Data, item) != nil || json.Unmarshal(item.Input, &sealed) != nil {
		return nil
	}
	input, err := sealedBy(key).Open(stepOf(place), sealed)
	if err != nil {
		return nil
	}
	item.Input = input
	return item
}

// seal returns an answer as it is stored.
func (w *Work) seal(ctx context.Context, j *job, answer sluice.WorkAnswer) ([]byte, error) {
	text, err := value.Marshal(answer)
	if err != nil {
		return nil, err
	}
	err = w.unlock(ctx, j)
	switch {
	case err != nil:
		return nil, err
	case j.key == nil:
		return nil, leaseOver()
	}
	return sealedBy(j.key).Seal(stepOf(j.place), text), nil
}

// done returns with what answer the event of a lease goes on that was answered before, and what answers of that
// event are hashed with; nil if there is none. The answer is beside the event until the event is done, and then the
// outcome has its hash.
func (w *Work) done(ctx context.Context, lease string) (*sluice.WorkDone, *seal.Box, error) {
	place, its := cutLease(lease)
	if !validPlace(place) {
		return nil, nil, nil
	}
	j := &job{place: place}
	if err := w.unlock(ctx, j); j.key == nil || err != nil {
		return nil, nil, err
	}
	box := sealedBy(j.key)
	msg, err := w.stored(ctx, place, waitingLease)
	if err != nil {
		return nil, nil, err
	}
	var p progress
	if msg == nil || json.Unmarshal(msg.Data, &p) != nil || p.Lease != its || p.Answer == nil {
		binding, key := eventOf(place)
		done, err := w.settled(ctx, binding, key, its)
		return done, box, err
	}
	text, err := box.Open(stepOf(place), p.Answer)
	return &sluice.WorkDone{Lease: its, Queue: p.Queue, Answer: hashOf(box, text)}, box, err
}

// hashOf tells an answer from others. Who does not have the event can't find out by it what was answered.
func hashOf(box *seal.Box, answer []byte) []byte {
	hash := box.Hash(string(answer))
	return hash[:16]
}
