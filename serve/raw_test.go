package serve_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// request writes the head of a request: lines that end in CRLF, and an empty one.
func request(lines ...string) string {
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// A wire is a connection on which a test says each byte itself.
type wire struct {
	net.Conn
	t      *testing.T
	reader *bufio.Reader
}

// dial opens a connection to the server. It is closed when the test ends.
func (s *service) dial(t *testing.T) *wire {
	t.Helper()
	conn, err := net.DialTimeout("tcp", s.server.Address(), patience)
	if err != nil {
		t.Fatal(err)
	}
	return newWire(t, conn)
}

func newWire(t *testing.T, conn net.Conn) *wire {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &wire{Conn: conn, t: t, reader: bufio.NewReader(conn)}
}

// say writes bytes. A server may have closed its end after its answer: then the answer counts,
// even if the rest could not be written.
func (w *wire) say(text string) {
	_, _ = io.WriteString(w.Conn, text)
}

// hear reads one response to a request of that method.
func (w *wire) hear(method string) answer {
	w.t.Helper()
	response, err := http.ReadResponse(w.reader, &http.Request{Method: method})
	if err != nil {
		w.t.Fatalf("no response: %v", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatalf("response cut short: %v", err)
	}
	if response.Close {
		response.Header.Set("Connection", "close") // ReadResponse takes it out
	}
	return answer{response.StatusCode, response.Header, body}
}

// wantClosed checks that the server says nothing more and closes.
func (w *wire) wantClosed() {
	w.t.Helper()
	rest, err := io.ReadAll(w.reader)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		w.t.Error("the connection was left open")
	}
	if len(rest) > 0 {
		w.t.Errorf("the server went on to say %q", rest)
	}
}

// wantOpen checks that the connection serves another request.
func (w *wire) wantOpen() {
	w.t.Helper()
	w.say(request("GET /healthz HTTP/1.1", "Host: sluice"))
	w.hear(http.MethodGet).wantStatus(w.t, http.StatusOK)
}

// A rawCase is a request as bytes and what must come of it.
type rawCase struct {
	name    string
	request string // {token} and the like stand for the values of the suite
	status  int
	code    string            // of the problem; "" where net/http answers by itself
	header  map[string]string // what the answer must have; "" means it must not
	body    string            // of the answer; "" means any
	closes  bool              // the connection is closed behind the answer
	stores  func(*testing.T, stored)
}

// accepted is for calls of whose event nothing is said but that it is stored.
func accepted(*testing.T, stored) {}

// A suite is raw cases that one server answers. When all are done, the store
// must have exactly the events of the accepted ones.
type suite struct {
	service *service
	values  []string // placeholder, value, placeholder, value
	cases   []rawCase
}

func (s suite) run(t *testing.T) {
	fill := strings.NewReplacer(append(s.values, "{receive}", receivePath)...)
	traces := make([]string, len(s.cases))
	t.Run("answers", func(t *testing.T) { // ends when all cases have
		for i, c := range s.cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				traces[i] = c.run(t, s.service, measured(fill.Replace(c.request)))
			})
		}
	})
	events := s.service.events()
	var expected []string
	for i, c := range s.cases {
		if c.stores == nil || traces[i] == "" {
			continue
		}
		expected = append(expected, traces[i])
		t.Run(c.name+", stored", func(t *testing.T) { c.stores(t, events[traces[i]]) })
	}
	wantExactly(t, events, expected)
}

// measured puts the length of a request's body in place of {length}.
func measured(request string) string {
	_, body, _ := strings.Cut(request, "\r\n\r\n")
	return strings.Replace(request, "{length}", strconv.Itoa(len(body)), 1)
}

// run sends the request, checks the answer and gives its trace id, if it has one.
func (c rawCase) run(t *testing.T, s *service, bytes string) (traceID string) {
	t.Helper()
	w := s.dial(t)
	go w.say(bytes)
	method, _, _ := strings.Cut(c.request, " ")
	got := w.hear(method).wantStatus(t, c.status)
	if c.code != "" && method != http.MethodHead {
		got.wantProblem(t, c.status, c.code)
	}
	if c.body != "" && string(got.body) != c.body {
		t.Errorf("the body is %s, want %s", got.body, c.body)
	}
	for name, want := range c.header {
		if value := got.header.Get(name); value != want {
			t.Errorf("the header %s is %q, want %q", name, value, want)
		}
	}
	if c.closes {
		w.wantClosed()
	} else {
		w.wantOpen()
	}
	traceID = got.header.Get("Svc-Trace-Id")
	if (c.stores != nil) != (traceID != "") {
		t.Errorf("the answer has the trace id %q", traceID)
	}
	if c.stores == nil && got.header.Get("Svc-Result-Correlationid") != "" {
		t.Error("a rejected call was given a correlation id")
	}
	return traceID
}
