package serve_test

import (
	"net/http"
	"strings"
	"testing"
)

const (
	unknownToken   = "00000000-0000-4000-8000-000000000000"
	tokenChallenge = `Webhook realm="webhook.receive", parameter="token"`
)

// withBody is the head of a call whose body has that type.
func withBody(contentType string) string {
	return request("POST {receive} HTTP/1.1", "Host: sluice", "Content-Type: "+contentType, "Content-Length: {length}")
}

const (
	form   = "application/x-www-form-urlencoded"
	upload = "multipart/form-data; boundary=b"
)

// TestTokenPositions: a token may be in the query, a header or the body. Taken
// from the body it is cut out, and every other byte stays.
func TestTokenPositions(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.token", "payloadType", "base64")
	jsonBody := withBody("application/json")
	cases := []rawCase{
		{name: "query", request: request("GET {receive}?token={token} HTTP/1.1", "Host: sluice"), stores: wantOrigin("")},
		{name: "query, as uuid", request: request("GET {receive}?uuid={token} HTTP/1.1", "Host: sluice"), stores: wantOrigin("")},
		{name: "header", request: request("GET {receive} HTTP/1.1", "Host: sluice", "token: {token}"), stores: wantOrigin("")},
		{name: "header, as uuid", request: request("GET {receive} HTTP/1.1", "Host: sluice", "UUID: {token}"), stores: wantOrigin("")},
		{name: "upper case", request: request("GET {receive}?token={TOKEN} HTTP/1.1", "Host: sluice"), stores: wantOrigin("")},
		{name: "the same in every place before the body", request: request("GET {receive}?token={token}&uuid={TOKEN} HTTP/1.1", "Host: sluice", "Token: {token}", "Uuid: {TOKEN}"), stores: wantOrigin("")},
		{name: "query, beside an empty header", request: request("GET {receive}?token={token} HTTP/1.1", "Host: sluice", "Token:"), stores: wantOrigin("")},
		{name: "header, beside an empty parameter", request: request("GET {receive}?token= HTTP/1.1", "Host: sluice", "Token: {token}"), stores: wantOrigin("")},
		{name: "form, first", request: withBody(form) + "token={token}&a=1&b=%20x", stores: wantOrigin("a=1&b=%20x")},
		{name: "form, between", request: withBody(form) + "a=1&token={token}&b=+x", stores: wantOrigin("a=1&b=+x")},
		{name: "form, last", request: withBody(form+"; charset=UTF-8") + "a=1&&b&token={token}", stores: wantOrigin("a=1&&b")},
		{name: "form, alone", request: withBody(form) + "token={token}", stores: wantOrigin("")},
		{name: "form, escaped", request: withBody(form) + "t%6Fken={escaped}&a=%zz", stores: wantOrigin("a=%zz")},
		{name: "JSON, first", request: jsonBody + `{"token":"{token}","a":1e400}`, stores: wantOrigin(`{"a":1e400}`)},
		{name: "JSON, between", request: jsonBody + `{"a":1,"token":"{token}","b":[2]}`, stores: wantOrigin(`{"a":1,"b":[2]}`)},
		{name: "JSON, last", request: jsonBody + `{"a":"x,\"token\"","token":"{token}"}`, stores: wantOrigin(`{"a":"x,\"token\""}`)},
		{name: "JSON, alone", request: jsonBody + "{ \"token\" : \"{token}\" }\n", stores: wantOrigin("{  }\n")},
		{name: "JSON, spread over lines", request: jsonBody + "{\n  \"a\": 1,\n  \"token\": \"{token}\"\n}", stores: wantOrigin("{\n  \"a\": 1\n}")},
		{name: "JSON, with an escape in its name", request: jsonBody + `{"tok\u0065n":"{token}","a":1}`, stores: wantOrigin(`{"a":1}`)},
		{name: "JSON, beside a token further in", request: jsonBody + `{"a":{"token":"mine"},"token":"{token}"}`, stores: wantOrigin(`{"a":{"token":"mine"}}`)},
		{name: "JSON of another type", request: withBody("application/vnd.api+json; charset=utf-8") + `{"token":"{token}"}`, stores: wantOrigin(`{}`)},
		{
			name: "multipart",
			request: withBody(upload) + "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nhi\r\n" +
				"--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n{token}\r\n--b--\r\n",
			stores: wantFiles(file{"a", "", 2, "aGk="}),
		},
		{
			name:    "a header that has a token leaves the body alone",
			request: request("POST {receive} HTTP/1.1", "Host: sluice", "Token: {token}", "Content-Type: application/json", "Content-Length: {length}") + `{"token":"mine","token":"too"}`,
			stores:  wantOrigin(`{"token":"mine","token":"too"}`),
		},
	}
	for i := range cases {
		cases[i].status = http.StatusOK
	}
	suite{s, tokens(hook), cases}.run(t)
}

// tokens returns the placeholders of a webhook's token in several spellings.
func tokens(h hook) []string {
	return []string{
		"{token}", h.UUID,
		"{TOKEN}", strings.ToUpper(h.UUID),
		"{escaped}", strings.ReplaceAll(h.UUID, "-", "%2D"),
		"{bare}", strings.ReplaceAll(h.UUID, "-", ""),
	}
}

// TestTokenMissing: a call without a token is told how to send one.
func TestTokenMissing(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.missing")
	cases := []rawCase{
		{name: "nowhere", request: request("GET {receive} HTTP/1.1", "Host: sluice")},
		{name: "empty in the query", request: request("GET {receive}?token= HTTP/1.1", "Host: sluice")},
		{name: "empty in the header", request: request("GET {receive} HTTP/1.1", "Host: sluice", "Token:")},
		{name: "under another name", request: request("GET {receive}?Token={token} HTTP/1.1", "Host: sluice", "X-Token: {token}")},
		{name: "in a cookie", request: request("GET {receive} HTTP/1.1", "Host: sluice", "Cookie: token={token}")},
		{name: "in an Authorization header", request: request("GET {receive} HTTP/1.1", "Host: sluice", "Authorization: Bearer {token}")},
		{name: "in a body of plain text", request: withBody("text/plain") + `{"token":"{token}"}`},
		{name: "in a body of no type", request: request("POST {receive} HTTP/1.1", "Host: sluice", "Content-Length: {length}") + `{"token":"{token}"}`},
		{name: "further in", request: withBody("application/json") + `{"a":{"token":"{token}"}}`},
		{name: "in an array", request: withBody("application/json") + `[{"token":"{token}"}]`},
		{name: "in JSON that breaks off", request: withBody("application/json") + `{"token":"{token}"`},
		{name: "no string", request: withBody("application/json") + `{"token":["{token}"]}`},
		{name: "in a form, as uuid", request: withBody(form) + "uuid={token}"},
		{
			name: "in a part that is a file",
			request: withBody(upload) + "--b\r\nContent-Disposition: form-data; name=\"token\"; filename=\"token\"\r\n\r\n{token}\r\n" +
				"--b--\r\n",
		},
	}
	for i := range cases {
		cases[i].status, cases[i].code = http.StatusUnauthorized, "token-missing"
		cases[i].header = map[string]string{"WWW-Authenticate": tokenChallenge}
	}
	suite{s, tokens(hook), cases}.run(t)
}

// TestTokenAmbiguous: two tokens are one too many, since nobody knows which of
// them the sender meant.
func TestTokenAmbiguous(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook, other := s.create("webhook.one"), s.create("webhook.other")
	part := "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n{token}\r\n"
	cases := []rawCase{
		{name: "different in query and header", request: request("GET {receive}?token={token} HTTP/1.1", "Host: sluice", "Token: {other}")},
		{name: "different under both names", request: request("GET {receive}?token={token}&uuid={other} HTTP/1.1", "Host: sluice")},
		{name: "different headers", request: request("GET {receive} HTTP/1.1", "Host: sluice", "Token: {token}", "Uuid: {other}")},
		{name: "one known, one unknown", request: request("GET {receive}?token={token} HTTP/1.1", "Host: sluice", "Token: "+unknownToken)},
		{name: "twice in the query", request: request("GET {receive}?token={token}&token={token} HTTP/1.1", "Host: sluice")},
		{name: "twice in the header", request: request("GET {receive} HTTP/1.1", "Host: sluice", "Token: {token}", "Token: {token}")},
		{name: "twice in JSON", request: withBody("application/json") + `{"token":"{token}","token":"{token}"}`},
		{name: "twice in JSON, once escaped", request: withBody("application/json") + `{"token":"{token}","\u0074oken":"{other}"}`},
		{name: "twice in a form", request: withBody(form) + "token={token}&token={token}"},
		{name: "twice in a form, once escaped", request: withBody(form) + "token={token}&%74oken={other}"},
		{name: "in two parts", request: withBody(upload) + part + part + "--b--\r\n"},
	}
	for i := range cases {
		cases[i].status, cases[i].code = http.StatusBadRequest, "token-ambiguous"
	}
	suite{s, append(tokens(hook), "{other}", other.UUID), cases}.run(t)
}

// TestTokenInvalid: whatever is wrong with a token, the answer is the same: it
// doesn't tell whether there ever was such a webhook.
func TestTokenInvalid(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook, deleted := s.create("webhook.valid"), s.create("webhook.deleted")
	s.command("webhook.delete", map[string]any{"uuid": deleted.UUID}).wantStatus(t, http.StatusOK)
	reference := s.send("GET", receivePath+"?token="+unknownToken, nil)

	get := func(token string) string { return request("GET {receive}?token="+token+" HTTP/1.1", "Host: sluice") }
	cases := []rawCase{
		{name: "unknown", request: get(unknownToken)},
		{name: "of a deleted webhook", request: get("{deleted}")},
		{name: "no UUID", request: get("secret")},
		{name: "a UUID in braces", request: get("%7B{token}%7D")},
		{name: "a UUID with its scheme", request: get("urn:uuid:{token}")},
		{name: "a UUID without dashes", request: get("{bare}")},
		{name: "a space behind", request: get("{token}%20")},
		{name: "a line break behind", request: get("{token}%0A")},
		{name: "control characters", request: get("%00%01%7F")},
		{name: "no UTF-8", request: get("%FF%FE")},
		{name: "a pattern", request: get("*")},
		{name: "very long", request: get(strings.Repeat("a", 10_000))},
		{name: "in the header", request: request("GET {receive} HTTP/1.1", "Host: sluice", "Token: "+unknownToken)},
		{name: "in JSON", request: withBody("application/json") + `{"token":"` + unknownToken + `"}`},
		{name: "in a form", request: withBody(form) + "token=" + unknownToken},
		{name: "in a form, with a broken escape", request: withBody(form) + "token=%zz{token}"},
		{
			name:    "in a part that is too long",
			request: withBody(upload) + "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n{token}" + strings.Repeat(" ", 1000) + "\r\n--b--\r\n",
		},
	}
	for i := range cases {
		cases[i].status, cases[i].code = http.StatusUnauthorized, "token-invalid"
		cases[i].header = map[string]string{"WWW-Authenticate": tokenChallenge}
		cases[i].body = string(reference.body)
	}
	suite{s, append(tokens(hook), "{deleted}", deleted.UUID), cases}.run(t)
}

// TestTokenGuessing: who tries many tokens has to wait. Others are not disturbed,
// and neither is the guesser itself with a valid token.
func TestTokenGuessing(t *testing.T) {
	t.Parallel()
	s := start(t, "trusted-proxies=127.0.0.1")
	hook := s.create("webhook.guess")
	from := func(address string) func(*http.Request) { return header("X-Forwarded-For", address) }
	guess := func(address string) answer {
		return s.send("GET", receivePath+"?token="+unknownToken, nil, from(address))
	}
	tries := 0
	var refused answer
	for refused = guess("192.0.2.1"); refused.status == http.StatusUnauthorized; refused = guess("192.0.2.1") {
		if tries++; tries > 100 {
			t.Fatal("guessing goes on for ever")
		}
	}
	refused.wantProblem(t, http.StatusTooManyRequests, "too-many-bad-tokens")
	wantRetryAfter(t, refused)
	if tries < 5 {
		t.Errorf("only %d mistakes are forgiven", tries)
	}
	guess("192.0.2.2").wantProblem(t, http.StatusUnauthorized, "token-invalid")
	s.call(hook, "text/plain", "valid", from("192.0.2.1")).wantStatus(t, http.StatusOK)
}

// TestTokenGuessingOverIPv6: one client has a whole network of addresses.
func TestTokenGuessingOverIPv6(t *testing.T) {
	t.Parallel()
	s := start(t, "trusted-proxies=127.0.0.1")
	for i := range 100 {
		address := "2001:db8::" + string("0123456789abcdef"[i%16])
		got := s.send("GET", receivePath+"?token="+unknownToken, nil, header("X-Forwarded-For", address))
		if got.status == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("16 addresses of one network guess for ever")
}
