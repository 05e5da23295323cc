// Package form reads the parts of a call in which senders put things: the token in query,
// headers, form, JSON or multipart; the parameters of a query; and the files and fields of an
// upload. Strangers reach all of it, so it is bounded, and knows nothing of webhooks.
package form

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"

	"sluice"
	"sluice/value"
)

// Whoever sends the token in the body is a stranger until the token is found. So the
// search walks over the body by offsets. It allocates for what may be the token, and
// nothing for each pair, member or part.

// longestToken bounds the text of a token: every character escaped as in JSON, and one
// more. So a text that was cut off matches no token.
const longestToken = sluice.TokenLength*len(`\u0000`) + 1

// BodyToken looks for the token in a body that is a form, a JSON object or multipart.
// It returns the body without the token, since that is a secret. A multipart body stays
// as it is: its parts are read one by one later.
func BodyToken(contentType string, body []byte) (token string, rest []byte, err error) {
	media, params, _ := mime.ParseMediaType(contentType)
	switch {
	case media == "application/x-www-form-urlencoded":
		return formToken(body)
	case value.IsMediaType(media):
		return jsonToken(body)
	case media == Multipart:
		token, err = partToken(body, params["boundary"])
	}
	return token, body, err
}

// formToken cuts the field token out of a form.
func formToken(body []byte) (token string, rest []byte, err error) {
	found, from, to, at := false, 0, 0, 0
	for pair := range bytes.SplitSeq(body, []byte("&")) {
		if name, value, _ := bytes.Cut(pair, []byte("=")); isTokenField(name) {
			if found {
				return "", body, ambiguous()
			}
			found, from, to = true, at, at+len(pair)
			token = unescaped(value)
		}
		at += len(pair) + 1
	}
	switch {
	case !found:
		return "", body, nil
	case to < len(body):
		to++ // with the & behind it
	case from > 0:
		from-- // otherwise the one before
	}
	return token, cut(body, from, to), nil
}

// isTokenField reports whether the name of a form's field is token, escaped or not.
func isTokenField(name []byte) bool {
	const word = "token"
	if len(name) == len(word) {
		return string(name) == word
	}
	return len(name) > len(word) && len(name) <= len("%74%6f%6b%65%6e") && bytes.IndexByte(name, '%') >= 0 &&
		unescaped(name) == word
}

// unescaped returns a text of a form. What is malformed stays as it is.
func unescaped(text []byte) string {
	s := string(text[max(0, len(text)-longestToken):])
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// jsonToken cuts the member token out of a JSON object. All other bytes stay
// as they are. What is not JSON has no token.
func jsonToken(body []byte) (token string, rest []byte, err error) {
	if !json.Valid(body) {
		return "", body, nil
	}
	rest = body
	for p := range value.Parts(body) {
		if !isTokenMember(p.Name) {
			continue
		}
		if len(rest) < len(body) {
			return "", body, ambiguous()
		}
		token, rest = tokenText(p.Value), cutMember(body, p.Start, p.At+len(p.Value))
	}
	return token, rest, nil
}

// isTokenMember reports whether the name of a member is token, escaped or not.
func isTokenMember(name []byte) bool {
	const word = `"token"`
	if len(name) == len(word) {
		return string(name) == word
	}
	return len(name) > len(word) && len(name) <= len(word)*len(`\u0000`) &&
		bytes.IndexByte(name, '\\') >= 0 && tokenText(name) == "token"
}

// tokenText returns the text of a JSON value. What is no text, or far too long,
// matches no webhook.
func tokenText(value []byte) (text string) {
	if len(value) > longestToken {
		return string(value[len(value)-longestToken:])
	}
	_ = json.Unmarshal(value, &text) // see above
	return text
}

// cutMember removes the bytes from..to of an object, and the comma that parted
// them from the next member, or otherwise from the one before.
func cutMember(body []byte, from, to int) []byte {
	const space = " \t\r\n"
	behind := bytes.TrimLeft(body[to:], space)
	ahead := bytes.TrimRight(body[:from], space)
	switch {
	case bytes.HasPrefix(behind, []byte(",")):
		to = len(body) - len(behind) + 1
	case bytes.HasSuffix(ahead, []byte(",")):
		from = len(ahead) - 1
	}
	return cut(body, from, to)
}

// cut returns a copy of the body without the bytes from..to.
func cut(body []byte, from, to int) []byte {
	return append(append(make([]byte, 0, len(body)-(to-from)), body[:from]...), body[to:]...)
}

// partToken returns the content of the part token of a multipart body.
func partToken(body []byte, boundary string) (token string, err error) {
	if boundary == "" || len(boundary) > maxBoundary {
		return "", badBoundary()
	}
	delimiter, crlf := []byte("--"+boundary), []byte("\r\n")
	preamble, rest, _ := nextDelimiter(body, delimiter)
	line, _, isLine := bytes.Cut(body[len(preamble):], []byte("\n"))
	wholeLines := bytes.HasSuffix(line, []byte("\r"))
	if isLine && rest == nil && !wholeLines {
		return "", mixedLineEnds() // for others it is no delimiter: parts may follow
	}
	for parts, found := 0, false; rest != nil; parts++ {
		if parts == maxParts {
			return "", tooManyParts()
		}
		var part []byte
		var ended bool
		part, rest, ended = nextDelimiter(rest, delimiter)
		if ended && wholeLines && len(part) > 0 && !bytes.HasSuffix(part, crlf) {
			return "", mixedLineEnds() // others would read it differently
		}
		text, isToken := tokenPart(part)
		if isToken && found {
			return "", ambiguous()
		}
		if isToken {
			token, found = text, true
		}
	}
	return token, nil
}

// nextDelimiter cuts a body at the next line that is a delimiter. Behind the one
// that ends the last part, or where none is found, rest is nil.
func nextDelimiter(body, delimiter []byte) (before, rest []byte, found bool) {
	for from := 0; ; {
		i := bytes.Index(body[from:], delimiter)
		if i < 0 {
			return body, nil, false
		}
		at := from + i
		from = at + len(delimiter)
		if at > 0 && body[at-1] != '\n' {
			continue
		}
		line, rest, isLine := bytes.Cut(body[from:], []byte("\n"))
		behind, isLast := bytes.CutPrefix(line, []byte("--"))
		switch {
		case len(bytes.TrimLeft(bytes.TrimSuffix(behind, []byte("\r")), " \t")) > 0:
		case isLast:
			return body[:at], nil, true
		case isLine:
			return body[:at], rest, true
		}
	}
}

// tokenPart returns the content of a part if it is the token. Only the headers of
// parts that mention it are read, and as others read them: a line may be folded.
func tokenPart(part []byte) (token string, ok bool) {
	head, content, ok := cutHeader(part[:min(len(part), maxPartHeader)])
	if !ok || !bytes.Contains(head, []byte("token")) {
		return "", false
	}
	header, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(head))).ReadMIMEHeader()
	if err != nil && !errors.Is(err, io.EOF) { // the header ends where the empty line was cut off
		return "", false
	}
	disposition, params, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	if err != nil || disposition != "form-data" || params["name"] != "token" || params["filename"] != "" {
		return "", false
	}
	content = bytes.TrimSuffix(bytes.TrimSuffix(content, []byte("\n")), []byte("\r"))
	return string(content[:min(len(content), maxToken)]), true
}

// cutHeader cuts a part at the empty line behind its header.
func cutHeader(part []byte) (header, content []byte, ok bool) {
	for at := 0; ; {
		line, rest, isLine := bytes.Cut(part[at:], []byte("\n"))
		if !isLine {
			return nil, nil, false
		}
		if len(line) == 0 || string(line) == "\r" {
			return part[:at], rest, true
		}
		at += len(line) + 1
	}
}

func badBoundary() error {
	return badUpload("needs a boundary of 1 to 70 characters in its Content-Type")
}

func mixedLineEnds() error { return badUpload("has delimiters whose lines end in different ways") }

func tooManyParts() error {
	return sluice.CodeTooManyParts.Errorf("The multipart body has more than %d parts.", maxParts)
}

// Canonical returns a token as it is stored. A text that can't be a token stays
// unchanged and matches none.
func Canonical(token string) string { return strings.ToLower(token) }

// Token returns the token in the query and the headers of a request, "" if
// there is none.
func Token(q Query, header http.Header) (string, error) {
	return agree(q.all("token"), q.all("uuid"), header["Token"], header["Uuid"])
}

// agree returns the one token that all sources name. Two values in one source are
// ambiguous even if they are equal.
func agree(sources ...[]string) (string, error) {
	token := ""
	for _, values := range sources {
		if len(values) == 0 || len(values) == 1 && values[0] == "" {
			continue
		}
		if len(values) > 1 || token != "" && Canonical(values[0]) != Canonical(token) {
			return "", ambiguous()
		}
		token = values[0]
	}
	return token, nil
}

func ambiguous() error {
	return sluice.CodeTokenAmbiguous.Errorf("The call carries more than one token; send it in one place, once.")
}
