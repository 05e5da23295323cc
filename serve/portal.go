package serve

import (
	"encoding/json"
	"net/http"

	"sluice/api"
	"sluice/limit"
	"sluice/portal"
)

// newPortal makes the portal. It calls webhooks through the API, as others do.
func (s *Server) newPortal(provider portal.Provider, users *limit.Shares[string]) (*portal.Portal, error) {
	document, err := json.Marshal(api.OpenAPI(s.commands, Version, s.baseURL, s.openID()))
	if err != nil {
		return nil, err
	}
	var reference map[string]any
	if err := json.Unmarshal(document, &reference); err != nil {
		return nil, err
	}
	opts := portal.Options{
		Commands:  s.commands,
		Sessions:  s.engine.PortalSessions(),
		Provider:  provider,
		Identify:  s.directory.Identify,
		Note:      s.directory.Note,
		Receive:   func(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) },
		Users:     users,
		Tail:      s.engine.Journal(),
		Stopping:  s.stopping,
		Reference: reference,
		Version:   Version,
		Namespace: s.cfg.Namespace,
		BaseURL:   s.baseURL,
		Log:       s.opts.Log,
	}
	if provider == nil {
		opts.Login, opts.Programs = s.directory.Login, s.issuer
	}
	return portal.New(opts), nil
}
