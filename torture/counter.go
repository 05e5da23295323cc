package main

import (
	"net/http"
	"net/http/httptest"
	"sync"
)

// A counter counts the runs of pipelines, beyond the reach of what happens to
// the server: each calls it with the correlation id of its event.
type counter struct {
	*httptest.Server

	mu   sync.Mutex
	runs map[string]int
}

func newCounter() *counter {
	c := &counter{runs: make(map[string]int)}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.runs[r.FormValue("id")]++
	}))
	return c
}

// of tells how often there was a run for an event.
func (c *counter) of(correlationID string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[correlationID]
}
