package api

import "net/http"

// healthz tells that the process runs.
func (a *API) healthz(w http.ResponseWriter, r *http.Request) error {
	return health(w, r, map[string]any{"status": "ok"})
}

// readyz tells whether calls are welcome.
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
