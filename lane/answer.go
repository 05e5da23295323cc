package lane

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// answer buffers the answer of a handler. It is an http.ResponseWriter that ignores
// informational answers.
type answer struct {
	header http.Header
	status int
	body   []byte
	text   bytes.Buffer // the head, or all of a short answer

	to   *conn
	sent bool
	err  error // of sending it
}

// maxKept is the size up to which buffers are reused.
const maxKept = largeBuffer

var answers = sync.Pool{New: func() any { return new(answer) }}

func newAnswer(to *conn) *answer {
	w := answers.Get().(*answer)
	w.to = to
	if w.header == nil {
		w.header = make(http.Header, 8)
	}
	return w
}

// release keeps the buffers for another call, unless they are large.
func (w *answer) release() {
	if cap(w.body) > maxKept || w.text.Cap() > maxKept {
		return
	}
	clear(w.header)
	w.body = w.body[:0]
	w.text.Reset()
	w.status, w.to, w.sent, w.err = 0, nil, false, nil
	answers.Put(w)
}

// Header implements http.ResponseWriter.
func (w *answer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *answer) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *answer) Write(p []byte) (int, error) {
	if w.sent {
		return 0, errSent
	}
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, p...)
	return len(p), nil
}

var errSent = errors.New("the answer is on its way already")

// FlushError is for http.ResponseController. It sends the whole answer; nothing can be added
// afterwards. With it a handler can keep memory for a large answer until the client has read
// it.
func (w *answer) FlushError() error {
	if !w.sent {
		w.sent = true
		w.err = w.to.send(w)
	}
	return w.err
}

// SetReadDeadline is for http.ResponseController. The body has already arrived.
func (w *answer) SetReadDeadline(time.Time) error { return nil }

// framing are the headers that handlers must not set.
var framing = map[string]bool{"Content-Length": true, "Transfer-Encoding": true, "Trailer": true, "Date": true}

// finish returns the bytes of the answer. A large body is separate, to save a copy.
func (w *answer) finish(now time.Time) (text, body []byte) {
	w.WriteHeader(http.StatusOK)
	hasBody := w.status != http.StatusNoContent && w.status != http.StatusNotModified
	if _, set := w.header["Content-Type"]; !set && hasBody && len(w.body) > 0 {
		w.header.Set("Content-Type", http.DetectContentType(w.body))
	}
	line := append(w.text.AvailableBuffer(), version+" "...)
	line = strconv.AppendInt(line, int64(w.status), 10)
	line = append(line, ' ')
	line = append(line, http.StatusText(w.status)...)
	line = append(line, endOfLine+"Date: "...)
	line = now.UTC().AppendFormat(line, http.TimeFormat)
	line = append(line, endOfLine...)
	if hasBody {
		line = append(line, "Content-Length: "...)
		line = strconv.AppendInt(line, int64(len(w.body)), 10)
		line = append(line, endOfLine...)
	}
	w.text.Write(line)
	_ = w.header.WriteSubset(&w.text, framing) // a buffer takes everything
	w.text.WriteString(endOfLine)
	if hasBody && len(w.body) > maxKept {
		return w.text.Bytes(), w.body
	}
	if hasBody {
		w.text.Write(w.body)
	}
	return w.text.Bytes(), nil
}
