package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go"

	"sluice/jetstream/stream"
	"sluice/wait"
)

// send sends the contents of a stream to the engine, several chunks at a time.
func (r *Restoration) send(ctx context.Context, to string) error {
	const onTheWay = chunkWindow / chunkSize
	acks := make(chan *nats.Msg, onTheWay+1)
	inbox := r.host.Conn.NewInbox()
	sub, err := r.host.Conn.ChanSubscribe(inbox, acks)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only if the connection is gone
	unanswered := 0
	// await waits until at most so many chunks are unanswered.
	await := func(most int) error {
		for ; unanswered > most; unanswered-- {
			select {
			case ack := <-acks:
				if err := refusal(ack); err != nil {
					return err
				}
			case <-time.After(chunkTimeout):
				return stream.NoAnswer(errors.New("the engine does not take more"))
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	chunk := make([]byte, chunkSize)
	n, err := io.ReadFull(r.from, chunk)
	if n > 0 {
		if err := r.begin(ctx, to, chunk[:n]); err != nil {
			return err
		}
	}
	for err == nil {
		if n, err = io.ReadFull(r.from, chunk); n == 0 {
			break
		}
		if err := errors.Join(await(onTheWay-1), r.host.Conn.PublishRequest(to, inbox, chunk[:n])); err != nil {
			return err
		}
		unanswered++
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return await(0)
}

// begin sends the first chunk, again if nobody took it.
func (r *Restoration) begin(ctx context.Context, to string, chunk []byte) error {
	return untilReply(ctx, func(ctx context.Context) error {
		ack, err := r.host.Conn.RequestWithContext(ctx, to, chunk)
		if err != nil {
			return stream.NoAnswer(err)
		}
		return refusal(ack)
	})
}

// untilReply repeats a request for a while if nobody is there to reply: the servers of
// a cluster may not all know yet what was just made, or have no leader for it.
func untilReply(ctx context.Context, request func(ctx context.Context) error) error {
	const pause = 100 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, chunkTimeout)
	defer cancel()
	for {
		err := request(ctx)
		if !errors.Is(err, nats.ErrNoResponders) {
			return err
		}
		if wait.For(ctx, pause) != nil {
			return err
		}
	}
}

// refusal returns why the engine refused a chunk, nil if it took it.
func refusal(ack *nats.Msg) error {
	if status := ack.Header.Get("Status"); status != "" {
		return stream.NoAnswer(fmt.Errorf("restore: status %s %s", status, ack.Header.Get("Description")))
	}
	if len(ack.Data) == 0 {
		return nil
	}
	_, err := answer[struct{}](ack, nil)
	return err
}
