package client

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sluice"
)

func TestServerSentEvents(t *testing.T) {
	for stream, want := range map[string]string{
		"": "",
		": comment\n\nid: 1\nevent: call\ndata: {}\n\n":     "1 call {}",
		"id:1\r\nevent:call\r\ndata:{}\r\n\r\n":             "1 call {}",
		"data: [1,\ndata: 2]\nid: 7\n\n":                    "7  [1,\n2]",
		"event: call\n\n":                                   "", // without data it is none
		"event: call\ndata: {}\n":                           "", // broken off
		"id: 1\nevent: a\ndata: 1\n\nevent: b\ndata: 2\n\n": "1 a 1| b 2",
		"retry: 5\nunknown: x\nnocolon\ndata: 3\n\n":        "  3",
	} {
		var got []string
		err := readEvents(strings.NewReader(stream), func(entry sluice.TailEntry) error {
			got = append(got, entry.Position+" "+entry.Type+" "+string(entry.Data))
			return nil
		})
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: got %q, %v; want %q", stream, got, err, want)
		}
	}
}

func FuzzServerSentEvents(f *testing.F) {
	f.Add("id: 1\nevent: call\ndata: {}\n\n")
	f.Add(": c\r\n\r\ndata:\ndata: x\n\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		_ = readEvents(strings.NewReader(stream), func(entry sluice.TailEntry) error {
			if strings.ContainsAny(entry.Position+entry.Type, "\r\n") && !strings.Contains(stream, "\r") {
				t.Errorf("a line break in %+v", entry)
			}
			return nil
		})
	})
}

// TestATailGoesOn: behind what it told last, with a new token where the old one
// has ended.
func TestATailGoesOn(t *testing.T) {
	var resumed []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resumed = append(resumed, r.Header.Get("Last-Event-ID"))
		switch len(resumed) {
		case 1:
			_, _ = io.WriteString(w, "id: 1\nevent: call\ndata: {\"n\":1}\n\nevent: dropped\ndata: {}\n\n")
		case 2:
			w.WriteHeader(http.StatusBadGateway)
		case 3:
			_, _ = io.WriteString(w, "event: error\ndata: {\"status\":401,\"code\":\"invalid_token\"}\n\n")
		case 4:
			_, _ = io.WriteString(w, "id: 2\nevent: run\ndata: {\"n\":2}\n\n")
		default:
			_, _ = io.WriteString(w, "event: error\ndata: {\"status\":403,\"code\":\"forbidden\",\"detail\":\"No.\"}\n\n")
		}
	}))
	defer server.Close()
	c, err := New(server.URL, Fixed("Bearer x"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
	var told []string
	err = c.Follow(t.Context(), nil, func(entry sluice.TailEntry) error {
		told = append(told, entry.Type)
		return nil
	})
	if err == nil || err.Error() != "No." {
		t.Errorf("it ended with %v", err)
	}
	if !slices.Equal(told, []string{"call", "dropped", "run"}) || !slices.Equal(resumed, []string{"", "1", "1", "1", "2"}) {
		t.Errorf("told %q, resumed behind %q", told, resumed)
	}
	enough := errors.New("enough")
	resumed = nil
	if err := c.Follow(t.Context(), nil, func(sluice.TailEntry) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("visit refused, and it ended with %v", err)
	}
}
