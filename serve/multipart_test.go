package serve_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file is a part of a multipart body as its event carries it.
type file struct {
	Filename    string `json:"filename"`
	ContentType string `json:"contentType"`
	Length      int    `json:"length"`
	Origin      string `json:"origin"`
}

// wantFiles checks that an event carries exactly these files.
func wantFiles(want ...file) func(*testing.T, stored) {
	return func(t *testing.T, e stored) {
		t.Helper()
		var payload struct {
			Files []file `json:"files"`
		}
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			t.Fatal(err)
		}
		if payload.Files == nil {
			t.Errorf("payload.files is no array: %s", e.Payload)
		}
		if diff := cmp.Diff(append([]file{}, want...), payload.Files); diff != "" {
			t.Errorf("the event carries other files (-want +got):\n%s", diff)
		}
		if e.PayloadEncoding != "files" {
			t.Errorf("payloadEncoding is %q, want files", e.PayloadEncoding)
		}
	}
}

// part is a part of a body whose boundary is b.
func part(disposition, content string, more ...string) string {
	head := append([]string{"--b", "Content-Disposition: form-data; " + disposition}, more...)
	return strings.Join(head, "\r\n") + "\r\n\r\n" + content + "\r\n"
}

// filePart is a file named a.
func filePart(content string, more ...string) string {
	return part(`name="file"; filename="a"`, content, more...)
}

const end = "--b--\r\n"

// multipartCall is a call with a multipart body.
func multipartCall(contentType, body string) string {
	return request("POST {receive} HTTP/1.1", "Host: sluice", "Token: {token}", "Content-Type: "+contentType, "Content-Length: {length}") + body
}

// TestMultipart: the files of an upload come with the event, nothing else does.
func TestMultipart(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.upload", "maxPayloadLength", 4<<20)
	quoted := "Content-Transfer-Encoding: quoted-printable"
	cases := []rawCase{
		{name: "one file", request: multipartCall(upload, filePart("hi", "Content-Type: text/plain")+end), stores: wantFiles(file{"a", "text/plain", 2, "aGk="})},
		{name: "several files", request: multipartCall(upload, filePart("hi")+filePart("\x00\xff")+filePart("")+end), stores: wantFiles(file{"a", "", 2, "aGk="}, file{"a", "", 2, "AP8="}, file{"a", "", 0, ""})},
		{name: "parts of other names are ignored", request: multipartCall(upload, part(`name="note"`, "x")+part(`name="File"; filename="b"`, "x")+filePart("hi")+end), stores: wantFiles(file{"a", "", 2, "aGk="})},
		{name: "no file at all", request: multipartCall(upload, part(`name="note"`, "x")+end), stores: wantFiles()},
		{name: "no part at all", request: multipartCall(upload, end), stores: wantFiles()},
		{name: "256 parts", request: multipartCall(upload, strings.Repeat(part(`name="x"`, ""), 255)+filePart("hi")+end), stores: wantFiles(file{"a", "", 2, "aGk="})},
		{name: "a boundary of 70 characters", request: multipartCall("multipart/form-data; boundary="+strings.Repeat("b", 70), strings.ReplaceAll(filePart("hi")+end, "--b", "--"+strings.Repeat("b", 70))), stores: wantFiles(file{"a", "", 2, "aGk="})},
		{name: "a type in upper case with a quoted boundary", request: multipartCall(`Multipart/Form-Data; Boundary="b"`, filePart("hi")+end), stores: wantFiles(file{"a", "", 2, "aGk="})},
		{name: "text before and behind", request: multipartCall(upload, "to whom it concerns\r\n"+filePart("hi")+end+"the end"), stores: wantFiles(file{"a", "", 2, "aGk="})},
		{name: "a part with a transfer encoding is not decoded", request: multipartCall(upload, filePart("aGk=", "Content-Transfer-Encoding: base64")+filePart("=41", quoted)+end), stores: wantFiles(file{"a", "", 4, "YUdrPQ=="}, file{"a", "", 3, "PTQx"})},
		{name: "a multipart in a part is opaque", request: multipartCall(upload, filePart("--c\r\n\r\nx\r\n--c--", "Content-Type: multipart/mixed; boundary=c")+end), stores: wantFiles(file{"a", "multipart/mixed; boundary=c", 15, "LS1jDQoNCngNCi0tYy0t"})},
		{name: "another multipart type is a body like any", request: multipartCall("multipart/mixed; boundary=b", "--b\r\n\r\nx\r\n--b--"), stores: wantOrigin("--b\r\n\r\nx\r\n--b--")},
	}
	for i := range cases {
		cases[i].status = 200
	}
	suite{s, tokens(hook), cases}.run(t)
}

// TestMultipartFilenames: a file name is data. It names no folder, breaks no
// line, and is not too long.
func TestMultipartFilenames(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.names")
	cases := []rawCase{}
	for _, name := range []struct{ about, given, want string }{
		{"plain", `filename="a.txt"`, "a.txt"},
		{"letters beyond ASCII", `filename="übung.txt"`, "übung.txt"},
		{"a way up", `filename="../../etc/passwd"`, "passwd"},
		{"an absolute path", `filename="/etc/passwd"`, "passwd"},
		{"a Windows path", `filename="C:\\temp\\x.txt"`, "x.txt"},
		{"a Windows path, not escaped", `filename="C:\temp\x.txt"`, "x.txt"},
		{"the folder above", `filename=".."`, ""},
		{"the folder above, behind a folder", `filename="a/.."`, ""},
		{"the folder above, in pieces", `filename*=UTF-8''.%01.`, ""},
		{"empty", `filename=""`, ""},
		{"encoded by RFC 2231", `filename*=UTF-8''%e2%82%ac.txt`, "€.txt"},
		{"a path encoded by RFC 2231", `filename*=UTF-8''..%2f..%2fx`, "x"},
		{"a line break encoded by RFC 2231", `filename*=UTF-8''a%0d%0ab%00c`, "abc"},
		{"a control character beyond ASCII", `filename*=UTF-8''a%c2%85b`, "ab"},
		{"10 kB", `filename="` + strings.Repeat("x", 10_000) + `"`, strings.Repeat("x", 255)},
		{"cut within a letter", `filename="` + strings.Repeat("x", 254) + `ü"`, strings.Repeat("x", 254)},
	} {
		cases = append(cases, rawCase{
			name: name.about, request: multipartCall(upload, part(`name="file"; `+name.given, "hi")+end),
			status: 200, stores: wantFiles(file{name.want, "", 2, "aGk="}),
		})
	}
	suite{s, tokens(hook), cases}.run(t)
}

// TestMultipartRefused: an upload is taken as a whole or not at all.
func TestMultipartRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.malformed")
	small := s.create("webhook.small", "maxPayloadLength", 100)
	cases := []rawCase{
		{name: "no boundary", request: multipartCall("multipart/form-data", filePart("hi")+end)},
		{name: "an empty boundary", request: multipartCall("multipart/form-data; boundary=", filePart("hi")+end)},
		{name: "two boundaries", request: multipartCall("multipart/form-data; boundary=b; boundary=c", filePart("hi")+end)},
		{name: "a boundary of 71 characters", request: multipartCall("multipart/form-data; boundary="+strings.Repeat("b", 71), strings.ReplaceAll(filePart("hi")+end, "--b", "--"+strings.Repeat("b", 71)))},
		{name: "an empty body", request: multipartCall(upload, "")},
		{name: "never the boundary", request: multipartCall(upload, "hi")},
		{name: "cut within a file", request: multipartCall(upload, filePart("hi")+filePart("cut"))},
		{name: "cut within the header of a part", request: multipartCall(upload, filePart("hi")+"--b\r\nContent-Disposition: form-")},
		{name: "cut behind a boundary", request: multipartCall(upload, filePart("hi")+"--b\r\n")},
		{name: "cut within the last boundary", request: multipartCall(upload, filePart("hi")+"--b")},
		{name: "cut within the last boundary, at its dash", request: multipartCall(upload, filePart("hi")+"--b-")},
		{name: "a line that is no header", request: multipartCall(upload, "--b\r\nhello\r\n\r\nhi\r\n"+end)},
		{name: "a NUL in the header of a part", request: multipartCall(upload, part("name=\"file\"; filename=\"a\x00b\"", "hi")+end)},
		{name: "a huge header of a part", request: multipartCall(upload, filePart("hi", "X-Long: "+strings.Repeat("x", 64<<10))+end)},
		{name: "many headers of a part", request: multipartCall(upload, filePart("hi", strings.Repeat("X-Many: x\r\n", 10_000)+"X: x")+end)},
	}
	for i := range cases {
		cases[i].status, cases[i].code = 400, "multipart-malformed"
	}
	cases = append(cases,
		rawCase{
			name: "257 parts", request: multipartCall(upload, strings.Repeat(part(`name="x"`, ""), 256)+filePart("hi")+end),
			status: 413, code: "too-many-parts",
		},
		rawCase{
			name:    "ignored parts count in size",
			request: strings.Replace(multipartCall(upload, part(`name="x"`, strings.Repeat("x", 100))+filePart("hi")+end), "{token}", "{small}", 1),
			status:  413, code: "payload-too-large", closes: true,
		})
	suite{s, append(tokens(hook), "{small}", small.UUID), cases}.run(t)
}

// TestMultipartNeedsNoDisk: an upload stays in memory, so it can't fill the disk
// beside the store. Here there is no folder for temporary files.
func TestMultipartNeedsNoDisk(t *testing.T) {
	s := start(t)
	hook := s.create("webhook.memory", "maxPayloadLength", 4<<20)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	body := part(`name="x"; filename="x"`, strings.Repeat("x", 2<<20)) + filePart(strings.Repeat("x", 2<<20-1000)) + end
	s.call(hook, upload, body).wantStatus(t, 200)
}

// TestAFileInAnotherCharset: a CSV file in Latin-1 is read right with its charset,
// and refused without it; it is never read as something else.
func TestAFileInAnotherCharset(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	const upload = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\nname,city\nM\xfcller,Berlin\n\r\n--x--\r\n"
	for _, payloadType := range []string{"raw", "base64"} {
		key := "webhook.csv." + payloadType
		hook := s.create(key, "payloadType", payloadType)
		convert := func(more string) result {
			t.Helper()
			s.store("csv", listening(key, "convert.fromCsv: {input: '#{body.payload.files[0].origin}'"+more+"}")).wantStatus(t, 200)
			return s.call(hook, "multipart/form-data; boundary=x", upload).result(t)
		}
		if got := toText(t, convert(", charset: iso-8859-1").Value); got != `[{"city":"Berlin","name":"Müller"}]` {
			t.Errorf("%s: with its charset it is %s", payloadType, got)
		}
		if got := convert(""); got.Status != "error" || got.Value != nil {
			t.Errorf("%s: without its charset it is %+v", payloadType, got)
		}
	}
}
