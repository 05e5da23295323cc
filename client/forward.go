package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"

	"sluice"
	"sluice/outward"
)

// A Forwarder repeats the calls behind events, to a program on this machine or
// elsewhere.
type Forwarder struct {
	url  *url.URL
	http *http.Client
}

// NewForwarder returns a forwarder to a URL. A port alone is on this machine, and the
// scheme may be left out.
func NewForwarder(target string) (*Forwarder, error) {
	full := target
	if _, err := strconv.Atoi(target); err == nil {
		full = "localhost:" + target
	}
	u, err := url.Parse(withScheme(full))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || !isPort(u.Port()) {
		return nil, usage("Events are forwarded to a URL such as http://localhost:3000/hook or to a port such as "+
			"3000, not to %q.", target)
	}
	return &Forwarder{u, outward.Client(http.DefaultTransport.(*http.Transport).Clone(), 0)}, nil
}

// isPort reports whether a text is a port number or empty.
func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && port > 0
}

// URL is where events are forwarded to.
func (f *Forwarder) URL() string { return f.url.String() }

// Forwarded says what became of an event that was forwarded.
type Forwarded struct {
	Status int   // of the answer; 0 if there was none
	Done   bool  // it was sent, or never can be; don't try again
	Err    error // why there was no answer
}

// Forward makes the call behind an event.
func (f *Forwarder) Forward(ctx context.Context, e sluice.Event) Forwarded {
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	r, err := f.request(ctx, e)
	if err != nil {
		return Forwarded{Done: true, Err: err}
	}
	response, err := f.http.Do(r)
	if err != nil {
		return Forwarded{Done: sent.Load(), Err: rootOf(err)}
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer))
	return Forwarded{response.StatusCode, true, err}
}

// notForwarded are headers about the original connection.
var notForwarded = []string{
	"connection", "content-length", "expect", "host", "keep-alive", "proxy-connection",
	"te", "trailer", "transfer-encoding", "upgrade",
}

func (f *Forwarder) request(ctx context.Context, e sluice.Event) (*http.Request, error) {
	body, contentType, err := bodyOf(e)
	if err != nil {
		return nil, fmt.Errorf("the payload of %s can't be read: %w", e.TraceID, err)
	}
	target := *f.url
	query := target.Query()
	for name, values := range e.Query {
		query[name] = append(query[name], values...)
	}
	target.RawQuery = query.Encode()
	method := e.Method
	if method == "" { // an event that was sent, not received
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, h := range e.Headers {
		if !slices.Contains(notForwarded, h.Name) {
			r.Header.Set(h.Name, h.Value)
		}
		if h.Name == "host" {
			r.Header.Set("X-Forwarded-Host", h.Value)
		}
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	r.Header.Set(sluice.TraceHeader, e.TraceID)
	return r, nil
}

// bodyOf returns the body of the call behind an event, byte for byte if the event has
// the bytes.
func bodyOf(e sluice.Event) (body []byte, contentType string, err error) {
	switch e.PayloadEncoding {
	case sluice.EncodingNone:
		return nil, e.ContentType, nil
	case sluice.EncodingText:
		var text string
		err = json.Unmarshal(e.Payload, &text)
		return []byte(text), e.ContentType, err
	case sluice.EncodingBase64:
		var payload struct {
			Origin []byte `json:"origin"` // as base64, which is how encoding/json writes bytes
		}
		err = json.Unmarshal(e.Payload, &payload)
		return payload.Origin, e.ContentType, err
	case sluice.EncodingFiles:
		return filesOf(e)
	}
	return e.Payload, e.ContentType, nil
}

// filesOf returns a body with the files of an event. The rest of an upload is not
// stored.
func filesOf(e sluice.Event) (body []byte, contentType string, err error) {
	var payload sluice.Files
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		return nil, "", err
	}
	files := make([]File, len(payload.Files))
	for i, f := range payload.Files {
		files[i] = File{f.Filename, f.ContentType, []byte(f.Origin)}
		if f.Encoding != sluice.EncodingText {
			if files[i].Content, err = base64.StdEncoding.DecodeString(f.Origin); err != nil {
				return nil, "", err
			}
		}
	}
	upload, err := Upload(files)
	return upload.Content, upload.ContentType, err
}

// A File is one that is uploaded.
type File struct {
	Name, ContentType string
	Content           []byte
}

// Upload returns a body with files.
func Upload(files []File) (*Body, error) {
	var content bytes.Buffer
	form := multipart.NewWriter(&content)
	for _, file := range files {
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition",
			mime.FormatMediaType("form-data", map[string]string{"name": "file", "filename": file.Name}))
		header.Set("Content-Type", file.ContentType)
		part, err := form.CreatePart(header)
		if err == nil {
			_, err = part.Write(file.Content)
		}
		if err != nil {
			return nil, err
		}
	}
	err := form.Close()
	return &Body{content.Bytes(), form.FormDataContentType()}, err
}
