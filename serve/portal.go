package serve

import (
	"encoding/json"
	"net/http"
	"sync"

	"sluice/expression"
	"sluice/limit"
	"sluice/portal"
)

// newPortal makes the portal. It calls webhooks through the API, as others do.
func (s *Server) newPortal(provider portal.Provider, users *limit.Shares[string]) *portal.Portal {
	opts := portal.Options{
		Commands:  s.commands,
		Sessions:  s.engine.PortalSessions(),
		Provider:  provider,
		Issuer:    s.cfg.AuthIssuer,
		Identify:  s.directory.Identify,
		Note:      s.directory.Note,
		Receive:   func(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) },
		Users:     users,
		Tail:      s.engine.Journal(),
		Stopping:  s.stopping,
		Reference: sync.OnceValue(s.reference),
		Functions: expression.Functions(),
		Version:   Version,
		Namespace: s.cfg.Namespace,
		BaseURL:   s.baseURL,
		Log:       s.opts.Log,
	}
	if provider == nil {
		opts.Login, opts.Programs = s.directory.Login, s.issuer
	}
	return portal.New(opts)
}

// reference returns the description of the API as a reader of its JSON gets it.
func (s *Server) reference() (document map[string]any) {
	text, err := s.api.OpenAPI()
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if err != nil {
		s.opts.Log.Error("The API could not be described.", "error", err)
	}
	return document
}
