package spelling

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"log", "set", "webhook.get", "webhook.put", "eventKey"}
	for name, want := range map[string]string{
		"log": "log", "lgo": "log", "lg": "log", "logg": "log", "LOG": "log", "sett": "set", "webhook.gte": "webhook.get", "wehbook.put": "webhook.put",
		"eventKee": "eventKey", "evnetkye": "eventKey", "gol": "", "x": "", "": "", "something.else": "",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}
