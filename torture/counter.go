package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
)

// A counter counts the runs of pipelines, out of reach of the server's faults: each run calls it
// with the correlation id of its event, and learns its own number.
type counter struct {
	*httptest.Server

	mu   sync.Mutex
	runs map[string]int
}

func newCounter() *counter {
	c := &counter{runs: make(map[string]int)}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		id := r.FormValue("id")
		c.runs[id]++
		w.Header().Set("Run", strconv.Itoa(c.runs[id]))
	}))
	return c
}

// of returns how many runs there were for an event.
func (c *counter) of(correlationID string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[correlationID]
}
