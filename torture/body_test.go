package main

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"sluice"
)

func TestBodyTellsItsCall(t *testing.T) {
	for id := uint64(1); id < 200; id++ {
		body := appendBody(nil, id)
		if len(body) < shortestBody || len(body) > longestBody+8 {
			t.Fatalf("body of %d bytes", len(body))
		}
		if got, ok := idOf(body); got != id || !ok {
			t.Fatalf("call %d came back as %d, %v", id, got, ok)
		}
	}
}

func TestDamagedBodyIsNoticed(t *testing.T) {
	whole := appendBody(nil, 7)
	flipped := appendBody(nil, 7)
	flipped[500] ^= 1
	for name, body := range map[string][]byte{
		"empty":        nil,
		"cut short":    whole[:len(whole)-1],
		"prolonged":    append(appendBody(nil, 7), 0),
		"a bit flips":  flipped,
		"only its id":  whole[:8],
		"another's id": append(appendBody(nil, 8)[:8], whole[8:]...),
	} {
		if _, ok := idOf(body); ok {
			t.Errorf("%s: not noticed", name)
		}
	}
}

func TestCallBehindEvent(t *testing.T) {
	payload, err := json.Marshal(map[string]string{"origin": base64.StdEncoding.EncodeToString(appendBody(nil, 42))})
	if err != nil {
		t.Fatal(err)
	}
	event := sluice.Event{EventKey: "webhook.test", Payload: payload}
	stored := event.AppendJSON(nil)
	if id := callOf(stored); id != 42 {
		t.Errorf("call %d", id)
	}
	for _, split := range []bool{false, true} {
		k := kind{splits: split}
		for i, body := range bodiesOf(t, k.appendBody(nil, 42), split) {
			if id := callOf((&sluice.Event{Payload: body}).AppendJSON(nil)); id != k.eventIDs(42)[i] {
				t.Errorf("event %d of call 42: %x", i, id)
			}
		}
	}
	if id := callOf(stored[:len(stored)/2]); id != 0 {
		t.Errorf("half an event passes for call %d", id)
	}
}

// bodiesOf returns the payloads of the events of a call.
func bodiesOf(t *testing.T, body []byte, split bool) (payloads []json.RawMessage) {
	t.Helper()
	items := []json.RawMessage{body}
	if split {
		if err := json.Unmarshal(body, &items); err != nil || len(items) != itemsOfACall {
			t.Fatalf("%d items, %v", len(items), err)
		}
	}
	for _, one := range items {
		payload, err := json.Marshal(map[string][]byte{"origin": one})
		if err != nil {
			t.Fatal(err)
		}
		payloads = append(payloads, payload)
	}
	return payloads
}
