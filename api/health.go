package api

import (
	"net/http"
	"time"

	"sluice"
)

// healthz answers that the process runs.
func (a *API) healthz(w http.ResponseWriter, r *http.Request) error {
	return health(w, r, map[string]any{"status": "ok"})
}

// readyz answers whether calls are accepted.
func (a *API) readyz(w http.ResponseWriter, r *http.Request) error {
	detail, err := a.Readiness()
	if err != nil {
		return err
	}
	return health(w, r, detail)
}

func health(w http.ResponseWriter, r *http.Request, detail map[string]any) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return notAllowed("GET, HEAD")
	}
	w.Header().Set("Content-Type", "application/json")
	writeJSON(w, detail)
	return nil
}

// serveMetrics serves the metrics to users with the permission. Calls from this machine
// need it too: a local proxy passes on what anybody sends.
func (a *API) serveMetrics(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet {
		return notAllowed("GET")
	}
	user, leave, err := a.enter(w, r)
	if err != nil {
		return err
	}
	defer leave()
	if !user.May(sluice.MaySeeMetrics) {
		return sluice.NotPermitted(sluice.MaySeeMetrics)
	}
	a.Metrics.ServeHTTP(w, r)
	return nil
}

// draining reports whether the server stops.
func (a *API) draining() bool {
	select {
	case <-a.Stopping:
		return true
	default:
		return false
	}
}

// Idle reports for how long nobody has called a server that stops.
func (a *API) Idle() time.Duration {
	if a.begun.Load() > 0 || a.late.Load() == nil {
		a.late.Store(new(time.Now()))
	}
	return time.Since(*a.late.Load())
}

// Draining is what a server that stops says of its readiness, and to callers whose runs
// take too long for it: 503 with Retry-After, and the connection is closed.
func Draining() error {
	return sluice.Passing(sluice.CodeDraining, "The server is stopping.").Closing()
}

// Interrupt ends the commands that are running. Those that can end early tell their
// callers that the server stops.
func (a *API) Interrupt() { a.interrupt(Draining()) }
