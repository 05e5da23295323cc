package serve

import (
	"context"
	"fmt"

	"sluice/telemetry"
)

// startTelemetry starts to send spans, if the environment says where to.
func (s *Server) startTelemetry(ctx context.Context) (err error) {
	if !telemetry.Wanted() {
		return nil
	}
	if s.telemetry, err = telemetry.Start(ctx, Version, s.Log); err != nil {
		return fmt.Errorf("OpenTelemetry: %w", err)
	}
	s.Log, s.spans.Tracer = telemetry.Log(s.Log), s.telemetry
	return nil
}
