package form

import (
	"encoding/json"
	"mime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzParseUpload: whatever a multipart body says, it is taken as a whole or not
// at all, and what is taken is harmless.
func FuzzParseUpload(f *testing.F) {
	const head = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n"
	for _, body := range []string{
		head + "\r\nhi\r\n--b--\r\n",
		head + "Content-Type: text/plain\r\n\r\nhi\r\n" + head + "\r\n\xff\r\n--b--",
		head + "\r\nhi\r\n--b\r\n", // cut behind a boundary
		head + "\r\nhi\r\n--b\r\nContent-Disposition: form-",
		head + "\r\nhi\r\n",
		"--b--\r\n",
		"hello",
		"",
		"--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nsecret\r\n--b--\r\n",
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename*=UTF-8''..%2f%00%01.\r\n\r\n\r\n--b--\r\n",
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"C:\\..\\x\"\r\n\r\n\r\n--b--\r\n",
		"--b\nContent-Disposition: form-data; name=file\n\nhi\n--b--\n",
		strings.Repeat("--b\r\n\r\n\r\n", 300) + "--b--\r\n",
	} {
		f.Add("multipart/form-data; boundary=b", []byte(body))
	}
	f.Add("multipart/form-data", []byte("--b--"))
	f.Add("multipart/form-data; boundary=b; boundary=c", []byte("--b--"))
	f.Add("multipart/form-data; boundary=\"a b\"", []byte("--a b--"))
	f.Add("multipart/form-database", []byte("--b--"))
	f.Add("text/plain", []byte("--b--"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		up, err := ParseUpload(contentType, body, Upload{})
		if err != nil || up == nil {
			return
		}
		_, params, err := mime.ParseMediaType(contentType)
		if err != nil || !strings.Contains(string(body), "--"+params["boundary"]+"--") {
			t.Fatalf("a body without its last boundary was taken: %q, %v", body, err)
		}
		if len(up.files) > maxParts {
			t.Fatalf("%d files were taken", len(up.files))
		}
		for _, f := range up.files {
			wantHarmless(t, f.name)
		}
		for _, raw := range []bool{false, true} {
			wantSameFiles(t, up, raw)
		}
	})
}

// wantHarmless checks that a file name names a file and nothing else.
func wantHarmless(t *testing.T, name string) {
	t.Helper()
	switch {
	case name == "." || name == "..":
		t.Fatalf("the file name %q is a folder", name)
	case strings.ContainsAny(name, `/\`):
		t.Fatalf("the file name %q has folders", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		t.Fatalf("the file name %q has control characters", name)
	case len(name) > maxFilename:
		t.Fatalf("the file name has %d bytes", len(name))
	case !utf8.ValidString(name):
		t.Fatalf("the file name %q is no UTF-8", name)
	}
}

// wantSameFiles checks that a consumer of the payload gets the files to the byte.
func wantSameFiles(t *testing.T, up *Upload, raw bool) {
	t.Helper()
	var payload struct {
		Files []struct {
			Filename    string          `json:"filename"`
			ContentType string          `json:"contentType"`
			Encoding    string          `json:"encoding"`
			Length      int             `json:"length"`
			Origin      json.RawMessage `json:"origin"`
		} `json:"files"`
	}
	if err := json.Unmarshal(up.AppendJSON(nil, raw), &payload); err != nil {
		t.Fatal(err)
	}
	if payload.Files == nil || len(payload.Files) != len(up.files) {
		t.Fatalf("%d of %d files are carried", len(payload.Files), len(up.files))
	}
	for i, got := range payload.Files {
		content := decodeOrigin(t, got.Origin, got.Encoding)
		if content != string(up.files[i].content) || got.Length != len(content) || got.Filename != up.files[i].name {
			t.Fatalf("file %d is %+v with %q, want %+v", i, got, content, up.files[i])
		}
		if !raw && got.Encoding != "base64" {
			t.Fatalf("file %d is carried as %s", i, got.Encoding)
		}
	}
}

// decodeOrigin returns the bytes behind a text or base64 string.
func decodeOrigin(t *testing.T, origin json.RawMessage, encoding string) string {
	t.Helper()
	var text string
	var content []byte
	switch encoding {
	case "text":
		if err := json.Unmarshal(origin, &text); err != nil {
			t.Fatal(err)
		}
		return text
	case "base64":
		if err := json.Unmarshal(origin, &content); err != nil { // decodes base64
			t.Fatal(err)
		}
		return string(content)
	}
	t.Fatalf("the encoding is %q", encoding)
	return ""
}

// FuzzBaseName: no file name can be harmful, however it came.
func FuzzBaseName(f *testing.F) {
	for _, name := range []string{
		"a.txt", "../../etc/passwd", `C:\x`, `..\..`, ".", "..", "/", "", "a/", ".\x01.", "\x00", "a\u0085b", "\u202e",
		"\xff", strings.Repeat("ü", 200), "..\x7f", "\x01/..", strings.Repeat("a", 254) + "\u20ac", "./\x00.",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) { wantHarmless(t, baseName(name)) })
}
