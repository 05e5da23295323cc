package serve

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/lmittmann/tint"

	"sluice"
)

// flushEvery bounds how long a log line stays in memory.
const flushEvery = 100 * time.Millisecond

// NewLog returns a logger to a file or terminal, and a function that writes
// what it still holds. A line per call must not be a system call per call:
// lines are gathered for a moment. Level and format are settings of the same
// names.
func NewLog(out *os.File, level, format string) (log *slog.Logger, flush func()) {
	lines := &logLines{buffer: bufio.NewWriterSize(out, 64<<10)}
	var least slog.Level
	_ = least.UnmarshalText([]byte(level)) // the settings were checked
	if format == "json" || format == "auto" && !isTerminal(out) {
		return slog.New(slog.NewJSONHandler(lines, &slog.HandlerOptions{Level: least})), lines.flush
	}
	return slog.New(tint.NewTextHandler(lines, &tint.Options{
		Level:       least,
		NoColor:     os.Getenv("NO_COLOR") != "" || !isTerminal(out),
		TimeFormat:  timeFormat(out),
		ReplaceAttr: onOneLine,
	})), lines.flush
}

func isTerminal(out *os.File) bool {
	info, err := out.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// timeFormat leaves the date out for people who watch.
func timeFormat(out *os.File) string {
	if isTerminal(out) {
		return time.TimeOnly
	}
	return time.RFC3339
}

// onOneLine keeps a message from forging lines, or from commanding the terminal.
// Other values are quoted where they need it.
func onOneLine(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.MessageKey && strings.ContainsFunc(a.Value.String(), unicode.IsControl) {
		a.Value = slog.StringValue(strconv.Quote(a.Value.String()))
	}
	return a
}

type logLines struct {
	mu      sync.Mutex
	buffer  *bufio.Writer
	pending bool // a flush is under way
}

var _ io.Writer = (*logLines)(nil)

// Write implements io.Writer.
func (l *logLines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.pending {
		l.pending = true
		time.AfterFunc(flushEvery, l.flush)
	}
	return l.buffer.Write(line)
}

func (l *logLines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = false
	_ = l.buffer.Flush() // nothing more can be done
}

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
