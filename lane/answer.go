package lane

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// answer gathers the answer of a handler. It is an http.ResponseWriter for
// final answers only: informational ones are left out.
type answer struct {
	header http.Header
	status int
	body   []byte
	text   bytes.Buffer // as it is sent
}

// maxKept is how large an answer may be for its buffer to be reused.
const maxKept = largeBuffer

var answers = sync.Pool{New: func() any { return new(answer) }}

// begin resets the answer for the next call.
func (w *answer) begin() {
	if w.text.Cap() > maxKept {
		*w = answer{}
	}
	if w.header == nil {
		w.header = make(http.Header, 8)
	}
	clear(w.header)
	w.status = 0
	w.body = w.body[:0]
	w.text.Reset()
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
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, p...)
	return len(p), nil
}

// SetReadDeadline is for http.ResponseController. There is nothing to read that
// has not arrived.
func (w *answer) SetReadDeadline(time.Time) error { return nil }

// framing are the headers that are not the handler's to set.
var framing = map[string]bool{"Content-Length": true, "Transfer-Encoding": true, "Trailer": true, "Date": true}

// finish returns the bytes of the answer, as sent at that time.
func (w *answer) finish(now time.Time) []byte {
	w.WriteHeader(http.StatusOK)
	hasBody := w.status != http.StatusNoContent && w.status != http.StatusNotModified
	if _, set := w.header["Content-Type"]; !set && hasBody && len(w.body) > 0 {
		w.header.Set("Content-Type", http.DetectContentType(w.body))
	}
	text := append(w.text.AvailableBuffer(), version+" "...)
	text = strconv.AppendInt(text, int64(w.status), 10)
	text = append(text, ' ')
	text = append(text, http.StatusText(w.status)...)
	text = append(text, endOfLine+"Date: "...)
	text = now.UTC().AppendFormat(text, http.TimeFormat)
	text = append(text, endOfLine...)
	if hasBody {
		text = append(text, "Content-Length: "...)
		text = strconv.AppendInt(text, int64(len(w.body)), 10)
		text = append(text, endOfLine...)
	}
	w.text.Write(text)
	_ = w.header.WriteSubset(&w.text, framing) // a buffer takes everything
	w.text.WriteString(endOfLine)
	if hasBody {
		w.text.Write(w.body)
	}
	return w.text.Bytes()
}
