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
	if id := callOf(stored[:len(stored)/2]); id != 0 {
		t.Errorf("half an event passes for call %d", id)
	}
}
