package lane

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sluice/stretch"
)

func TestMain(m *testing.M) {
	stretch.By(5)
	goleak.VerifyTestMain(m)
}

// A server is a lane with net/http behind it.
type server struct {
	lane *Lane
	http *http.Server
	log  lines
	took chan struct{} // net/http got a connection
}

// lines are what was logged.
type lines chan string

// Write implements io.Writer.
func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func start(t *testing.T, handler http.HandlerFunc) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{log: make(lines, 10), took: make(chan struct{}, 1)}
	s.http = &http.Server{Handler: handler, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.took <- struct{}{}
		}
	}}
	s.lane = New(listener, Options{
		Path: path, Handler: handler, HeaderTimeout: time.Minute, IdleTimeout: time.Minute,
		Log: slog.New(slog.NewTextHandler(s.log, nil)),
	})
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(s.lane) }()
	t.Cleanup(func() {
		_ = s.http.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve: %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err, left := s.lane.Shutdown(ctx), 0
		if s.lane.each(func(*conn) { left++ }); err != nil || left > 0 {
			t.Errorf("Shutdown: %v, %d connections are left", err, left)
		}
	})
	return s
}

// A client is a connection to a server.
type client struct {
	*net.TCPConn

	t    *testing.T
	from *bufio.Reader
}

func (s *server) dial(t *testing.T) *client {
	t.Helper()
	conn, err := net.Dial("tcp", s.lane.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &client{TCPConn: conn.(*net.TCPConn), t: t, from: bufio.NewReader(conn)}
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// answer returns the next answer, with its body.
func (c *client) answer() (*http.Response, string) {
	c.t.Helper()
	response, err := http.ReadResponse(c.from, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response, string(content)
}

func (c *client) wantAnswer(want string) {
	c.t.Helper()
	if _, got := c.answer(); got != want {
		c.t.Errorf("answered %q, want %q", got, want)
	}
}

func (c *client) wantEnd() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.from); err != nil || len(rest) > 0 {
		c.t.Errorf("%q, %v follows, want the end", rest, err)
	}
}

// tell answers with who has read the call, and its body.
func tell(w http.ResponseWriter, r *http.Request) {
	who := "lane"
	if r.Context().Value(http.ServerContextKey) != nil {
		who = "net/http"
	}
	content, err := io.ReadAll(r.Body)
	if err != nil {
		content = []byte("cut off")
	}
	if len(content) > 10 {
		content = []byte("much")
	}
	_, _ = w.Write([]byte(strings.TrimSpace(who + " " + string(content))))
}

func post(body string) string {
	return "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// TestWhoAnswers: plain calls are answered by the lane until something else
// arrives on the connection.
func TestWhoAnswers(t *testing.T) {
	chunks := "POST /hook HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
	tests := []struct {
		name string
		sent []string // one write each
		want []string
	}{
		{"calls one after the other", []string{post("1"), post("2"), post("3")}, []string{"lane 1", "lane 2", "lane 3"}},
		{"calls that arrive together", []string{post("1") + post("2") + post("3")}, []string{"lane 1", "lane 2", "lane 3"}},
		{"a call byte by byte", strings.Split(post("1")+post("2"), ""), []string{"lane 1", "lane 2"}},
		{"something else", []string{chunks, post("2")}, []string{"net/http hi", "net/http 2"}},
		{"something else behind a call", []string{post("1"), chunks, post("3")}, []string{"lane 1", "net/http hi", "net/http 3"}},
		{"something else right behind a call", []string{post("1") + chunks + post("3")}, []string{"lane 1", "net/http hi", "net/http 3"}},
		{"a large call", []string{post("1"), post(strings.Repeat("x", 40<<10)), post("3")}, []string{"lane 1", "lane much", "lane 3"}},
		{"large calls that arrive together", []string{post(strings.Repeat("x", 40<<10)) + post(strings.Repeat("x", 30<<10)) + post("3")}, []string{"lane much", "lane much", "lane 3"}},
		{"a middling call behind a large one", []string{post(strings.Repeat("x", 40<<10)) + post(strings.Repeat("x", 6<<10)) + post("3")}, []string{"lane much", "lane much", "lane 3"}},
		{"empty lines behind a call", []string{post("1") + "\r\n\r\n" + chunks}, []string{"lane 1", "net/http hi"}},
		{"an empty line behind a call", []string{post("1") + "\r\n" + post("2")}, []string{"lane 1", "lane 2"}},
		{"more empty lines than there may be", []string{post("1") + "\r\n\r\n\r\n" + post("2")}, []string{"lane 1", "400 Bad Request"}},
		{"a call that is too large", []string{post("1"), post(strings.Repeat("x", 70<<10)), post("3")}, []string{"lane 1", "net/http much", "net/http 3"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, tell).dial(t)
			for _, text := range test.sent {
				c.send(text)
			}
			for _, want := range test.want {
				c.wantAnswer(want)
			}
		})
	}
}

// TestEmptyLinesInPieces: however they arrive, empty lines behind a body are no
// call.
func TestEmptyLinesInPieces(t *testing.T) {
	chunks := "POST /hook HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
	for _, pieces := range [][]string{{"\r", "\n"}, {"\r\n", "\r\n"}, {"\r\n\r", "\n"}, {"\n", "\r\n"}} {
		for next, want := range map[string]string{post("2"): "lane 2", chunks: "net/http hi"} {
			inBubble(t, func(t *testing.T, conn net.Conn, lane *Lane) {
				server := &http.Server{Handler: http.HandlerFunc(tell)}
				served := make(chan error)
				go func() { served <- server.Serve(lane) }()
				c := &client{t: t, from: bufio.NewReader(conn)}
				for _, piece := range append(append([]string{post("1")}, pieces...), next) {
					time.Sleep(2 * stretch.Of(patience)) // whatever would wait for more has given up
					if _, err := io.WriteString(conn, piece); err != nil {
						t.Fatal(err)
					}
					if piece == post("1") {
						c.wantAnswer("lane 1")
					}
				}
				c.wantAnswer(want)
				_ = conn.Close()
				_ = server.Close()
				<-served
			})
		}
	}
}

// TestBuffersAreBounded: calls that find no large buffer are net/http's.
func TestBuffersAreBounded(t *testing.T) {
	s := start(t, tell)
	for range maxLarge {
		s.lane.large <- struct{}{}
	}
	c := s.dial(t)
	c.send(post("1"))
	c.wantAnswer("lane 1")
	c.send(post(strings.Repeat("x", 40<<10)))
	c.wantAnswer("net/http much")
	for range maxLarge {
		<-s.lane.large
	}
}

// TestSlowCall: a call that doesn't arrive is handed on as far as it has.
func TestSlowCall(t *testing.T) {
	for name, sent := range map[string]string{"in its line": "POST /ho", "in its headers": "POST /hook HTTP/1.1\r\nHo", "in its body": post("12345")[:len(post("12345"))-2]} {
		t.Run(name, func(t *testing.T) {
			s := start(t, tell)
			c := s.dial(t)
			c.send(post("1"))
			c.wantAnswer("lane 1")
			c.send(sent)
			<-s.took
			c.send(post("12345")[len(sent):])
			c.wantAnswer("net/http 12345")
		})
	}
}

// TestCutCall: a call that is cut off is handed on, and answered as others are.
func TestCutCall(t *testing.T) {
	c := start(t, tell).dial(t)
	c.send(strings.TrimSuffix(post("12345"), "5"))
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	c.wantAnswer("net/http cut off")
	c.wantEnd()
}

// TestAnswersAreAlike: an answer is the same, whoever has read the call.
func TestAnswersAreAlike(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"nothing":      func(http.ResponseWriter, *http.Request) {},
		"a text":       func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
		"a redirect":   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/there", http.StatusFound) },
		"an error":     func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) },
		"two statuses": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400); _, _ = w.Write(nil) },
		"no content":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204); _, _ = io.WriteString(w, "x") },
		"no change":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304); _, _ = io.WriteString(w, "x") },
		"no type": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, "hello")
		},
		"a length": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5")
			if n, err := io.Copy(w, strings.NewReader("hello")); n != 5 || err != nil {
				panic(err)
			}
		},
		"one of many": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "keep-alive")
			_, _ = io.WriteString(w, "hello")
		},
		"deadlines": func(w http.ResponseWriter, _ *http.Request) {
			if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				panic(err)
			}
		},
		"a split header": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", "a\r\nSet-Cookie: b") },
		"the last": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			_, _ = io.WriteString(w, "bye")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, handler)
			ours := s.dial(t)
			ours.send(post(""))
			got, gotBody := ours.answer()
			theirs := s.dial(t)
			theirs.send("POST /hook HTTP/1.1\r\nHost: h\r\nPragma: p\r\nContent-Length: 0\r\n\r\n")
			<-s.took
			want, wantBody := theirs.answer()
			if _, err := http.ParseTime(got.Header.Get("Date")); err != nil {
				t.Error(err)
			}
			got.Header["Date"] = want.Header["Date"]
			if diff := cmp.Diff(want.Header, got.Header); diff != "" {
				t.Errorf("headers differ (-net/http +lane):\n%s", diff)
			}
			if got.Status != want.Status || got.ContentLength != want.ContentLength || got.Close != want.Close || gotBody != wantBody {
				t.Errorf("answered %s %q, net/http %s %q", got.Status, gotBody, want.Status, wantBody)
			}
			if got.Close {
				ours.wantEnd()
				return
			}
			ours.send(post(""))
			ours.answer()
		})
	}
}

// TestLastAnswerArrives: what a client goes on to send does not cut off the
// answer that ends its connection.
func TestLastAnswerArrives(t *testing.T) {
	c := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		tell(w, r)
	}).dial(t)
	c.send(strings.Repeat(post("1"), 100))
	c.wantAnswer("lane 1")
	c.wantEnd()
	for range 3 {
		c.send(post("1")) // the second would fail if the server were gone
	}
}

// TestRemoteAddr: a call has the address of its caller.
func TestRemoteAddr(t *testing.T) {
	c := start(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr) }).dial(t)
	c.send(post(""))
	c.wantAnswer(c.LocalAddr().String())
}

// TestPanic: a call that panics takes its connection along, nothing else.
func TestPanic(t *testing.T) {
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.RawQuery {
		case "abort":
			panic(http.ErrAbortHandler)
		case "exit":
			runtime.Goexit()
		case "oops":
			panic("oops")
		}
		tell(w, r)
	})
	for _, query := range []string{"abort", "exit", "oops"} {
		c := s.dial(t)
		c.send(strings.Replace(post(""), "/hook", "/hook?"+query, 1))
		c.wantEnd()
	}
	c := s.dial(t)
	c.send(post("1"))
	c.wantAnswer("lane 1")
	if log := <-s.log; !strings.Contains(log, "oops") || !strings.Contains(log, "lane_test.go") {
		t.Errorf("the log has %q, want the panic and where it was", log)
	}
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipeListener) Addr() net.Addr { return nil }

func (p *pipeListener) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// TestErrorsOfTheListener: what keeps a listener from accepting reaches
// net/http.
func TestErrorsOfTheListener(t *testing.T) {
	broken := errors.New("broken")
	l := New(brokenListener{broken}, Options{})
	for range 2 {
		if _, err := l.Accept(); !errors.Is(err, broken) {
			t.Errorf("Accept gives %v", err)
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("once it is closed, Accept gives %v", err)
	}
}

type brokenListener struct{ err error }

func (b brokenListener) Accept() (net.Conn, error) { return nil, b.err }
func (b brokenListener) Close() error              { return nil }
func (b brokenListener) Addr() net.Addr            { return nil }

// sentAtOnce is a connection whose client has sent everything before it is accepted, and reads
// whatever is answered.
type sentAtOnce struct {
	net.Conn // nil: nothing else is called
	*strings.Reader
	from string
}

func (c *sentAtOnce) Read(p []byte) (int, error)       { return c.Reader.Read(p) }
func (c *sentAtOnce) Write(p []byte) (int, error)      { return len(p), nil }
func (c *sentAtOnce) Close() error                     { return nil }
func (c *sentAtOnce) RemoteAddr() net.Addr             { return &net.UnixAddr{Name: c.from} }
func (c *sentAtOnce) SetDeadline(time.Time) error      { return nil }
func (c *sentAtOnce) SetReadDeadline(time.Time) error  { return nil }
func (c *sentAtOnce) SetWriteDeadline(time.Time) error { return nil }

// TestConnectionsTakeTurns: of two connections that each sent many calls at once, neither has all
// of its calls answered first. There are no sockets: what the system does with them would decide
// the order on a busy machine.
func TestConnectionsTakeTurns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const calls = 50
	var both, all sync.WaitGroup
	both.Add(2)
	all.Add(2 * calls)
	var mu sync.Mutex
	var order []string
	listener := &pipeListener{conns: make(chan net.Conn, 2), closed: make(chan struct{})}
	for _, from := range []string{"one", "other"} {
		sent := strings.NewReader(post("first") + strings.Repeat(post(""), calls-1))
		listener.conns <- &sentAtOnce{Reader: sent, from: from}
	}
	l := New(listener, Options{Path: path, HeaderTimeout: time.Minute, IdleTimeout: time.Minute, Log: slog.New(slog.DiscardHandler),
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.ContentLength > 0 {
				both.Done()
				both.Wait()
			}
			mu.Lock()
			defer mu.Unlock()
			order = append(order, r.RemoteAddr)
			all.Done()
		}),
	})
	all.Wait()
	if err := errors.Join(l.Close(), l.Shutdown(t.Context())); err != nil {
		t.Error(err)
	}
	turns := 0
	for i := 1; i < len(order); i++ {
		if order[i] != order[i-1] {
			turns++
		}
	}
	if turns < calls/5 {
		t.Errorf("%d calls changed the connection %d times", len(order), turns)
	}
}
