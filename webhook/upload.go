package webhook

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"path"
	"strconv"
	"strings"
	"unicode"

	"sluice"
	"sluice/value"
)

// Limits of a multipart body.
const (
	maxParts      = 256
	maxPartHeader = 16 << 10
	maxBoundary   = 70 // RFC 2046
	maxFilename   = 255
	maxToken      = 64
)

const multipartForm = "multipart/form-data"

// An upload is a multipart body: its files.
type upload struct {
	files []file
}

type file struct {
	name        string
	contentType string
	content     []byte
}

// parseUpload reads a multipart/form-data body. It gives nil for other bodies.
func parseUpload(contentType string, body []byte) (*upload, error) {
	if len(contentType) < len(multipartForm) || !strings.EqualFold(contentType[:len(multipartForm)], multipartForm) {
		return nil, nil // most calls: not worth parsing the type
	}
	media, params, err := mime.ParseMediaType(contentType)
	if media != multipartForm && err == nil {
		return nil, nil
	}
	boundary := params["boundary"]
	if err != nil || boundary == "" || len(boundary) > maxBoundary {
		return nil, badBoundary()
	}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	up := new(upload)
	for n := 0; ; n++ {
		part, err := reader.NextRawPart()
		if err == io.EOF && closed(body, boundary) {
			return up, nil
		}
		if err != nil {
			return nil, badUpload("is malformed or cut short")
		}
		if n == maxParts {
			return nil, tooManyParts()
		}
		if err := up.add(part); err != nil {
			return nil, err
		}
	}
}

// closed tells whether a body has the boundary that ends it. The reader takes a
// body for ended that was cut short in the header of a part.
func closed(body []byte, boundary string) bool {
	end := []byte("--" + boundary + "--")
	return bytes.HasPrefix(body, end) || bytes.Contains(body, append([]byte("\n"), end...))
}

// add takes a part up, if it is a file.
func (u *upload) add(part *multipart.Part) error {
	size := 0
	for name, values := range part.Header {
		size += len(name) + len(strings.Join(values, ""))
	}
	if size > maxPartHeader {
		return badUpload("has a part with too large a header")
	}
	content, err := io.ReadAll(part)
	if err != nil {
		return badUpload("is malformed or cut short")
	}
	if part.FormName() == "file" {
		u.files = append(u.files, file{baseName(part.FileName()), part.Header.Get("Content-Type"), content})
	}
	return nil
}

// baseName makes a file name harmless: no folders, no control characters, not
// too long.
func baseName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	if len(name) > maxFilename {
		name = strings.ToValidUTF8(name[:maxFilename], "")
	}
	return name
}

// appendJSON appends the payload that an upload makes. Where raw is wanted,
// files that are text are carried as such.
func (u *upload) appendJSON(b []byte, raw bool) []byte {
	b = append(b, `{"files":[`...)
	for i, f := range u.files {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"filename":`...)
		b = value.AppendString(b, f.name)
		b = append(b, `,"contentType":`...)
		b = value.AppendString(b, f.contentType)
		b = append(b, `,"length":`...)
		b = strconv.AppendInt(b, int64(len(f.content)), 10)
		b = append(b, `,"origin":`...)
		b = appendOrigin(b, f.content, raw)
		b = append(b, '}')
	}
	return append(b, `]}`...)
}

// appendOrigin appends a file's content and says how it is encoded.
func appendOrigin(b, content []byte, raw bool) []byte {
	if raw {
		if longer, ok := appendText(b, content); ok {
			return append(longer, `,"encoding":"text"`...)
		}
	}
	return append(appendBase64(b, content), `,"encoding":"base64"`...)
}

func badUpload(problem string) error {
	return sluice.Errorf(sluice.Invalid, "multipart-malformed", "The multipart body %s.", problem)
}
