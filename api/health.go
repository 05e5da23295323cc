package api

import (
	"net/http"
	"net/netip"

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

// serveMetrics serves the metrics: to anyone on this machine, otherwise to
// users with the permission. What a proxy on this machine passes on is not from
// this machine.
func (a *API) serveMetrics(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet {
		return notAllowed("GET")
	}
	if !isLocal(r) {
		user, err := a.Authenticate(w, r)
		if err != nil {
			return err
		}
		if !user.May(sluice.MaySeeMetrics) {
			return sluice.NotPermitted(sluice.MaySeeMetrics)
		}
	}
	a.Metrics.ServeHTTP(w, r)
	return nil
}

func isLocal(r *http.Request) bool {
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "Via"} {
		if r.Header.Get(header) != "" {
			return false
		}
	}
	address, err := netip.ParseAddr(r.RemoteAddr)
	return err == nil && address.IsLoopback()
}
