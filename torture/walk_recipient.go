package main

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// A recipient is a server that pipelines send to. It answers as it is told, and remembers what
// has arrived.
type recipient struct {
	*httptest.Server

	mu       sync.Mutex
	mood     mood
	arrivals map[string]*arrivals // by the mark of the body
}

// A mood is how a recipient answers.
type mood int

const (
	isWell mood = iota
	isDown      // 503
	isGone      // 404
	isSlow
	isSilent // the connection is closed
	moods
)

// arrivals are what a recipient has seen of one call.
type arrivals struct {
	answered []arrival       // with 200
	ids      map[string]bool // by path
}

// An arrival is one request that was answered well.
type arrival struct {
	path string
	at   time.Time
}

// first returns when something came to a path for the first time; zero if it never did.
func (a arrivals) first(path string) time.Time {
	for _, one := range a.answered {
		if one.path == path {
			return one.at
		}
	}
	return time.Time{}
}

// times returns how often something came to a path.
func (a arrivals) times(path string) (n int) {
	for _, one := range a.answered {
		if one.path == path {
			n++
		}
	}
	return n
}

func newRecipient() *recipient {
	r := &recipient{arrivals: make(map[string]*arrivals)}
	r.Server = httptest.NewServer(r)
	return r
}

// set changes how it answers.
func (r *recipient) set(m mood) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mood = m
}

// ServeHTTP implements http.Handler.
func (r *recipient) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	mood := r.mood
	r.mu.Unlock()
	status := http.StatusOK
	switch mood {
	case isDown:
		status = http.StatusServiceUnavailable
	case isGone:
		status = http.StatusNotFound
	case isSlow:
		select {
		case <-time.After(300 * time.Millisecond):
		case <-request.Context().Done():
			return
		}
	case isSilent:
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
		status = 0
	}
	mark := markIn(string(body))
	r.mu.Lock()
	at := r.arrivals[mark]
	if at == nil {
		at = &arrivals{ids: make(map[string]bool)}
		r.arrivals[mark] = at
	}
	at.ids[request.URL.Path+" "+request.Header.Get("Webhook-Id")] = true
	if status == http.StatusOK {
		at.answered = append(at.answered, arrival{request.URL.Path, time.Now()})
	}
	r.mu.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, seen(mark))
	}
}

// seen is what a recipient answers to a call.
func seen(mark string) string { return "seen " + strings.TrimPrefix(mark, markBegins) }

// of returns what has arrived of a call.
func (r *recipient) of(mark string) arrivals {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.arrivals[mark]; at != nil {
		return arrivals{slices.Clone(at.answered), maps.Clone(at.ids)}
	}
	return arrivals{}
}

const (
	markBegins = "mark-"
	markLength = 16 // of what follows, in hex
)

// markIn returns the mark of a body, which no other call has; "" if there is none.
func markIn(body string) string {
	_, rest, found := strings.Cut(body, markBegins)
	if !found || len(rest) < markLength {
		return ""
	}
	return markBegins + rest[:markLength]
}
