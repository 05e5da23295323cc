package serve

import (
	"bufio"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/lmittmann/tint"
)

// flushEvery bounds how long a log line stays in memory.
const flushEvery = 100 * time.Millisecond

// NewLog returns a logger to a file or terminal, and a function that writes
// what it still holds. A line per call must not be a system call per call, so
// lines are gathered for a moment. They are JSON, or coloured text on a
// terminal.
func NewLog(out *os.File) (log *slog.Logger, flush func()) {
	lines := &logLines{buffer: bufio.NewWriterSize(out, 64<<10)}
	if info, err := out.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return slog.New(tint.NewTextHandler(lines, &tint.Options{
			NoColor:     os.Getenv("NO_COLOR") != "",
			TimeFormat:  time.TimeOnly,
			ReplaceAttr: onOneLine,
		})), lines.flush
	}
	return slog.New(slog.NewJSONHandler(lines, nil)), lines.flush
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
