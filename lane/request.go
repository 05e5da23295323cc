package lane

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// found says what bytes are.
type found int

const (
	whole found = iota // they begin with a plain call
	part               // they may be the start of one
	other              // something else, for net/http
)

// maxHead bounds the request line and headers of a plain call.
const maxHead = 16 << 10

const (
	version   = "HTTP/1.1"
	endOfLine = "\r\n"
	endOfHead = endOfLine + endOfLine
)

// blankRequest returns what all calls of a path have in common.
func blankRequest(ctx context.Context, path string) *http.Request {
	r := http.Request{URL: &url.URL{Path: path}, Proto: version, ProtoMajor: 1, ProtoMinor: 1}
	return r.WithContext(ctx)
}

// read returns the plain call that bytes begin with, and its length. Its body is part of the
// bytes. For a part of a call it returns the length if that is known, otherwise 0.
//
// A plain call leaves nothing to interpret. It is a GET or POST of the path itself, with only
// ordinary characters, one Host, at most one Content-Length, and no header that changes the
// use of the connection. net/http reads it as the same request; a fuzz test checks that.
func read(data []byte, blank *http.Request) (r *http.Request, size int, kind found) {
	end := bytes.Index(data, []byte(endOfHead))
	switch {
	case end > maxHead || end < 0 && (len(data) > maxHead || !mayBegin(data, blank.URL.Path)):
		return nil, 0, other
	case end < 0:
		return nil, 0, part
	}
	line, fields, _ := strings.Cut(string(data[:end+len(endOfLine)]), endOfLine)
	r = new(http.Request)
	*r = *blank
	if !readLine(r, line, blank.URL.Path) || !readFields(r, fields) {
		return nil, 0, other
	}
	size = end + len(endOfHead) + int(r.ContentLength)
	switch {
	case size > largeBuffer:
		return nil, 0, other
	case size > len(data):
		return nil, size, part
	}
	r.Body = http.NoBody
	if r.ContentLength > 0 {
		r.Body = body{bytes.NewReader(data[size-int(r.ContentLength) : size])}
	}
	return r, size, whole
}

// mayBegin reports whether bytes may be the start of a call of a path.
func mayBegin(data []byte, path string) bool {
	for _, method := range [...]string{http.MethodPost, http.MethodGet} {
		line := method + " " + path
		n := min(len(line), len(data))
		if line[:n] == string(data[:n]) {
			return true
		}
	}
	return false
}

func readLine(r *http.Request, line, path string) bool {
	method, line, _ := strings.Cut(line, " ")
	target, proto, _ := strings.Cut(line, " ")
	if method != http.MethodPost && method != http.MethodGet || proto != version || !only(target, inTarget) {
		return false
	}
	called, query, asked := strings.Cut(target, "?")
	if called != path {
		return false
	}
	r.Method, r.RequestURI = method, target
	r.URL = &url.URL{Path: path, RawQuery: query, ForceQuery: asked && query == ""}
	return true
}

func readFields(r *http.Request, fields string) bool {
	lines := strings.Count(fields, endOfLine)
	if lines > maxFields {
		return false
	}
	r.Header = make(http.Header, lines)
	values := make([]string, 0, lines) // space for all of them
	for fields != "" {
		var line string
		line, fields, _ = strings.Cut(fields, endOfLine)
		name, value, ok := strings.Cut(line, ":")
		value = strings.Trim(value, " \t")
		if !ok || name == "" || !only(name, inName) || !only(value, inValue) {
			return false
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		if name == "Host" {
			if r.Host != "" || value == "" || !only(value, inHost) {
				return false
			}
			r.Host = value
			continue
		}
		before := r.Header[name]
		if !readField(r, name, value, before != nil) {
			return false
		}
		if before != nil {
			r.Header[name] = append(before, value)
			continue
		}
		values = append(values, value)
		r.Header[name] = values[len(values)-1 : len(values) : len(values)]
	}
	return r.Host != ""
}

// readField reads the headers that matter to the lane, and reports whether it can go on.
func readField(r *http.Request, name, value string, again bool) bool {
	switch name {
	case "Content-Length":
		length, err := strconv.Atoi(value)
		r.ContentLength = int64(length)
		// Servers differ about a length in another notation, and about that of a GET.
		return err == nil && !again && strconv.Itoa(length) == value && length >= 0 &&
			length <= largeBuffer && (length == 0 || r.Method == http.MethodPost)
	case "Connection":
		return strings.EqualFold(value, "keep-alive")
	case "Transfer-Encoding", "Trailer", "Expect", "Upgrade", "Pragma":
		return false
	}
	return true
}

// A class is a set of characters.
type class [256]bool

// Characters of the parts of a call. net/http decides on others.
var (
	inName   = classOf(letters + digits + "-_")
	inHost   = classOf(letters + digits + "-_.:[]")
	inTarget = classOf(letters + digits + "-_.:[]/?&=%+~!$'()*,;@")
	inValue  = classOf(letters + digits + "-_.:[]/?&=%+~!$'()*,;@ \"#<>\\^`{|}")
)

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

func classOf(characters string) *class {
	c := new(class)
	for i := range len(characters) {
		c[characters[i]] = true
	}
	return c
}

// only reports whether a text has only characters of a class.
func only(text string, c *class) bool {
	for i := range len(text) {
		if !c[text[i]] {
			return false
		}
	}
	return true
}

// body is the body of a call, which has arrived completely.
type body struct{ *bytes.Reader }

// Close implements io.Closer.
func (body) Close() error { return nil }

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
