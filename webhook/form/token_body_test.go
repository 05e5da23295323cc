package form

import (
	"bytes"
	"errors"
	"io"
	"math"
	"mime/multipart"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sluice"
)

// TestSearchForATokenAllocatesLittle: what a stranger sends costs no memory
// beside its bytes, however many pieces it is made of.
func TestSearchForATokenAllocatesLittle(t *testing.T) {
	const size = 1 << 20
	fill := func(piece string) string { return strings.Repeat(piece, size/len(piece)) }
	for name, test := range map[string]struct{ contentType, body string }{
		"a form of nothing":     {"application/x-www-form-urlencoded", fill("&")},
		"a form of fields":      {"application/x-www-form-urlencoded", fill("a&")},
		"fields like tokens":    {"application/x-www-form-urlencoded", fill("toke%&")},
		"an object":             {"application/json", `{"token":""` + fill(`,"a":1`) + `}`},
		"an object of objects":  {"application/json", `{"a":{}` + fill(`,"b":{"token":"x"}`) + `}`},
		"parts":                 {"multipart/form-data; boundary=b", fill("--b\r\n\r\n\r\n")},
		"lines like delimiters": {"multipart/form-data; boundary=b", "--b\r\n\r\n" + fill("x--b")},
	} {
		t.Run(name, func(t *testing.T) {
			body := []byte(test.body)
			allocated := uint64(math.MaxUint64)
			for range 10 { // others allocate as well
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, _, _ = BodyToken(test.contentType, body)
				runtime.ReadMemStats(&after)
				allocated = min(allocated, after.TotalAlloc-before.TotalAlloc)
			}
			if allocated > size+size/4 { // a copy without the token is allowed
				t.Errorf("the search in %d bytes allocates %d", len(body), allocated)
			}
		})
	}
}

// FuzzPartToken: the search finds the token where a reader of multipart bodies
// finds it.
func FuzzPartToken(f *testing.F) {
	const head = "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n"
	for _, body := range []string{
		head + "\r\nsecret\r\n--b--\r\n",
		head + "Content-Type: text/plain\r\n\r\nsecret\r\n--b--",
		head + "\r\nsecret\r\n" + head + "\r\nsecret\r\n--b--\r\n",
		"preamble\r\n" + head + "\r\n\r\n--b--\r\n",
		"--b\nContent-Disposition: form-data; name=token\n\nsecret\n--b--\n",
		"--b\r\nContent-Disposition: form-data; name=\"token\"; filename=\"x\"\r\n\r\nno\r\n--b--\r\n",
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"token\"\r\n\r\nno\r\n--b--\r\n",
		head + "\r\nse\r\n--bcret\r\n--b--\r\n",
		"--b\r\nContent-Disposition: form-data; name=\"token\"\r\n ; filename=x\r\n\r\nno\r\n--b--\r\n",
		"--b\r\nContent-Disposition: form-data;\r\n name=\"token\"\r\n\r\nsecret\r\n--b--\r\n",
		"--b--\n" + head + "\r\nsecret\r\n--b--\r\n",
		"--b \t\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nsecret\r\n--b  \r\n\r\n\r\n--b--\r\n",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		tokens, ok := tokensByReader(body)
		if !ok {
			return
		}
		got, err := partToken(body, "b")
		if err != nil && sluice.AsError(err).Code == "multipart-malformed" {
			return // mixed line ends, which nobody sends
		}
		want, wantErr := agree(tokens)
		if (err != nil) != (wantErr != nil) || err == nil && strings.TrimRight(got, "\r\n") != strings.TrimRight(want, "\r\n") { // mixed line ends
			t.Fatalf("the token is %q, %v; a reader finds %q", got, err, tokens)
		}
	})
}

// tokensByReader returns the tokens that mime/multipart finds in a body, if it is
// one that is accepted.
func tokensByReader(body []byte) (tokens []string, ok bool) {
	up, err := ParseUpload("multipart/form-data; boundary=b", body, Upload{})
	if err != nil || up == nil {
		return nil, false
	}
	reader := multipart.NewReader(bytes.NewReader(body), "b")
	for {
		part, err := reader.NextRawPart()
		if err != nil {
			return tokens, errors.Is(err, io.EOF)
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, false
		}
		if part.FormName() == "token" && part.FileName() == "" {
			written := strings.Join(part.Header["Content-Disposition"], "")
			if !strings.Contains(written, "token") || len(part.Header["Content-Disposition"]) > 1 || slices.Contains(content, '\n') {
				return nil, false // written in a way that no sender uses
			}
			tokens = append(tokens, string(content[:min(len(content), maxToken)]))
		}
	}
}
