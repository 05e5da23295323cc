package serve

import (
	"encoding/json"
	"os"
	"sync"

	"sluice"
)

// auditCopy returns what copies the entries of the audit log as JSON lines, nil if
// nobody wants them.
func (s *Server) auditCopy() func(sluice.AuditEntry) {
	if !s.cfg.AuditLog {
		return nil
	}
	out := s.opts.AuditLog
	if out == nil {
		out = os.Stderr
	}
	var mu sync.Mutex
	enc := json.NewEncoder(out)
	return func(e sluice.AuditEntry) {
		mu.Lock()
		defer mu.Unlock()
		if err := enc.Encode(e); err != nil {
			s.opts.Log.Error("An entry of the audit log could not be copied.", "error", err)
		}
	}
}
