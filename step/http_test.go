package step_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/command"
	"sluice/step"
	"sluice/value"
)

// local lets requests reach the servers of the tests.
var local = step.HTTPOptions{AllowNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// request calls http.request and gives its answer as a pipeline sees it.
func request(ctx context.Context, o step.HTTPOptions, given args) (map[string]any, error) {
	out, err := call(ctx, newSet(step.Options{HTTP: o}), "http.request", given)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	decoded, err := value.Decode(encoded)
	if err != nil {
		return nil, err
	}
	return decoded.(map[string]any), nil
}

// echo answers with the request it got.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	json.NewEncoder(w).Encode(object{"method": r.Method, "uri": r.RequestURI, "type": r.Header.Get("Content-Type"), "x": r.Header.Get("X-Own"), "agent": r.UserAgent(), "body": string(body)})
}

func TestRequestsAreSent(t *testing.T) {
	at := serve(t, echo)
	tests := map[string]struct {
		args args
		want object
	}{
		"plain":             {args{"url": at + "/a?b=c"}, object{"method": "GET", "uri": "/a?b=c", "type": "", "x": "", "agent": "sluice", "body": ""}},
		"text":              {args{"url": at, "method": "POST", "body": "hällo"}, object{"method": "POST", "uri": "/", "type": "text/plain; charset=utf-8", "x": "", "agent": "sluice", "body": "hällo"}},
		"an object":         {args{"url": at, "method": "PUT", "body": object{"a": "<"}}, object{"method": "PUT", "uri": "/", "type": "application/json", "x": "", "agent": "sluice", "body": `{"a":"<"}`}},
		"false":             {args{"url": at, "method": "PATCH", "body": false}, object{"method": "PATCH", "uri": "/", "type": "application/json", "x": "", "agent": "sluice", "body": "false"}},
		"headers":           {args{"url": at, "method": "DELETE", "body": "<a/>", "headers": object{"content-type": "text/xml", "x-own": 12, "user-agent": "mine"}}, object{"method": "DELETE", "uri": "/", "type": "text/xml", "x": "12", "agent": "mine", "body": "<a/>"}},
		"a space, a hash":   {args{"url": at + "/a b?c=d e#f"}, object{"method": "GET", "uri": "/a%20b?c=d%20e", "type": "", "x": "", "agent": "sluice", "body": ""}},
		"headers from text": {args{"url": at, "headers": command.Text(`{"x-own":"y"}`)}, object{"method": "GET", "uri": "/", "type": "", "x": "y", "agent": "sluice", "body": ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := request(t.Context(), local, test.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got["body"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// nested returns JSON of lists within each other.
func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

func TestAnswers(t *testing.T) {
	deepest, err := value.Decode(nested(value.MaxDepth))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		status      int
		contentType string
		body        string
		want        object
	}{
		"JSON":              {200, "application/json", `{"a":[1]}`, object{"statusCode": 200, "body": object{"a": list{1}}}},
		"a kind of JSON":    {200, "application/problem+json; charset=utf-8", `"x"`, object{"statusCode": 200, "body": "x"}},
		"not JSON":          {200, "application/json", `{"a":`, object{"statusCode": 200, "body": `{"a":`}},
		"deep JSON":         {200, "application/json", nested(value.MaxDepth), object{"statusCode": 200, "body": deepest}},
		"deeper JSON":       {200, "application/json", nested(value.MaxDepth + 1), object{"statusCode": 200, "body": nested(value.MaxDepth + 1)}},
		"text":              {200, "text/plain", "1", object{"statusCode": 200, "body": "1"}},
		"bytes":             {200, "application/json", "\xff\xfe", object{"statusCode": 200, "body": "//4=", "encoding": "base64"}},
		"nothing":           {204, "", "", object{"statusCode": 204, "body": ""}},
		"a refusal":         {404, "text/plain", "no", object{"statusCode": 404, "body": "no"}},
		"a fault":           {503, "application/json", "{}", object{"statusCode": 503, "body": object{}}},
		"a nameless choice": {302, "text/plain", "where?", object{"statusCode": 302, "body": "where?"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			at := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", test.contentType)
				w.Header()["X-Twice"] = []string{"a", "b\xff"}
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			})
			got, err := request(t.Context(), local, args{"url": at})
			if err != nil {
				t.Fatal(err)
			}
			headers := got["headers"].(object)
			if headers["content-type"] != test.contentType || headers["x-twice"] != "a, b\ufffd" {
				t.Errorf("the headers are %v", headers)
			}
			delete(got, "headers")
			if !value.Equal(test.want, got) {
				t.Errorf("the answer is %.1000v, want %.1000v", got, test.want)
			}
		})
	}
}

// tracer returns the same header for all work.
type tracer string

func (t tracer) Start(ctx context.Context, _ sluice.Span) (context.Context, func(error)) {
	return ctx, func(error) {}
}

func (t tracer) Add(context.Context, sluice.SpanFacts) {}

func (t tracer) Traceparent(context.Context) string { return string(t) }

func TestTheTraceTravelsOn(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.Header.Get("svc-trace-id"), r.Header.Get("traceparent"))
	})
	options := local
	options.Spans.Tracer = tracer("00-1-2-01")
	ctx := sluice.WithRun(t.Context(), &sluice.Run{TraceID: "abc123:x"})
	got, err := request(ctx, options, args{"url": at, "headers": object{"svc-trace-id": "forged"}})
	if err != nil {
		t.Fatal(err)
	}
	if got["body"] != "abc123:x 00-1-2-01" {
		t.Errorf("got %s", got["body"])
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	tests := map[string]struct {
		args args
		says string
	}{
		"no scheme":          {args{"url": "example.com"}, "http://"},
		"a file":             {args{"url": "file:///etc/passwd"}, "http://"},
		"gopher":             {args{"url": "gopher://example.com"}, "http://"},
		"no host":            {args{"url": "http:///x"}, "host"},
		"a port alone":       {args{"url": "http://:80/"}, "host"},
		"opaque":             {args{"url": "http:example.com"}, "host"},
		"a user":             {args{"url": "http://user@example.com"}, "authorization"},
		"a password":         {args{"url": "http://user:pw@example.com"}, "authorization"},
		"not a URL":          {args{"url": "http://a b/"}, "URL"},
		"a line in it":       {args{"url": "http://example.com/\r\nx: y"}, "URL"},
		"long":               {args{"url": "http://example.com/" + strings.Repeat("x", 8<<10)}, "8 KiB"},
		"another method":     {args{"url": "http://example.com", "method": "TRACE"}, "one of"},
		"connect":            {args{"url": "http://example.com", "method": "CONNECT"}, "one of"},
		"no time":            {args{"url": "http://example.com", "timeout": "0s"}, "5m"},
		"too much time":      {args{"url": "http://example.com", "timeout": "5m1s"}, "to 5m,"},
		"host":               {args{"url": "http://example.com", "headers": object{"host": "other"}}, "Host"},
		"content-length":     {args{"url": "http://example.com", "headers": object{"Content-length": 3}}, "Content-Length"},
		"transfer-encoding":  {args{"url": "http://example.com", "headers": object{"TRANSFER-ENCODING": "chunked"}}, "Transfer-Encoding"},
		"connection":         {args{"url": "http://example.com", "headers": object{"connection": "upgrade"}}, "Connection"},
		"for a proxy":        {args{"url": "http://example.com", "headers": object{"proxy-authorization": "x"}}, "Proxy-Authorization"},
		"a split header":     {args{"url": "http://example.com", "headers": object{"x": "a\r\nb: c"}}, "one line"},
		"a split name":       {args{"url": "http://example.com", "headers": object{"x: y\r\nz": "a"}}, "name"},
		"a blank in a name":  {args{"url": "http://example.com", "headers": object{"content-length ": "1"}}, "name"},
		"a nameless header":  {args{"url": "http://example.com", "headers": object{"": "a"}}, "name"},
		"a header twice":     {args{"url": "http://example.com", "headers": object{"x-a": "a", "X-A": "b"}}, "twice"},
		"a list in a header": {args{"url": "http://example.com", "headers": object{"x": list{"a"}}}, "one line"},
		"large headers":      {args{"url": "http://example.com", "headers": object{"x": strings.Repeat("x", 64<<10)}}, "64 KiB"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := request(t.Context(), step.HTTPOptions{}, test.args)
			refuses(t, err, sluice.Invalid, "parameter-invalid", test.says)
		})
	}
}

// TestAddressesOfOurOwnAreRefused: a listener is there, and gets no connection.
func TestAddressesOfOurOwnAreRefused(t *testing.T) {
	at := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was called") })
	port := at[strings.LastIndex(at, ":"):]
	t.Setenv("HTTP_PROXY", at)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "[::127.0.0.1]"} {
		_, err := request(t.Context(), step.HTTPOptions{}, args{"url": "http://" + host + port})
		refuses(t, err, sluice.Forbidden, "address-refused", "--http-allow")
		if strings.Contains(host, "localhost") && strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("the error has an address: %v", err)
		}
	}
}

// TestANameThatChangesItsAddressIsCheckedAtEachConnection: what a name meant a
// moment ago doesn't count.
func TestANameThatChangesItsAddressIsCheckedAtEachConnection(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		io.WriteString(w, "allowed")
	})
	port := at[strings.LastIndex(at, ":"):]
	var address atomic.Value
	address.Store(netip.MustParseAddr("127.0.0.1"))
	nameServer(t, func() netip.Addr { return address.Load().(netip.Addr) })

	set := newSet(step.Options{HTTP: local})
	if _, err := call(t.Context(), set, "http.request", args{"url": "http://rebind.example." + port}); err != nil {
		t.Fatal(err)
	}
	address.Store(netip.MustParseAddr("127.0.0.2"))
	_, err := call(t.Context(), set, "http.request", args{"url": "http://rebind.example." + port})
	refuses(t, err, sluice.Forbidden, "address-refused", "rebind.example")
}

func TestRedirects(t *testing.T) {
	var seen http.Header
	target := serve(t, func(_ http.ResponseWriter, r *http.Request) { seen = r.Header })
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			seen = r.Header
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/4", "/3", "/2", "/1":
			http.Redirect(w, r, string("0123"[r.URL.Path[1]-'1']), http.StatusFound)
		case "/0":
		default:
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
		}
	})
	headers := object{"authorization": "Bearer x", "cookie": "x", "x-api-key": "x", "accept": "text/plain"}
	sent := func(to string) (http.Header, error) {
		seen = nil
		_, err := request(t.Context(), local, args{"url": at + "/?to=" + url.QueryEscape(to), "method": "POST", "body": "x", "headers": headers})
		return seen, err
	}
	same, err := sent("/here")
	if err != nil || same.Get("Authorization") == "" || same.Get("X-Api-Key") == "" || same.Get("Referer") != "" {
		t.Errorf("to the same server: %v, %v", same, err)
	}
	other, err := sent(target)
	if err != nil || other.Get("Accept") != "text/plain" || other.Get("Content-Type") == "" || other.Get("User-Agent") != "sluice" {
		t.Errorf("to another server: %v, %v", other, err)
	}
	for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "Referer"} {
		if other.Get(name) != "" {
			t.Errorf("another server gets %s", name)
		}
	}
	if _, err := sent("/4"); err != nil {
		t.Errorf("five redirects: %v", err)
	}
	if _, err := sent("/?to=/4"); err == nil || sluice.AsError(err).Code != "http-failed" {
		t.Errorf("six redirects: %v", err)
	}
	back, err := sent(at + "/?to=" + url.QueryEscape(at+"/here"))
	if err != nil || back.Get("Authorization") == "" {
		t.Errorf("twice to the same server: %v, %v", back, err)
	}
	for to, code := range map[string]string{
		"http://127.0.0.1:1/":        "http-failed", // nobody listens
		"http://127.0.0.2/":          "address-refused",
		"http://[::1]/":              "address-refused",
		"http://169.254.169.254/":    "address-refused",
		"file:///etc/passwd":         "http-failed",
		"gopher://127.0.0.1/":        "http-failed",
		"http://user:pw@127.0.0.1/":  "http-failed",
		"http://127.0.0.1:bad port/": "http-failed",
		"/loop":                      "http-failed",
	} {
		_, err := sent(to)
		if err == nil {
			t.Errorf("to %s: it went well", to)
			continue
		}
		e := sluice.AsError(err)
		if e.Code != code || !strings.Contains(e.Message, "127.0.0.1") || strings.Contains(err.Error(), "?to=") {
			t.Errorf("to %s: %v", to, err)
		}
	}
}

// TestHeadersStayBehindForGood: a way back from another server doesn't bring
// them back.
func TestHeadersStayBehindForGood(t *testing.T) {
	var at string
	var got http.Header
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, at+"/end", http.StatusFound) })
	at = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			got = r.Header
			return
		}
		http.Redirect(w, r, elsewhere, http.StatusFound)
	})
	if _, err := request(t.Context(), local, args{"url": at, "headers": object{"x-api-key": "x"}}); err != nil {
		t.Fatal(err)
	}
	if got == nil || got.Get("X-Api-Key") != "" {
		t.Errorf("got %v", got)
	}
}

func TestLargeAnswersAreRefused(t *testing.T) {
	const most = 4 << 20
	packed := gzipped(50 << 20) // takes longer than a call may, on a busy machine
	tests := map[string]struct {
		handler http.HandlerFunc
		kind    sluice.Kind
		code    string
	}{
		"announced": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(most+1))
			w.Write(make([]byte, most+1))
		}, sluice.TooLarge, "answer-too-large"},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 10_000)); err != nil {
					return
				}
			}
		}, sluice.TooLarge, "answer-too-large"},
		"packed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed)
		}, sluice.TooLarge, "answer-too-large"},
		"badly packed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, "not gzip")
		}, sluice.Unavailable, "http-failed"},
		"in the headers": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", most))
		}, sluice.Unavailable, "http-failed"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "x")
		}, sluice.Unavailable, "http-failed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := request(t.Context(), local, args{"url": serve(t, test.handler)})
			refuses(t, err, test.kind, test.code, "")
		})
	}
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte("x"), most)) })
	if _, err := request(t.Context(), local, args{"url": at}); err != nil {
		t.Errorf("just the limit: %v", err)
	}
}

func gzipped(zeros int) []byte {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	writer.Write(make([]byte, zeros))
	writer.Close()
	return packed.Bytes()
}

func TestFaultsOfTheNetwork(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	slow := func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "some")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	rude := func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		io.WriteString(c, "SSH-2.0-secret\r\n")
		c.Close()
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	nameServer(t, func() netip.Addr { return netip.Addr{} })
	tests := map[string]struct {
		url  string
		code string
		says string
	}{
		"no answer":        {serve(t, silent), "http-timeout", "timeout"},
		"a slow answer":    {serve(t, slow), "http-timeout", "timeout"},
		"not HTTP":         {serve(t, rude), "http-failed", "not a valid answer"},
		"nobody listens":   {closed.URL, "http-failed", "refuses connections"},
		"not trusted":      {secure.URL, "http-failed", "certificate"},
		"no such host":     {"http://nowhere.example./", "http-failed", "no such host"},
		"https without it": {strings.Replace(serve(t, silent), "http:", "https:", 1), "http-failed", "not a valid answer"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			timeout := "10s"
			if test.code == "http-timeout" {
				timeout = "50ms"
			}
			_, err := request(t.Context(), local, args{"url": test.url, "timeout": timeout})
			refuses(t, err, sluice.Unavailable, test.code, test.says)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error has the answer: %v", err)
			}
		})
	}
}

func TestARequestEndsWithItsRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	at := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := request(ctx, local, args{"url": at})
	refuses(t, err, sluice.Unavailable, "interrupted", "interrupted")
}
