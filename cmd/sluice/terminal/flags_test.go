package terminal

import "testing"

func TestParametersBecomeFlags(t *testing.T) {
	for name, want := range map[string]string{"eventKey": "event-key", "limit": "limit", "maxPayloadLength": "max-payload-length"} {
		if got := FlagOf(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
