package receive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/value"
	"sluice/webhook/form"
)

// redacted stands for a member that is not stored.
const redacted = "***"

// redact replaces what the webhook does not store, once the call was checked. It reports
// whether the webhook has such members.
func (f *found) redact() bool {
	if len(f.hook.Redact) == 0 || f.redacted {
		return f.redacted
	}
	f.redacted = true
	request, address := *f.request, *f.request.URL
	request.URL = &address
	contentType, all := request.Header.Get("Content-Type"), f.redactions()
	if paths, _ := descend(all, "headers"); paths != nil {
		request.Header = redactHeaders(&request, paths)
	}
	if paths, _ := descend(all, "query"); paths != nil {
		address.RawQuery = redactForm(address.RawQuery, paths)
		f.query, _ = form.ParseQuery(f.query[:0], address.RawQuery) // it was well-formed before
	}
	f.request = &request
	if paths, _ := descend(all, "payload"); paths != nil {
		f.body = redactBody(contentType, f.body, paths)
		if f.raw != nil {
			f.raw = f.body
		}
		if f.files != nil {
			// what can't be parsed is text
			f.files, _ = form.ParseUpload(contentType, f.body, form.Upload{All: f.files.All, NoToken: f.files.NoToken})
		}
	}
	return true
}

// isHidden reports whether a pointer into the payload leads to a redacted member or into one, and
// returns the pointer to that member.
func (f *found) isHidden(pointer string) (outer string, ok bool) {
	paths, _ := descend(f.redactions(), "payload")
	for i, part := range strings.SplitAfter(pointer, "/") {
		outer += part
		if i == 0 {
			continue // in front of the first slash
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(strings.TrimSuffix(part, "/"))
		inner, whole := descend(paths, part)
		if _, err := strconv.Atoi(part); err == nil {
			items, all := descend(paths, "[*]")
			inner, whole = append(inner, items...), whole || all
		}
		if paths = inner; whole {
			return strings.TrimSuffix(outer, "/"), true
		}
	}
	return pointer, false
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
		if c := body[value.SkipSpace(body, 0)]; c == '{' || c == '[' {
			r.value(0, paths)
			return append(r.out, body[r.copied:]...)
		}
	}
	return []byte(redacted)
}

// redactForm returns a form or a query without the values at the paths. A name such as
// customer[email] counts as the member customer.email.
func redactForm(form string, paths []string) string {
	hidden := hiddenAt(paths)
	var out strings.Builder
	out.Grow(len(form) + 1)
	for pair := range strings.SplitSeq(form, "&") {
		name, value, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if value != "" && (err != nil || hidden.cover(plain) || hidden.cover(formPath(plain))) {
			pair = name + "=" + redacted
		}
		out.WriteString(pair)
		out.WriteByte('&')
	}
	return strings.TrimSuffix(out.String(), "&")
}

func formPath(name string) string {
	first, rest, nested := strings.Cut(name, "[")
	if !nested {
		return name
	}
	var path strings.Builder
	path.WriteString(first)
	for part := range strings.SplitSeq(rest, "[") {
		part = strings.TrimSuffix(part, "]")
		if _, err := strconv.Atoi(part); part == "" || err == nil {
			path.WriteString("[*]")
		} else {
			path.WriteString("." + part)
		}
	}
	return path.String()
}

// hiddenPlaces are paths that are redacted, so that a name costs the same however many there are.
type hiddenPlaces struct {
	places  map[string]bool // true for a path, false for what is around one
	longest int             // of the paths
}

func hiddenAt(paths []string) hiddenPlaces {
	hidden := hiddenPlaces{places: map[string]bool{}}
	for _, path := range paths {
		hidden.longest = max(hidden.longest, len(path))
		hidden.places[path] = true
		for i, c := range path {
			if c == '.' || c == '[' {
				if _, known := hidden.places[path[:i]]; !known {
					hidden.places[path[:i]] = false
				}
			}
		}
	}
	return hidden
}

// cover reports whether a text at a place is redacted: a path leads there, to something around
// it, or into it.
func (h hiddenPlaces) cover(place string) bool {
	if _, within := h.places[place]; within {
		return true
	}
	for i, c := range place[:min(len(place), h.longest+1)] {
		if (c == '.' || c == '[') && h.places[place[:i]] {
			return true
		}
	}
	return false
}

// redactUpload returns a multipart body without the fields and files at the paths.
func redactUpload(body []byte, boundary string, paths []string) ([]byte, error) {
	var out bytes.Buffer
	writer, reader := multipart.NewWriter(&out), multipart.NewReader(bytes.NewReader(body), boundary)
	if err := writer.SetBoundary(boundary); err != nil {
		return nil, err
	}
	hidden := hiddenAt(paths)
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
		if hidden.cover("fields."+name) || isFile && hidden.cover("files[*].origin") {
			content = []byte(redacted)
		}
		if filename != "" && hidden.cover("files[*].filename") {
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
	out    []byte
	copied int // how much of the body is in out, or was left out
}

// value redacts the object or array that begins at a place.
func (r *redaction) value(at int, paths []string) {
	inner, whole := descend(paths, "[*]")
	for p := range value.Parts(r.body[at:]) {
		if p.Name != nil {
			inner, whole = descend(paths, p.Text())
		}
		start := at + p.At
		switch {
		case whole:
			r.out = append(append(r.out, r.body[r.copied:start]...), `"`+redacted+`"`...)
			r.copied = start + len(p.Value)
		case inner != nil:
			r.value(start, inner)
		}
	}
}
