package serve

import (
	"context"
	"fmt"

	"sluice"
	"sluice/telemetry"
)

// startTelemetry starts to send spans, if the environment says where to.
func (s *Server) startTelemetry(ctx context.Context) (err error) {
	if !telemetry.Wanted() {
		return nil
	}
	if s.telemetry, err = telemetry.Start(ctx, Version, s.opts.Log); err != nil {
		return fmt.Errorf("OpenTelemetry: %w", err)
	}
	s.opts.Log = telemetry.Log(s.opts.Log)
	return nil
}

// spans returns the reporter of spans, which does nothing without telemetry.
func (s *Server) spans() sluice.Spans {
	if s.telemetry == nil {
		return sluice.Spans{}
	}
	return sluice.Spans{Tracer: s.telemetry}
}
