package serve

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sluice"
)

// textLog writes records of nothing but text by hand, as the handler it is put
// before would: there is one for every call, at half the cost. The others
// go on to that handler.
type textLog struct {
	slog.Handler

	lines *logLines
}

var lineSpace = sync.Pool{New: func() any { return new([]byte) }}

// Handle implements slog.Handler.
func (h textLog) Handle(ctx context.Context, r slog.Record) error {
	space := lineSpace.Get().(*[]byte)
	defer lineSpace.Put(space)
	line, ok := appendText((*space)[:0], &r)
	*space = line
	if !ok {
		return h.Handler.Handle(ctx, r)
	}
	_, err := h.lines.Write(line)
	return err
}

// appendText appends a record as a line of JSON, if it is text.
func appendText(b []byte, r *slog.Record) (line []byte, ok bool) {
	b = r.Time.AppendFormat(append(b, `{"time":"`...), time.RFC3339Nano)
	b = append(append(b, `","level":"`...), r.Level.String()...)
	b = sluice.AppendJSONString(append(b, `","msg":`...), r.Message)
	ok = !r.Time.IsZero()
	r.Attrs(func(a slog.Attr) bool {
		if ok = ok && a.Value.Kind() == slog.KindString; ok {
			b = sluice.AppendJSONString(append(b, ','), a.Key)
			b = sluice.AppendJSONString(append(b, ':'), a.Value.String())
		}
		return ok
	})
	return append(b, "}\n"...), ok
}
