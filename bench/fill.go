package main

import (
	"context"
	"errors"
	"time"
)

// fill starts a server and calls its webhooks until it has accepted the wanted
// number of events.
func (b *bench) fill(ctx context.Context, webhooks int) (load, *server, error) {
	calls, s, err := b.prepareFill(ctx, webhooks)
	if err != nil {
		return load{}, nil, err
	}
	return calls, s, b.callUntilFull(ctx, calls)
}

// prepareFill starts a server with webhooks, and gives the load that fills it.
// Bodies are smaller where the disk is too small for full ones.
func (b *bench) prepareFill(ctx context.Context, webhooks int) (load, *server, error) {
	size, err := b.fillSize()
	if err != nil {
		return load{}, nil, err
	}
	s, err := b.startSluice(ctx, "full", groupCommit)
	if err != nil {
		return load{}, nil, err
	}
	tokens, err := createWebhooks(ctx, s, webhooks)
	if err != nil {
		return load{}, nil, err
	}
	file, err := b.tokenFile("full", tokens)
	if err != nil {
		return load{}, nil, err
	}
	return load{address: s.address, tokens: file, connections: 256, size: size}, s, nil
}

// fillSize gives the size of the bodies that there is room for.
func (b *bench) fillSize() (int, error) {
	const small = 200
	free, err := freeDisk(b.part)
	if err != nil {
		return 0, err
	}
	// An event takes its body in base64, its headers, and a line of the log.
	room := func(size int) bool { return free > storedEvents*int64(size*4/3+1000)*3/2 }
	switch {
	case room(bodySize):
		return bodySize, nil
	case room(small):
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
