package api

import (
	"net/http"

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
