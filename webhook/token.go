package webhook

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"sluice"
)

// canonical gives a token as it is stored. What can't be a token stays as it
// is and matches none.
func canonical(token string) string {
	return strings.ToLower(token)
}

// wellFormed tells whether a token can be one of ours: 36 characters, in upper
// or lower case, and no other spelling of a UUID.
func wellFormed(token string) bool {
	return len(token) == 36 && uuid.Validate(token) == nil
}

// requestToken gives the token in the query and the header of a request, ""
// if there is none. They may repeat each other and nothing else.
func requestToken(q query, header http.Header) (string, error) {
	return agree(q.all("token"), q.all("uuid"), header["Token"], header["Uuid"])
}

// agree gives the one token that all places name. Two values in one place are
// ambiguous even if they are equal.
func agree(places ...[]string) (string, error) {
	token := ""
	for _, values := range places {
		if len(values) == 0 || len(values) == 1 && values[0] == "" {
			continue
		}
		if len(values) > 1 || token != "" && canonical(values[0]) != canonical(token) {
			return "", ambiguous()
		}
		token = values[0]
	}
	return token, nil
}

// bodyToken looks for the token in a body that is a form or a JSON object, and
// gives the body without it, since it is a secret. Multipart bodies are
// another matter.
func bodyToken(contentType string, body []byte) (token string, rest []byte, err error) {
	media, _, _ := mime.ParseMediaType(contentType)
	switch {
	case media == "application/x-www-form-urlencoded":
		return formToken(body)
	case isJSON(media):
		return jsonToken(body)
	}
	return "", body, nil
}

func isJSON(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// formToken cuts the field token out of a form.
func formToken(body []byte) (token string, rest []byte, err error) {
	var found []string
	var kept [][]byte
	for pair := range bytes.SplitSeq(body, []byte("&")) {
		name, value, _ := bytes.Cut(pair, []byte("="))
		if n, err := url.QueryUnescape(string(name)); err != nil || n != "token" {
			kept = append(kept, pair)
			continue
		}
		v, err := url.QueryUnescape(string(value))
		if err != nil {
			v = string(value) // matches no webhook
		}
		found = append(found, v)
	}
	if token, err = agree(found); err != nil || len(found) == 0 {
		return "", body, err
	}
	return token, bytes.Join(kept, []byte("&")), nil
}

// jsonToken cuts the member token out of a JSON object. All other bytes stay
// as they are. What is not JSON has no token.
//
//nolint:nilerr // see above
func jsonToken(body []byte) (token string, rest []byte, err error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return "", body, nil
	}
	var found []string
	var from, to int // the member, without the comma before or behind it
	for dec.More() {
		before := int(dec.InputOffset())
		name, err := dec.Token()
		if err != nil {
			return "", body, nil
		}
		start := before + bytes.IndexByte(body[before:], '"')
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return "", body, nil
		}
		if name != "token" {
			continue
		}
		var text string
		_ = json.Unmarshal(value, &text) // what is not a string matches no webhook
		found = append(found, text)
		from, to = start, int(dec.InputOffset())
	}
	if _, err := dec.Token(); err != nil || len(found) == 0 {
		return "", body, nil
	}
	if token, err = agree(found); err != nil {
		return "", body, err
	}
	return token, cutMember(body, from, to), nil
}

// cutMember removes the bytes from..to of an object, and the comma that parted
// them from the next member, or else from the one before.
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
	return append(append(make([]byte, 0, len(body)), body[:from]...), body[to:]...)
}

// challenge tells how to send a token.
var challenge = []string{`Webhook realm="webhook.receive", parameter="token"`}

func missing() error {
	return sluice.Errorf(sluice.Unauthenticated, "token-missing", "The call carries no token; send it as the header token, as the query parameter token, or in the body.").Challenging(challenge...)
}

func unknown() *sluice.Error {
	return sluice.Errorf(sluice.Unauthenticated, "token-invalid", "No webhook has this token; check the webhookUrl that webhook.put or webhook.get shows.").Challenging(challenge...)
}

func ambiguous() error {
	return sluice.Errorf(sluice.Invalid, "token-ambiguous", "The call carries more than one token; send it in one place, once.")
}
