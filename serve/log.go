package serve

import (
	"bufio"
	"bytes"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/lmittmann/tint"

	"sluice"
	"sluice/value"
	"sluice/wording"
)

// flushEvery is how long a log line stays in memory at most.
const flushEvery = 100 * time.Millisecond

// NewLog returns a logger to a file or terminal, and a function that flushes it. It buffers
// lines for a moment, so that not every call costs a system call. Level and format are
// settings of the same names.
func NewLog(out *os.File, level, format string) (log *slog.Logger, flush func()) {
	lines := &logLines{buffer: bufio.NewWriterSize(out, 64<<10)}
	var least slog.Level
	_ = least.UnmarshalText([]byte(level)) // the settings were checked
	info, err := out.Stat()
	isTerminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	if format == "json" || format == "auto" && !isTerminal {
		return slog.New(slog.NewJSONHandler(lines, &slog.HandlerOptions{Level: least})), lines.flush
	}
	timeFormat := time.RFC3339
	if isTerminal { // people who watch need no date
		timeFormat = time.TimeOnly
	}
	return slog.New(tint.NewTextHandler(lines, &tint.Options{
		Level:       least,
		NoColor:     os.Getenv("NO_COLOR") != "" || !isTerminal,
		TimeFormat:  timeFormat,
		ReplaceAttr: onOneLine,
	})), lines.flush
}

// onOneLine keeps a message from forging lines or controlling the terminal. The handler
// quotes other values itself.
func onOneLine(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.MessageKey && strings.ContainsFunc(a.Value.String(), unicode.IsControl) {
		a.Value = slog.StringValue(strconv.Quote(a.Value.String()))
	}
	return a
}

type logLines struct {
	mu      sync.Mutex
	buffer  *bufio.Writer
	pending bool // a flush is scheduled
}

// Write implements io.Writer.
func (l *logLines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.pending {
		l.pending = true
		time.AfterFunc(flushEvery, l.flush)
	}
	_, err := l.buffer.Write(wording.Escaped(line))
	return len(line), err
}

func (l *logLines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = false
	_ = l.buffer.Flush() // nothing more can be done
}

// auditCopy returns a function that writes entries of the audit log as JSON lines, nil if
// the settings ask for none.
func (s *Server) auditCopy() func(sluice.AuditEntry) {
	if !s.cfg.AuditLog {
		return nil
	}
	out := s.AuditLog
	if out == nil {
		out = os.Stderr
	}
	var mu sync.Mutex
	return func(e sluice.AuditEntry) {
		var line bytes.Buffer
		err := value.Encode(&line, e)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			_, err = out.Write(wording.Escaped(line.Bytes()))
		}
		if err != nil {
			s.Log.Error("An entry of the audit log could not be copied.", "error", err)
		}
	}
}
