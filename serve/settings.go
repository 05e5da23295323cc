package serve

import "context"

func (s *Server) settings(context.Context, struct{}) (map[string]string, error) {
	return s.cfg.InEffect(), nil
}
