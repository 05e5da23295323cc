package serve

import (
	"encoding/json"
	"net/http"

	"sluice/api"
	"sluice/portal"
)

// openPortal makes the portal. It calls webhooks through the API, as others do.
func (s *Server) openPortal(outside portal.Provider) error {
	document, err := json.Marshal(api.OpenAPI(s.rooms.commands, Version, s.baseURL, s.api.OpenID))
	if err != nil {
		return err
	}
	var reference map[string]any
	if err := json.Unmarshal(document, &reference); err != nil {
		return err
	}
	opts := portal.Options{
		Commands:  s.rooms.commands,
		Sessions:  s.engine.PortalSessions(),
		Provider:  outside,
		Identify:  s.rooms.directory.Identify,
		Note:      s.rooms.directory.Note,
		Receive:   s.api,
		Tail:      s.engine.Journal(),
		Stopping:  s.stopping,
		Reference: reference,
		Version:   Version,
		Namespace: s.cfg.Namespace,
		BaseURL:   s.baseURL,
		Log:       s.opts.Log,
	}
	if outside == nil {
		opts.Login = s.rooms.directory.Login
	}
	s.portal = portal.New(opts)
	return nil
}

// servePortal lets the API leave to the portal what is none of its own.
func (s *Server) servePortal(w http.ResponseWriter, r *http.Request) error {
	return s.portal.Serve(w, r)
}
