package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"sluice/durable"
)

// storedEvents is how many events a server has that is full.
const storedEvents = 1_000_000

// startFull starts a server and calls its webhooks until it has stored the
// events, after what seed makes first. It returns the load that did so.
func (b *bench) startFull(
	ctx context.Context, webhooks int, seed func(context.Context, *server) error,
) (load, *server, []string, error) {
	size, err := b.storableSize()
	if err != nil {
		return load{}, nil, nil, err
	}
	s, tokens, err := b.startWithWebhooks(ctx, "full", webhooks, groupCommit)
	if err != nil {
		return load{}, nil, nil, err
	}
	calls, err := b.newLoad(s.client, "full", tokens)
	if err != nil {
		return load{}, nil, nil, err
	}
	if seed != nil {
		if err := seed(ctx, s); err != nil {
			return load{}, nil, nil, err
		}
	}
	calls = calls.over(256)
	calls.size = size
	return calls, s, tokens, b.callUntilFull(ctx, calls)
}

// restartFull returns a full server that was restarted, so that nothing of its
// calls is in its memory; the files are in the page cache.
func (b *bench) restartFull(
	ctx context.Context, webhooks int, seed func(context.Context, *server) error,
) (*server, []string, error) {
	_, s, tokens, err := b.startFull(ctx, webhooks, seed)
	if err != nil {
		return nil, nil, err
	}
	if s, err = b.restart(ctx, s, "full"); err != nil {
		return nil, nil, err
	}
	return s, tokens, s.awaitAdmin(ctx)
}

// storableSize returns the size of the bodies that the disk has space for.
func (b *bench) storableSize() (int, error) {
	const small = 200
	free, err := durable.FreeSpace(b.part)
	if err != nil {
		return 0, err
	}
	// An event takes its body in base64, its headers, and a line of the log.
	fits := func(size int) bool { return free.Bytes > storedEvents*int64(size*4/3+1000)*3/2 }
	switch {
	case fits(bodySize):
		return bodySize, nil
	case fits(small):
		progressf("the disk is small: storing events with bodies of %d bytes", small)
		b.table.add("size of the bodies stored before a start", "200 B, for lack of disk space")
		return small, nil
	}
	return 0, errors.New("too little free disk space for the events; choose another volume with -dir")
}

// callUntilFull makes calls until enough events are stored.
func (b *bench) callUntilFull(ctx context.Context, calls load) error {
	const mostBursts = 500
	stored, length := 0, 2*time.Second
	for range mostBursts {
		o, err := b.run(ctx, calls, length)
		if err != nil {
			return err
		}
		if stored += o.Requests; stored >= storedEvents {
			return nil
		}
		progressf("%s of %s events stored", grouped(float64(stored)), grouped(storedEvents))
		missing := float64(storedEvents-stored) / o.rate()
		length = time.Duration(min(10, missing)+1) * time.Second
	}
	return errors.New("the server is too slow to store the events")
}

// seedPortal fills the lists beside those of webhooks and calls with more than a page each: good
// and failing pipelines with some runs, users, roles and clients.
func seedPortal(ctx context.Context, s *server) error {
	const items = 30
	for i := range items {
		name := fmt.Sprintf("item-%d", i)
		for command, args := range map[string]url.Values{
			"iam.user.put":   {"username": {name}, "roles": {"viewer"}},
			"iam.role.put":   {"role": {name}, "permissions": {"webhook.get"}},
			"iam.client.put": {"clientId": {name}, "roles": {"viewer"}},
		} {
			if err := s.command(ctx, command, args, nil); err != nil {
				return err
			}
		}
		if err := s.storePipeline(ctx, name, threeSteps("webhook.item."+name)); err != nil {
			return err
		}
	}
	for name, source := range map[string]string{
		"works": threeSteps("webhook.seldom.*"),
		"fails": "pipeline:\n  - event.listen: {eventKey: webhook.seldom.call}\n  - fail: {message: no}\n",
	} {
		if err := s.storePipeline(ctx, name, source); err != nil {
			return err
		}
	}
	seldom, err := s.createWebhook(ctx, "webhook.seldom.call")
	if err != nil {
		return err
	}
	for range items {
		if err := s.command(ctx, "webhook.receive?token="+seldom, nil, nil); err != nil {
			return err
		}
		_ = s.command(ctx, "webhook.receive?token=none", nil, nil) // it is refused, and listed
	}
	return nil
}
