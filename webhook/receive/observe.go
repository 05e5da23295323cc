package receive

import (
	"context"
	"log/slog"
	"time"

	"sluice"
)

// observe reports a call, as far as it came.
func (rc *Receiver) observe(a *arrived, c sluice.Call) {
	c.Time, c.Duration = a.at.UTC(), sluice.Milliseconds(time.Since(a.at))
	c.EventKey, c.DeliveryID = a.place.found.hook.EventKey, a.place.checked.id
	c.Type, c.Size = a.place.checked.kind, a.length()
	c.RemoteAddr = a.request.RemoteAddr
	rc.Spans.Add(a.request.Context(), sluice.SpanFacts{
		EventKey: c.EventKey, TraceID: c.TraceID, StatusCode: c.StatusCode,
	})
	rc.observeItems(&a.place.checked, &c)
	rc.Observe(c)
}

// log writes the line by which people find a call again. It makes the record by hand,
// since a logger would look up the line of the source each time.
func (rc *Receiver) log(ctx context.Context, e *sluice.Event) {
	if !rc.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	line := slog.NewRecord(e.ReceivedAt, slog.LevelInfo, "Webhook ["+e.TraceID+"]: OK", 0)
	line.AddAttrs(slog.String("traceId", e.TraceID), slog.String("eventKey", e.EventKey))
	_ = rc.Log.Handler().Handle(ctx, line) // as a logger does: nothing more can be done
}
