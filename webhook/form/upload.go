package form

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/emmansun/base64" // several times as fast as that of Go

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

// Multipart is the media type of forms with files.
const Multipart = "multipart/form-data"

// An Upload is a multipart body: its files, and its fields if All is set.
type Upload struct {
	All      bool
	NoToken  bool // the field token is left out, since it is the webhook's
	files    []file
	names    []string            // of fields, in their order
	contents map[string][]string // of fields
}

type file struct {
	part        string // its name
	name        string
	contentType string
	content     []byte
}

// ParseUpload reads a multipart/form-data body as wanted. It returns nil for other
// bodies.
func ParseUpload(contentType string, body []byte, wanted Upload) (*Upload, error) {
	if len(contentType) < len(Multipart) || !strings.EqualFold(contentType[:len(Multipart)], Multipart) {
		return nil, nil // most calls: not worth parsing the type
	}
	media, params, err := mime.ParseMediaType(contentType)
	if media != Multipart && err == nil {
		return nil, nil
	}
	boundary := params["boundary"]
	if err != nil || boundary == "" || len(boundary) > maxBoundary {
		return nil, badBoundary()
	}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	up := &wanted
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

// closed reports whether a body has its final boundary. Without one, the reader takes
// a body that was cut short in the header of a part for complete.
func closed(body []byte, boundary string) bool {
	end := []byte("--" + boundary + "--")
	return bytes.HasPrefix(body, end) || bytes.Contains(body, append([]byte("\n"), end...))
}

// add reads a part within its bounds, and keeps it if it is wanted.
func (u *Upload) add(part *multipart.Part) error {
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
	u.sort(part, content)
	return nil
}

// sort keeps a part as a file, as a field, or not at all. A field that is no text
// counts as a file, so that nothing of it is lost.
func (u *Upload) sort(part *multipart.Part, content []byte) {
	name, filename := part.FormName(), part.FileName()
	switch {
	case name == "file" || u.All && (filename != "" || !utf8.Valid(content)):
		u.files = append(u.files, file{name, baseName(filename), part.Header.Get("Content-Type"), content})
	case !u.All || u.NoToken && name == "token":
	default:
		name = strings.ToValidUTF8(name, "\ufffd")
		if u.contents == nil {
			u.contents = make(map[string][]string)
		}
		if _, known := u.contents[name]; !known {
			u.names = append(u.names, name)
		}
		u.contents[name] = append(u.contents[name], string(content))
	}
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

// AppendJSON appends the payload of an upload. With raw, files that are text are
// carried as text.
func (u *Upload) AppendJSON(b []byte, raw bool) []byte {
	b = append(b, `{"files":[`...)
	for i, f := range u.files {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		if u.All {
			b = append(b, `"name":`...)
			b = append(value.AppendString(b, strings.ToValidUTF8(f.part, "\ufffd")), ',')
		}
		b = append(b, `"filename":`...)
		b = value.AppendString(b, f.name)
		b = append(b, `,"contentType":`...)
		b = value.AppendString(b, f.contentType)
		b = append(b, `,"length":`...)
		b = strconv.AppendInt(b, int64(len(f.content)), 10)
		b = append(b, `,"origin":`...)
		b = appendOrigin(b, f.content, raw)
		b = append(b, '}')
	}
	b = append(b, ']')
	if u.All {
		b = u.appendFields(append(b, `,"fields":{`...))
	}
	return append(b, '}')
}

// appendFields appends the fields of an upload. A repeated field becomes an array.
func (u *Upload) appendFields(b []byte) []byte {
	for i, name := range u.names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(value.AppendString(b, name), ':')
		contents := u.contents[name]
		if len(contents) == 1 {
			b = value.AppendString(b, contents[0])
			continue
		}
		for j, content := range contents {
			b = append(b, "[,"[min(j, 1)])
			b = value.AppendString(b, content)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// appendOrigin appends a file's content and says how it is encoded.
func appendOrigin(b, content []byte, raw bool) []byte {
	if raw {
		if longer, ok := AppendText(b, content); ok {
			return append(longer, `,"encoding":"text"`...)
		}
	}
	return append(appendBase64(b, content), `,"encoding":"base64"`...)
}

// MaxText bounds text in an event. Escaping can make text up to six times as
// long; beyond this bound it is carried as base64, which always fits.
const MaxText = 11 << 19 // 5.5 MiB

// AppendText appends bytes as a JSON string, if they are text that fits.
func AppendText(b, text []byte) ([]byte, bool) {
	if !utf8.Valid(text) {
		return b, false
	}
	longer := value.AppendString(b, text)
	if len(longer) > MaxText {
		return b, false
	}
	return longer, true
}

// AppendBinary appends bytes as a payload in base64.
func AppendBinary(b, data []byte) []byte {
	return append(appendBase64(append(b, `{"origin":`...), data), '}')
}

// appendBase64 appends bytes as a JSON string in base64.
func appendBase64(b, data []byte) []byte {
	b = append(b, '"')
	n := base64.StdEncoding.EncodedLen(len(data))
	b = slices.Grow(b, n)
	base64.StdEncoding.Encode(b[len(b):len(b)+n], data)
	return append(b[:len(b)+n], '"')
}

func badUpload(problem string) error {
	return sluice.CodeMultipartMalformed.Errorf("The multipart body %s.", problem)
}
