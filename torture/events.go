package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	engine "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	eventsPart  = "events"
	removePart  = "remove"
	eventStream = "EVENTS"
)

// engineDir is where a server keeps its engine's store in a data folder.
func engineDir(data string) string { return filepath.Join(data, "engine") }

// printEvents is the process that reads the store of a stopped server: it
// prints the id of the call behind each event, and 0 for one that is not as it
// was sent. It is a process of its own so that no file stays open.
func printEvents(ctx context.Context, data string, _ []string) error {
	endWithParent()
	return withStream(ctx, data, printStream)
}

// removeEvent is the process that removes the latest event with a text from the store of a stopped server.
func removeEvent(ctx context.Context, data string, text []string) error {
	return withStream(ctx, data, func(ctx context.Context, stream jetstream.Stream) error {
		for sequence := stream.CachedInfo().State.LastSeq; sequence > 0; sequence-- {
			msg, err := stream.GetMsg(ctx, sequence)
			if err == nil && bytes.Contains(msg.Data, []byte(text[0])) {
				return stream.DeleteMsg(ctx, sequence)
			}
		}
		return fmt.Errorf("no event has the text %s", text[0])
	})
}

// withStream does something with the events of a stopped server.
func withStream(ctx context.Context, data string, do func(context.Context, jetstream.Stream) error) error {
	s, err := engine.NewServer(&engine.Options{
		DontListen:         true,
		NoSigs:             true,
		JetStream:          true,
		StoreDir:           engineDir(data),
		MaxPayload:         8 << 20,
		JetStreamMaxMemory: 1 << 30,
		JetStreamMaxStore:  1 << 50,
	})
	if err != nil {
		return err
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(time.Minute) {
		return errors.New("the engine did not start")
	}
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	stream, err := js.Stream(ctx, eventStream)
	if err != nil {
		return err
	}
	return do(ctx, stream)
}

func printStream(ctx context.Context, stream jetstream.Stream) error {
	if stream.CachedInfo().State.Msgs == 0 {
		return nil
	}
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	out := bufio.NewWriter(os.Stdout)
	for pending := uint64(1); pending > 0; {
		msg, err := messages.Next(jetstream.NextMaxWait(10 * time.Second))
		if err != nil {
			return err
		}
		meta, err := msg.Metadata()
		if err != nil {
			return err
		}
		fmt.Fprintln(out, callOf(msg.Data()))
		pending = meta.NumPending
	}
	return out.Flush()
}

// callOf returns the id of the call behind a stored event, 0 if it is damaged.
func callOf(event []byte) uint64 {
	var stored struct {
		Payload struct {
			Origin []byte `json:"origin"` // decodes base64
		} `json:"payload"`
	}
	if err := json.Unmarshal(event, &stored); err != nil {
		return 0
	}
	if id, ok := idOf(stored.Payload.Origin); ok {
		return id
	}
	id, ok := idOfItem(stored.Payload.Origin)
	if !ok {
		return 0
	}
	return id
}

// readEvents counts how often each call is stored in a data folder that no
// server uses.
func readEvents(ctx context.Context, data string) (map[uint64]int, error) {
	cmd, err := partCommand(eventsPart, data)
	if err != nil {
		return nil, err
	}
	log := new(tail)
	cmd.Stderr = log
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	stored := make(map[uint64]int)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var id uint64
		if _, err := fmt.Sscan(lines.Text(), &id); err == nil {
			stored[id]++
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("the events can't be read: %w: %s", err, log.text)
	}
	delete(stored, 0)
	return stored, nil
}
