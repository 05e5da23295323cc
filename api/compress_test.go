package api

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestCompression(t *testing.T) {
	long := strings.Repeat("a long answer ", 200)
	tests := map[string]struct {
		method, target, accept, cookie string
		answer                         http.HandlerFunc
		want                           bool
	}{
		"JSON":                        {want: true},
		"a page":                      {answer: text("text/html; charset=utf-8", long), want: true},
		"a problem":                   {answer: status(404, "application/problem+json", long), want: true},
		"in small pieces":             {answer: pieces(long), want: true},
		"nobody asked for it":         {accept: "-"},
		"nobody wants it":             {accept: "br, gzip;q=0"},
		"nobody wants it at all":      {accept: "gzip; q=0.000"},
		"wanted among others":         {accept: "br;q=1.0, GZIP;q=0.5", want: true},
		"not worth it":                {answer: text("application/json", "{}")},
		"a picture":                   {answer: text("image/png", long)},
		"a stream":                    {answer: text("text/event-stream", long)},
		"flushed before it is long":   {answer: flushed(long), want: true},
		"compressed already":          {answer: encoded(long)},
		"only headers":                {method: http.MethodHead},
		"a page for a browser":        {cookie: "session=x", want: true},
		"input from a browser":        {cookie: "session=x", target: "/?search=guess"},
		"a form from a browser":       {cookie: "session=x", method: http.MethodPost},
		"input from a program":        {target: "/?search=x", method: http.MethodPost, want: true},
		"an answer with tokens":       {target: "/auth/realms/default/token"},
		"nothing at all":              {answer: func(http.ResponseWriter, *http.Request) {}},
		"no content":                  {answer: status(204, "application/json", "")},
		"long beyond what is at hand": {answer: text("application/json", strings.Repeat(long, 100)), want: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.answer == nil {
				test.answer = text("application/json", long)
			}
			server := httptest.NewServer(compressed(test.answer))
			defer server.Close()
			plain := httptest.NewServer(test.answer)
			defer plain.Close()
			got, want := fetch(t, server.URL, test.method, test.target, test.accept, test.cookie), fetch(t, plain.URL, test.method, test.target, test.accept, test.cookie)
			if compressed := got.header.Get("Content-Encoding") == "gzip"; compressed != test.want && name != "compressed already" {
				t.Errorf("compressed is %v", compressed)
			}
			if got.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("Vary is %q", got.header.Get("Vary"))
			}
			if got.body != want.body || got.status != want.status {
				t.Errorf("got %d with %d bytes, want %d with %d", got.status, len(got.body), want.status, len(want.body))
			}
		})
	}
}

// TestFewAnswersAreCompressed: compressing takes memory for as long as an answer is
// on its way, so those of clients that don't read must not take it from all.
func TestFewAnswersAreCompressed(t *testing.T) {
	long := strings.Repeat("a long answer ", 200)
	begun, end := make(chan struct{}), make(chan struct{})
	handler := compressed(func(w http.ResponseWriter, r *http.Request) {
		text("application/json", long)(w, r)
		if r.URL.Path == "/held" {
			begun <- struct{}{}
			<-end
		}
		if r.URL.Path == "/panic" {
			panic(http.ErrAbortHandler)
		}
	})
	server := httptest.NewServer(handler)
	defer server.Close()
	isCompressed := func() bool { return fetch(t, server.URL, "", "", "", "").header.Get("Content-Encoding") == "gzip" }
	for range maxZipping {
		func() {
			defer func() { _ = recover() }()
			r := httptest.NewRequest("GET", "/panic", nil)
			r.Header.Set("Accept-Encoding", "gzip")
			handler(httptest.NewRecorder(), r)
		}()
	}
	if !isCompressed() {
		t.Fatal("an answer is not compressed, after panics")
	}
	var held sync.WaitGroup
	for range maxZipping {
		held.Go(func() { fetch(t, server.URL, "", "/held", "", "") })
		<-begun
	}
	if isCompressed() {
		t.Errorf("more than %d answers are compressed at the same time", maxZipping)
	}
	close(end)
	held.Wait()
	if !isCompressed() {
		t.Error("an answer is not compressed, although others have ended")
	}
}

// TestAnswersAreNotCopied: a document that all answers share is in memory once,
// however many clients don't read theirs.
func TestAnswersAreNotCopied(t *testing.T) {
	document := make([]byte, 8<<20)
	handler := compressed(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(document)
	})
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	handler(nowhere{}, r)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 { // what compresses takes some
		t.Errorf("an answer of %d bytes takes %d", len(document), took)
	}
}

// nowhere takes answers for nobody.
type nowhere struct{}

// Header implements http.ResponseWriter.
func (nowhere) Header() http.Header { return http.Header{} }

// Write implements http.ResponseWriter.
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (nowhere) WriteHeader(int) {}

type fetched struct {
	status int
	header http.Header
	body   string
}

// fetch makes a request as it is, and unpacks the answer.
func fetch(t *testing.T, url, method, target, accept, cookie string) fetched {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	switch accept {
	case "":
		accept = "gzip"
	case "-":
		accept = ""
	}
	request.Header.Set("Accept-Encoding", accept)
	if cookie != "" {
		request.Header.Set("Cookie", cookie)
	}
	response, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body io.Reader = response.Body
	if response.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			t.Fatal(err)
		}
	}
	content, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return fetched{response.StatusCode, response.Header, string(content)}
}

func text(contentType, body string) http.HandlerFunc { return status(200, contentType, body) }

func status(code int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func pieces(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		for word := range strings.SplitAfterSeq(body, " ") {
			_, _ = io.WriteString(w, word)
		}
	}
}

func flushed(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "[")
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, body)
	}
}

func encoded(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		_, _ = io.WriteString(zip, body)
		_ = zip.Close()
	}
}

// TestCompressedStream: what is flushed of a compressed answer arrives.
func TestCompressedStream(t *testing.T) {
	read := make(chan struct{})
	server := httptest.NewServer(compressed(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, strings.Repeat("x", worthCompressing))
		_ = http.NewResponseController(w).Flush()
		<-read
	}))
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadFull(response.Body, make([]byte, worthCompressing)); err != nil || !response.Uncompressed {
		t.Errorf("err %v, compressed %v", err, response.Uncompressed)
	}
	close(read)
}
