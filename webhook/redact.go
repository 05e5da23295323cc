package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice"
	"sluice/value"
	"sluice/webhook/form"
)

// redacted stands for a member that is not stored.
const redacted = "***"

const (
	maxRedacted     = 100
	maxRedactedPath = 200
)

var validRedaction = regexp.MustCompile(`^(payload(\[\*\])*(\.[^.\[\]]+(\[\*\])*)+|payload(\[\*\])+|(headers|query)\.[^.\[\]]+)$`)

// redactionsOf returns the paths of a put as they are stored.
func redactionsOf(given []string) ([]string, error) {
	if len(given) > maxRedacted {
		return nil, sluice.InvalidParameter("redact", "The parameter redact has at most %d paths.", maxRedacted)
	}
	var paths []string
	for _, path := range given {
		if len(path) > maxRedactedPath || !utf8.ValidString(path) || !validRedaction.MatchString(path) {
			return nil, sluice.InvalidParameter("redact", "A path of the parameter redact is payload., headers. or query. and a name, such as payload.card.number, payload.items[*].email or headers.x-customer.")
		}
		if strings.HasPrefix(path, "headers.") {
			path = strings.ToLower(path)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// checkRedact refuses paths into a payload that is carried as bytes.
func checkRedact(hook *sluice.Webhook) error {
	if inner, _ := descend(hook.Redact, "payload"); len(inner) > 0 && hook.PayloadType == sluice.Base64 {
		return sluice.InvalidParameter("redact", "A payload in base64 has no members to redact; set payloadType to raw, or to ignore.")
	}
	return nil
}

// redact replaces what the webhook does not store, once the call was checked. It reports
// whether the webhook has such members.
func (in *incoming) redact() bool {
	if len(in.hook.Redact) == 0 || in.redacted {
		return in.redacted
	}
	in.redacted = true
	request, address := *in.request, *in.request.URL
	request.URL = &address
	contentType := request.Header.Get("Content-Type")
	if paths, _ := descend(in.hook.Redact, "headers"); paths != nil {
		request.Header = redactHeaders(&request, paths)
	}
	if paths, _ := descend(in.hook.Redact, "query"); paths != nil {
		address.RawQuery = redactForm(address.RawQuery, paths)
		in.query, _ = form.ParseQuery(in.query[:0], address.RawQuery) // it was well-formed before
	}
	in.request = &request
	if paths, _ := descend(in.hook.Redact, "payload"); paths != nil {
		in.body = redactBody(contentType, in.body, paths)
		if in.raw != nil {
			in.raw = in.body
		}
		if in.files != nil {
			in.files, _ = form.ParseUpload(contentType, in.body, form.Upload{All: in.files.All, NoToken: in.files.NoToken}) // what can't be parsed is text
		}
	}
	return true
}

func redactHeaders(r *http.Request, paths []string) http.Header {
	header := r.Header.Clone()
	for name := range header {
		if slices.Contains(paths, lower(name)) {
			header[name] = []string{redacted}
		}
	}
	if slices.Contains(paths, "host") {
		r.Host = redacted
	}
	return header
}

// redactBody returns a body without the members at the paths. One that has no members is
// replaced as a whole.
func redactBody(contentType string, body []byte, paths []string) []byte {
	media, params, _ := mime.ParseMediaType(contentType)
	switch {
	case len(body) == 0:
		return body
	case media == form.Multipart:
		if changed, err := redactUpload(body, params["boundary"], paths); err == nil {
			return changed
		}
	case media == "application/x-www-form-urlencoded" && utf8.Valid(body):
		return []byte(redactForm(string(body), paths))
	case isJSONBody(contentType, body):
		r := redaction{body: body, out: make([]byte, 0, len(body)+64)}
		if c := r.next(); c == '{' || c == '[' {
			r.value(paths)
			return append(r.out, body[r.copied:]...)
		}
	}
	return []byte(redacted)
}

// redactForm returns a form or a query without the values at the paths. A name such as
// customer[email] counts as the member customer.email.
func redactForm(form string, paths []string) string {
	pairs := strings.Split(form, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if value != "" && (err != nil || covered(paths, plain) || covered(paths, formPath(plain))) {
			pairs[i] = name + "=" + redacted
		}
	}
	return strings.Join(pairs, "&")
}

func formPath(name string) string {
	parts := strings.Split(name, "[")
	var path strings.Builder
	path.WriteString(parts[0])
	for _, part := range parts[1:] {
		part = strings.TrimSuffix(part, "]")
		if _, err := strconv.Atoi(part); part == "" || err == nil {
			path.WriteString("[*]")
		} else {
			path.WriteString("." + part)
		}
	}
	return path.String()
}

// covered reports whether a text at a place is redacted: a path leads there, to something
// around it, or into it.
func covered(paths []string, place string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		for _, pair := range [][2]string{{path, place}, {place, path}} {
			if rest, ok := strings.CutPrefix(pair[0], pair[1]); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return true
			}
		}
		return false
	})
}

// redactUpload returns a multipart body without the fields and files at the paths.
func redactUpload(body []byte, boundary string, paths []string) ([]byte, error) {
	var out bytes.Buffer
	writer, reader := multipart.NewWriter(&out), multipart.NewReader(bytes.NewReader(body), boundary)
	if err := writer.SetBoundary(boundary); err != nil {
		return nil, err
	}
	for {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			err = writer.Close()
			return out.Bytes(), err
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		name, filename := part.FormName(), part.FileName()
		isFile := name == "file" || filename != "" || !utf8.Valid(content)
		if covered(paths, "fields."+name) || isFile && covered(paths, "files[*].origin") {
			content = []byte(redacted)
		}
		if filename != "" && covered(paths, "files[*].filename") {
			part.Header.Set("Content-Disposition", fmt.Sprintf("form-data; name=%q; filename=%q", name, redacted))
		}
		to, err := writer.CreatePart(part.Header)
		if err == nil {
			_, err = to.Write(content)
		}
		if err != nil {
			return nil, err
		}
	}
}

// descend returns the paths that lead into a member, and whether one leads to it. Items
// of an array are the member [*].
func descend(paths []string, member string) (inner []string, whole bool) {
	for _, path := range paths {
		rest, ok := strings.CutPrefix(path, member)
		switch {
		case !ok:
		case rest == "":
			whole = true
		case rest[0] == '.':
			inner = append(inner, rest[1:])
		case rest[0] == '[':
			inner = append(inner, rest)
		}
	}
	return inner, whole
}

// A redaction copies valid JSON without the members at some paths.
type redaction struct {
	body   []byte
	at     int // what is read next
	out    []byte
	copied int // how much of the body is in out, or was left out
}

// value reads an object or an array, or skips another value.
func (r *redaction) value(paths []string) {
	switch r.next() {
	case '{':
		for r.at++; r.next() != '}'; {
			if r.body[r.at] == ',' {
				r.at++
				continue
			}
			start := r.at
			r.skip()
			name := r.body[start:r.at]
			r.next() // the colon
			r.at++
			r.member(descend(paths, memberName(name)))
		}
		r.at++
	case '[':
		inner, whole := descend(paths, "[*]")
		for r.at++; r.next() != ']'; {
			if r.body[r.at] == ',' {
				r.at++
				continue
			}
			r.member(inner, whole)
		}
		r.at++
	default:
		r.skip()
	}
}

func memberName(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var name string
	_ = json.Unmarshal(quoted, &name) // it is valid
	return name
}

func (r *redaction) member(inner []string, whole bool) {
	r.next()
	start := r.at
	if !whole && inner != nil {
		r.value(inner)
		return
	}
	r.skip()
	if whole {
		r.out = append(append(r.out, r.body[r.copied:start]...), `"`+redacted+`"`...)
		r.copied = r.at
	}
}

// next skips spaces and returns the byte after them.
func (r *redaction) next() byte {
	r.at = value.SkipSpace(r.body, r.at)
	return r.body[r.at]
}

func (r *redaction) skip() { r.at = value.SkipValue(r.body, r.at) }
