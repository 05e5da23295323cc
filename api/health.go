package api

import (
	"net/http"

	"sluice"
)

// healthz answers that the process runs.
func (a *API) healthz(w http.ResponseWriter, _ *http.Request) error {
	return health(w, object{"status": "ok"}, nil)
}

// readyz answers whether calls are accepted.
func (a *API) readyz(w http.ResponseWriter, _ *http.Request) error {
	detail, err := a.Readiness()
	return health(w, detail, err)
}

func health(w http.ResponseWriter, detail object, err error) error {
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	writeJSON(w, detail)
	return nil
}

// serveMetrics serves the metrics to users with the permission. Calls from this machine
// need it too: a local proxy passes on what anybody sends.
func (a *API) serveMetrics(w http.ResponseWriter, r *http.Request) error {
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
