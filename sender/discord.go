package sender

import "net/http"

// greetDiscord answers PING: that of webhook events with 204, that of interactions with PONG.
func greetDiscord(g greeting) *Answer {
	kind := string(lookup(g.Body, []string{"type"}))
	switch {
	case g.Method != http.MethodPost:
	case kind == "0":
		return &Answer{Status: http.StatusNoContent, Header: jsonHeader()}
	case kind == "1" && lookup(g.Body, []string{"event"}) == nil:
		return &Answer{Status: http.StatusOK, Header: jsonHeader(), Body: []byte(`{"type":1}`)}
	}
	return nil
}
