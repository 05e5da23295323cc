package lane

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const path = "/hook"

var blank = blankRequest(context.Background(), path)

// calls are texts of which one is a plain call if it says so.
var calls = []struct {
	name  string
	text  string
	found found
}{
	{"a POST", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi", whole},
	{"a GET", "GET /hook?token=1 HTTP/1.1\r\nHost: h\r\n\r\n", whole},
	{"a GET with an empty body", "GET /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", whole},
	{"a question mark and no query", "GET /hook? HTTP/1.1\r\nHost: h\r\n\r\n", whole},
	{"a query that is not encoded well", "GET /hook?a=%zz;b HTTP/1.1\r\nHost: h\r\n\r\n", whole},
	{"another call behind it", "GET /hook HTTP/1.1\r\nHost: h\r\n\r\nGET /hook HTTP/1.1\r\n", whole},
	{"a header in lower case", "POST /hook HTTP/1.1\r\nhost: h\r\nx-signature: s=1\r\n\r\n", whole},
	{"a header twice", "GET /hook HTTP/1.1\r\nHost: h\r\nX: 1\r\nx: 2\r\nY: 3\r\nx: 4\r\n\r\n", whole},
	{"an empty header", "GET /hook HTTP/1.1\r\nHost: h\r\nX:\r\n\r\n", whole},
	{"space around a value", "GET /hook HTTP/1.1\r\nHost:\t h \r\nX:  a b\t \r\n\r\n", whole},
	{"a connection that stays", "GET /hook HTTP/1.1\r\nHost: h\r\nConnection: Keep-Alive\r\n\r\n", whole},
	{"an address as host", "GET /hook HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", whole},
	{"an empty body", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", whole},
	{"a head as long as allowed", headOf(maxHead), whole},
	{"a call as long as allowed", callOf(largeBuffer), whole},

	{"nothing", "", part},
	{"half a method", "PO", part},
	{"half a path", "GET /ho", part},
	{"half a header", "GET /hook HTTP/1.1\r\nHost: h\r\nX-", part},
	{"a head without its end", "GET /hook HTTP/1.1\r\nHost: h\r\n", part},
	{"half a body", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nh", part},

	{"another method", "PUT /hook HTTP/1.1\r\nHost: h\r\n\r\n", other},
	{"a method in lower case", "get /hook HTTP/1.1\r\nHost: h\r\n\r\n", other},
	{"half of another method", "PU", other},
	{"another path", "GET /other HTTP/1.1\r\nHost: h\r\n\r\n", other},
	{"half of another path", "GET /x", other},
	{"a longer path", "GET /hooks HTTP/1.1\r\nHost: h\r\n\r\n", other},
	{"a path below", "GET /hook/ HTTP/1.1\r\nHost: h\r\n\r\n", other},
	{"a path that is encoded", "GET /%68ook HTTP/1.1\r\nHost: h\r\n\r\n", other},
	{"a whole URL", "GET http://h/hook HTTP/1.1\r\nHost: h\r\n\r\n", other},
	{"two spaces", "GET  /hook HTTP/1.1\r\nHost: h\r\n\r\n", other},
	{"a fragment", "GET /hook?a#b HTTP/1.1\r\nHost: h\r\n\r\n", other},
	{"a query that is not ASCII", "GET /hook?\xc3\xa4 HTTP/1.1\r\nHost: h\r\n\r\n", other},
	{"HTTP/1.0", "GET /hook HTTP/1.0\r\nHost: h\r\n\r\n", other},
	{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", other},
	{"TLS", "\x16\x03\x01", other},
	{"lines that end in LF", "GET /hook HTTP/1.1\nHost: h\n\n", part}, // until it is given up
	{"a line that ends in LF", "GET /hook HTTP/1.1\r\nHost: h\nX: y\r\n\r\n", other},
	{"a CR in a value", "GET /hook HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n", other},
	{"a NUL in a value", "GET /hook HTTP/1.1\r\nHost: h\r\nX: a\x00b\r\n\r\n", other},
	{"a DEL in a value", "GET /hook HTTP/1.1\r\nHost: h\r\nX: a\x7fb\r\n\r\n", other},
	{"a value that is not ASCII", "GET /hook HTTP/1.1\r\nHost: h\r\nX: \xe4\r\n\r\n", other},
	{"a folded header", "GET /hook HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n", other},
	{"a header without a name", "GET /hook HTTP/1.1\r\nHost: h\r\n: a\r\n\r\n", other},
	{"a header without a colon", "GET /hook HTTP/1.1\r\nHost: h\r\nX\r\n\r\n", other},
	{"space before a colon", "GET /hook HTTP/1.1\r\nHost: h\r\nContent-Length : 2\r\n\r\nhi", other},
	{"no host", "GET /hook HTTP/1.1\r\n\r\n", other},
	{"an empty host", "GET /hook HTTP/1.1\r\nHost:\r\n\r\n", other},
	{"two hosts", "GET /hook HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", other},
	{"a host that is none", "GET /hook HTTP/1.1\r\nHost: a/b\r\n\r\n", other},
	{"a GET with a body", "GET /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi", other},
	{"zeros before the length", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 002\r\n\r\nhi", other},
	{"two lengths", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nhi", other},
	{"a list of lengths", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 2, 2\r\n\r\nhi", other},
	{"a length with a sign", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: +2\r\n\r\nhi", other},
	{"a negative length", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: -2\r\n\r\nhi", other},
	{"an empty length", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\nhi", other},
	{"a length in hexadecimal", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 0x2\r\n\r\nhi", other},
	{"a length beyond any", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551618\r\n\r\nhi", other},
	{"a call that is too long", callOf(largeBuffer + 1), other},
	{"a call that will be too long", callOf(largeBuffer + 1)[:600], other},
	{"a length beyond what fits", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 2147483647\r\n\r\n", other},
	{"a head that is too long", headOf(maxHead + 1), other},
	{"a head that grows too long", headOf(maxHead + 10)[:maxHead+1], other},
	{"chunks", "POST /hook HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", other},
	{"chunks and a length", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\ntransfer-encoding: chunked\r\n\r\nhi", other},
	{"a wish to go on", "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", other},
	{"a connection that ends", "GET /hook HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", other},
	{"a connection that stays and ends", "GET /hook HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, close\r\n\r\n", other},
	{"another protocol", "GET /hook HTTP/1.1\r\nHost: h\r\nUpgrade: h2c\r\n\r\n", other},
	{"trailers", "GET /hook HTTP/1.1\r\nHost: h\r\nTrailer: X\r\n\r\n", other},
	{"a header that net/http makes another of", "GET /hook HTTP/1.1\r\nHost: h\r\nPragma: no-cache\r\n\r\n", other},
}

// headOf returns a call with a head of that length, its end not counted.
func headOf(length int) string {
	head := "GET /hook HTTP/1.1\r\nHost: h\r\nX: "
	return head + strings.Repeat("x", length-len(head)) + endOfHead
}

// callOf returns a call of that length.
func callOf(length int) string {
	head := "POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 65000\r\nX: "
	return head + strings.Repeat("x", length-len(head)-len(endOfHead)-65000) + endOfHead + strings.Repeat("y", 65000)
}

func TestRead(t *testing.T) {
	for _, test := range calls {
		t.Run(test.name, func(t *testing.T) {
			if _, _, found := read([]byte(test.text), blank); found != test.found {
				t.Errorf("found %d, want %d", found, test.found)
			}
			sameToBoth(t, []byte(test.text))
		})
	}
}

// FuzzRead: what is a plain call here is the same request to net/http, with the
// same bytes behind it; and it is one however it arrives. The server of net/http
// checks hosts, names and values again: the lane takes fewer characters in each.
func FuzzRead(f *testing.F) {
	for _, call := range calls {
		if len(call.text) < 1000 {
			f.Add([]byte(call.text))
		}
	}
	f.Fuzz(sameToBoth)
}

func sameToBoth(t *testing.T, data []byte) {
	got, size, kind := read(data, blank)
	if kind != whole {
		return
	}
	from := bufio.NewReader(bytes.NewReader(data))
	want, err := http.ReadRequest(from)
	if err != nil {
		t.Fatalf("net/http refuses it: %v", err)
	}
	if diff := cmp.Diff(told(t, want), told(t, got)); diff != "" {
		t.Errorf("it differs from the request of net/http (-net/http +lane):\n%s", diff)
	}
	behind, err := io.ReadAll(from)
	if err != nil || !bytes.Equal(behind, data[size:]) {
		t.Errorf("behind it is %q, to net/http %q, %v", data[size:], behind, err)
	}
	head := bytes.Index(data, []byte(endOfHead)) + len(endOfHead)
	for i := range min(size, 512) {
		_, known, kind := read(data[:i], blank)
		if kind != part || i < head && known != 0 || i >= head && known != size {
			t.Errorf("the first %d bytes are %d of a call of %d bytes, want a part of %d", i, kind, known, size)
		}
	}
}

// told returns all that a request says.
func told(t *testing.T, r *http.Request) map[string]any {
	t.Helper()
	content, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"method": r.Method, "uri": r.RequestURI, "url": *r.URL, "host": r.Host, "header": r.Header,
		"proto": r.Proto, "major": r.ProtoMajor, "minor": r.ProtoMinor,
		"length": r.ContentLength, "body": string(content), "no body": r.Body == http.NoBody,
		"encoding": r.TransferEncoding, "close": r.Close, "trailer": r.Trailer,
	}
}
