package serve_test

import (
	"net/http"
	"testing"
)

// TestPlainCallsTakeTheLane: a plain call is answered with the length of a long
// answer, which net/http would send in pieces; and so it does once something
// else has come on the connection.
func TestPlainCallsTakeTheLane(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	hook := s.create("webhook.long")
	s.store("long", listening("webhook.long", "set: {value: '#{repeat(\"x\", 5000)}'}"))
	plain := request("POST "+receivePath+" HTTP/1.1", "Host: sluice", "Token: "+hook.UUID, "Content-Length: 0")
	other := request("POST "+receivePath+" HTTP/1.1", "Host: sluice", "Token: "+hook.UUID, "Content-Length: 0", "Pragma: other")
	w := s.dial(t)
	for _, call := range []struct {
		text string
		lane bool
	}{{plain, true}, {plain, true}, {other, false}, {plain, false}} {
		w.say(call.text)
		got := w.hear(http.MethodPost).wantStatus(t, http.StatusOK)
		if value := got.result(t).Value; value == nil || len(value.(string)) != 5000 {
			t.Errorf("answered %.100s", got.body)
		}
		if lane := got.header.Get("Content-Length") != ""; lane != call.lane {
			t.Errorf("the answer to %q has a length: %t, want %t", call.text, lane, call.lane)
		}
	}
}
