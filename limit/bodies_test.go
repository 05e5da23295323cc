package limit_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"sluice"
	"sluice/limit"
)

var patient = limit.Pace{Idle: time.Minute, Total: time.Minute, Rate: 1}

// bodies returns a reader of bodies that has 1 MiB of memory.
func bodies(pace limit.Pace) *limit.Bodies {
	return limit.NewBodies(limit.BodyOptions{Pace: pace, Known: 1 << 20, Strange: 1 << 20, Unfinished: 100})
}

func read(w http.ResponseWriter, r *http.Request, bodies *limit.Bodies, space []byte, longest int) ([]byte, error) {
	memory := bodies.Known.Hold()
	defer memory.Release()
	return bodies.Read(w, r, space, longest, &memory)
}

// serve starts a server whose handler reads a body into space, and tells on the
// channel what came of it.
func serve(t *testing.T, pace limit.Pace, space []byte, longest int) (url string, outcomes <-chan outcome) {
	t.Helper()
	all := bodies(pace)
	done := make(chan outcome, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := read(w, r, all, space, longest)
		done <- outcome{string(b), err}
	}))
	t.Cleanup(server.Close)
	return server.URL, done
}

type outcome struct {
	body string
	err  error
}

// TestRead: bodies up to the limit are read to their end, announced or not.
func TestRead(t *testing.T) {
	ten := strings.Repeat("x", 10)
	tests := []struct {
		name string
		body io.Reader
		want string
		kind sluice.Kind
	}{
		{"nothing", nil, "", ""},
		{"an empty body", http.NoBody, "", ""},
		{"a body", strings.NewReader("hi"), "hi", ""},
		{"a body as long as the limit", strings.NewReader(ten), ten, ""},
		{"a body over the limit", strings.NewReader(ten + "x"), "", sluice.TooLarge},
		{"a chunked body", io.MultiReader(strings.NewReader("hi")), "hi", ""},
		{"an empty chunked body", io.MultiReader(), "", ""},
		{"a chunked body as long as the limit", io.MultiReader(strings.NewReader(ten)), ten, ""},
		{"a chunked body over the limit", io.MultiReader(strings.NewReader(ten + "x")), "", sluice.TooLarge},
		{"a body that comes byte by byte", iotest.OneByteReader(strings.NewReader(ten)), ten, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			url, outcomes := serve(t, patient, nil, 10)
			response, err := http.Post(url, "text/plain", test.body)
			if err == nil {
				response.Body.Close()
			}
			got := <-outcomes
			if test.kind != "" {
				wantKind(t, got.err, test.kind)
				return
			}
			if got.err != nil || got.body != test.want {
				t.Errorf("read %q, %v, want %q", got.body, got.err, test.want)
			}
		})
	}
}

// TestTooLargeIsRefusedUnread: of an announced body that is too large not a byte
// is read.
func TestTooLargeIsRefusedUnread(t *testing.T) {
	r := httptest.NewRequest("POST", "/", iotest.ErrReader(errors.New("the body was read")))
	r.ContentLength = 11
	_, err := read(httptest.NewRecorder(), r, bodies(patient), nil, 10)
	wantKind(t, err, sluice.TooLarge)
	if message := sluice.AsError(err).Message; !strings.Contains(message, "10 bytes") {
		t.Errorf("the message is %q, want it to tell the limit", message)
	}
}

// TestReadIntoSpace: the space of an earlier body is used again.
func TestReadIntoSpace(t *testing.T) {
	space := bytes.Repeat([]byte("old "), 100)[:0]
	url, outcomes := serve(t, patient, space, 10)
	response, err := http.Post(url, "text/plain", strings.NewReader("new"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if got := <-outcomes; got.body != "new" || got.err != nil {
		t.Errorf("read %q, %v", got.body, got.err)
	}
	if now := string(space[:3]); now != "new" {
		t.Errorf("the space has %q in it: it was not used", now)
	}
}

// TestSlow: a body that doesn't come is given up.
func TestSlow(t *testing.T) {
	for name, pace := range map[string]limit.Pace{
		"it stops":                   {Idle: 50 * time.Millisecond, Total: time.Minute},
		"it takes too long in all":   {Idle: time.Minute, Total: 50 * time.Millisecond},
		"it comes, but far too slow": {Idle: 50 * time.Millisecond, Total: time.Minute, Rate: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			url, outcomes := serve(t, pace, nil, 1000)
			content, sender := io.Pipe()
			go func() {
				response, err := http.Post(url, "text/plain", content)
				if err == nil {
					response.Body.Close()
				}
				_ = content.Close()
			}()
			defer sender.Close()
			if name == "it stops" {
				wantKind(t, (<-outcomes).err, sluice.Timeout)
				return
			}
			wantKind(t, trickle(sender, outcomes).err, sluice.Timeout)
		})
	}
}

// trickle sends a byte now and then until the server has had enough.
func trickle(sender io.Writer, outcomes <-chan outcome) outcome {
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for {
		_, _ = sender.Write([]byte("x"))
		select {
		case got := <-outcomes:
			return got
		case <-pace.C:
		}
	}
}

// TestBrokenOff: a body that ends early is the sender's fault, and its text is
// not the cause's.
func TestBrokenOff(t *testing.T) {
	r := httptest.NewRequest("POST", "/", io.MultiReader(strings.NewReader("hi"), iotest.ErrReader(errors.New("read tcp 10.0.0.1:80"))))
	r.ContentLength = 5
	_, err := read(deadlines{httptest.NewRecorder()}, r, bodies(patient), nil, 10)
	wantKind(t, err, sluice.Invalid)
	if message := sluice.AsError(err).Message; strings.Contains(message, "10.0.0.1") {
		t.Errorf("the message tells the cause: %s", message)
	}
}

// deadlines is a response writer that has deadlines, and ignores them.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetReadDeadline(time.Time) error { return nil }

func wantKind(t *testing.T, err error, kind sluice.Kind) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	if e := sluice.AsError(err); e.Kind != kind || !e.Close {
		t.Errorf("the error is %+v, want kind %s and the connection closed", e, kind)
	}
}
