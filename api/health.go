package api

import (
	"net/http"

	"sluice"
	"sluice/command"
)

// alive says that the process runs.
func alive() (map[string]any, error) { return object{"status": "ok"}, nil }

// health answers whether all is well.
func health(check func() (detail map[string]any, err error)) command.Endpoint {
	return by(func(w http.ResponseWriter, _ *http.Request) error {
		detail, err := check()
		if err == nil {
			w.Header().Set("Content-Type", "application/json")
			writeJSON(w, detail)
		}
		return err
	}, "GET", "HEAD")
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
