package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"
)

// TestTextLog: a line is what slog's own handler writes, whoever writes it.
func TestTextLog(t *testing.T) {
	at := time.Date(2025, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600))
	for name, record := range map[string]slog.Record{
		"a call":          record(at, slog.LevelInfo, "Webhook [abcdef:1]: OK", slog.String("traceId", "abcdef:1"), slog.String("eventKey", "webhook.a")),
		"no time":         record(time.Time{}, slog.LevelInfo, "a", slog.String("b", "c")),
		"odd text":        record(at, slog.LevelWarn, "a\"b\\c\nd\te<f>é", slog.String("k\"", "\x01")),
		"a number":        record(at, slog.LevelError, "a", slog.String("b", "c"), slog.Int("n", 1)),
		"an error":        record(at, slog.LevelError, "a", slog.Any("error", errors.New("b"))),
		"a group":         record(at, slog.LevelDebug, "a", slog.Group("g", slog.String("b", "c"))),
		"nothing":         record(at, slog.LevelInfo+1, ""),
		"no value at all": record(at, slog.LevelInfo, "a", slog.Attr{}),
	} {
		var want, got bytes.Buffer
		if err := slog.NewJSONHandler(&want, nil).Handle(context.Background(), record); err != nil {
			t.Fatal(err)
		}
		lines := &logLines{buffer: bufio.NewWriter(&got)}
		if err := (textLog{slog.NewJSONHandler(lines, nil), lines}).Handle(context.Background(), record); err != nil {
			t.Fatal(err)
		}
		lines.flush()
		if got.String() != want.String() {
			t.Errorf("%s: the line is %s, want %s", name, &got, &want)
		}
	}
}

func record(at time.Time, level slog.Level, message string, attrs ...slog.Attr) slog.Record {
	r := slog.NewRecord(at, level, message, 0)
	r.AddAttrs(attrs...)
	return r
}

func BenchmarkTextLog(b *testing.B) {
	lines := &logLines{buffer: bufio.NewWriter(nothing{})}
	plain := slog.NewJSONHandler(lines, nil)
	for name, handler := range map[string]slog.Handler{"here": textLog{plain, lines}, "slog": plain} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := record(time.Unix(1, 2), slog.LevelInfo, "Webhook [abcdef:1234567812345678]: OK", slog.String("traceId", "abcdef:1234567812345678"), slog.String("eventKey", "webhook.lead.created"))
				_ = handler.Handle(context.Background(), r)
			}
		})
	}
}

type nothing struct{}

func (nothing) Write(b []byte) (int, error) { return len(b), nil }
