package client

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice"
)

func TestBodiesAreMadeAnew(t *testing.T) {
	for name, test := range map[string]struct {
		encoding sluice.Encoding
		payload  string
		want     string
		fails    bool
	}{
		"base64":         {sluice.EncodingBase64, `{"origin":"AP8K"}`, "\x00\xff\n", false},
		"no base64":      {sluice.EncodingBase64, `{"origin":"?"}`, "", true},
		"text":           {sluice.EncodingText, `"a\n\"b\""`, "a\n\"b\"", false},
		"json":           {sluice.EncodingJSON, `{"n":1.10}`, `{"n":1.10}`, false},
		"none":           {sluice.EncodingNone, ``, "", false},
		"of the future":  {"yaml", `"x"`, `"x"`, false},
		"malformed text": {sluice.EncodingText, `{`, "", true},
	} {
		e := sluice.Event{PayloadEncoding: test.encoding, Payload: json.RawMessage(test.payload), ContentType: "a/b"}
		body, contentType, err := bodyOf(e)
		if (err != nil) != test.fails || !test.fails && (string(body) != test.want || contentType != "a/b") {
			t.Errorf("%s: got %q, %s, %v", name, body, contentType, err)
		}
	}
}

func TestFilesAreMadeAnew(t *testing.T) {
	e := sluice.Event{PayloadEncoding: sluice.EncodingFiles, Payload: json.RawMessage(`{"files":[
		{"filename":"a \"b\".bin","contentType":"application/x-a","origin":"AP8=","encoding":"base64"},
		{"filename":"t.txt","contentType":"text/plain","origin":"text","encoding":"text"}]}`)}
	body, contentType, err := bodyOf(e)
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Fatal(err)
	}
	form, err := multipart.NewReader(strings.NewReader(string(body)), params["boundary"]).ReadForm(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, header := range form.File["file"] {
		file, err := header.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, _ := io.ReadAll(file)
		got = append(got, header.Filename+" "+header.Header.Get("Content-Type")+" "+string(content))
	}
	if want := "a \"b\".bin application/x-a \x00\xff|t.txt text/plain text"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}
}

// TestForwardedOnce: what may have arrived is done, what can't have is not.
func TestForwardedOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Te") != "" || r.Header.Get("X-Kept") != "yes" || r.Header.Get("svc-trace-id") != "abcdef:1" {
			t.Errorf("headers %v", r.Header)
		}
		panic(http.ErrAbortHandler) // as a program that crashes
	}))
	f, err := NewForwarder(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer f.http.CloseIdleConnections()
	e := sluice.Event{TraceID: "abcdef:1", PayloadEncoding: sluice.EncodingNone, Headers: sluice.Headers{{Name: "te", Value: "x"}, {Name: "x-kept", Value: "yes"}}}
	if done := f.Forward(t.Context(), e); !done.Done || done.Err == nil || done.Status != 0 {
		t.Errorf("to a program that crashes: %+v", done)
	}
	server.Close()
	if done := f.Forward(t.Context(), e); done.Done || done.Err == nil {
		t.Errorf("to a program that is not there: %+v", done)
	}
	e.PayloadEncoding = sluice.EncodingText
	if done := f.Forward(t.Context(), e); !done.Done || done.Err == nil {
		t.Errorf("of an event that can't be: %+v", done)
	}
	for _, target := range []string{"", "localhost:port", "ftp://x", "http://"} {
		if _, err := NewForwarder(target); err == nil {
			t.Errorf("%q is taken for a target", target)
		}
	}
}
