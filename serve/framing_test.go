package serve_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"sluice/serve"
)

// TestFraming sends requests whose framing or size is unusual or hostile, as
// far as the service itself has to answer them.
func TestFraming(t *testing.T) {
	t.Parallel()
	s := startFor(t, serve.Timeouts{BodyIdle: time.Second})
	hook := s.create("webhook.framing", "maxPayloadLength", 1000)
	large := s.create("webhook.large", "maxPayloadLength", 4<<20)
	receive := "POST {receive} HTTP/1.1"
	host := "Host: sluice"
	token := "Token: {token}"
	chunked := "Transfer-Encoding: chunked"
	bomb := zip(strings.Repeat("a", 100_000))
	noEcho := map[string]string{"Access-Control-Allow-Origin": "", "X-Injected": "", "Location": ""}
	closes := map[string]string{"Connection": "close"}

	cases := []rawCase{
		{
			name:    "a body as long as the limit",
			request: request(receive, host, token, "Content-Length: 1000") + strings.Repeat("x", 1000),
			status:  200, stores: accepted,
		},
		{
			name:    "a length over the limit is refused without reading",
			request: request(receive, host, token, "Content-Length: 1001"), // not a byte of the body is sent
			status:  413, code: "payload-too-large", closes: true, header: closes,
		},
		{
			name:    "a chunked body as long as the limit",
			request: request(receive, host, token, chunked) + "3e8\r\n" + strings.Repeat("x", 1000) + "\r\n0\r\n\r\n",
			status:  200, closes: true, stores: accepted,
		},
		{
			name:    "a chunked body over the limit is refused at the first byte too many",
			request: request(receive, host, token, chunked) + "3e9\r\n" + strings.Repeat("x", 1001), // and no end
			status:  413, code: "payload-too-large", closes: true, header: closes,
		},
		{
			name:    "a length over 4 MiB is refused before the webhook is known",
			request: request(receive, host, "Content-Type: application/json", "Content-Length: 4194305"),
			status:  413, code: "payload-too-large", closes: true, header: closes,
		},
		{
			name: "a chunked body over 4 MiB is refused before the webhook is known",
			request: request(receive, host, "Content-Type: application/json", chunked) +
				"400001\r\n" + `{"token":"{token}","a":"` + strings.Repeat("x", 4<<20),
			status: 413, code: "payload-too-large", closes: true, header: closes,
		},
		{
			name: "with the token in the body, the limit of the webhook counts as well",
			request: request(receive, host, "Content-Type: application/json", "Content-Length: {length}") +
				`{"token":"{token}","a":"` + strings.Repeat("x", 1000) + `"}`,
			status: 413, code: "payload-too-large", closes: true, header: closes,
		},
		{
			name:    "4 MiB reach a webhook that takes them",
			request: request(receive, host, "Token: {large}", "Content-Length: 4194304") + strings.Repeat("x", 4<<20),
			status:  200, stores: wantOrigin(strings.Repeat("x", 4<<20)),
		},
		{
			name:    "a compressed body is passed on as it is, with its encoding",
			request: request(receive, host, token, "Content-Encoding: gzip", "Content-Length: {length}") + bomb,
			status:  200,
			stores: func(t *testing.T, e stored) {
				wantOrigin(bomb)(t, e)
				if got := e.Headers["content-encoding"]; got != "gzip" {
					t.Errorf("content-encoding is %q", got)
				}
			},
		},
		{
			name:    "one that waits for 100 Continue with too large a body gets its refusal at once",
			request: request(receive, host, token, "Expect: 100-continue", "Content-Length: 1001"),
			status:  413, code: "payload-too-large", closes: true, header: closes,
		},
		{
			name:    "one that waits for 100 Continue with an unknown token gets its refusal at once",
			request: request(receive, host, "Token: 00000000-0000-4000-8000-000000000000", "Expect: 100-continue", "Content-Length: 10"),
			status:  401, code: "token-invalid", closes: true,
		},
		{
			name:    "length and chunks together: the chunks count, then the connection is closed",
			request: request(receive, host, token, "Content-Length: 3", chunked) + "2\r\nhi\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: smuggled\r\n\r\n",
			status:  200, closes: true, header: closes, stores: wantOrigin("hi"),
		},
		{
			name:    "chunks in HTTP/1.0, which has none: the length counts, then the connection is closed",
			request: request("POST "+receivePath+" HTTP/1.0", host, token, "Connection: keep-alive", "Content-Length: 4", chunked) + "24\r\nGET /healthz HTTP/1.1\r\nHost: smuggled\r\n\r\n\r\n0\r\n\r\n",
			status:  200, closes: true, header: closes, stores: wantOrigin("24\r\n"),
		},
		{
			name:    "a chunk size that ends in a bare LF",
			request: request(receive, host, token, chunked) + "2\nhi\r\n0\r\n\r\n",
			status:  400, code: "body-malformed", closes: true, header: closes,
		},
		{
			name:    "a chunk size that doesn't fit in 64 bits",
			request: request(receive, host, token, chunked) + "fffffffffffffffff\r\nhi",
			status:  400, code: "body-malformed", closes: true, header: closes,
		},
		{
			name:    "a chunk size that is no number",
			request: request(receive, host, token, chunked) + "xyz\r\nhi",
			status:  400, code: "body-malformed", closes: true, header: closes,
		},
		{
			name:    "a chunk longer than it says",
			request: request(receive, host, token, chunked) + "2\r\nhello\r\n0\r\n\r\n",
			status:  400, code: "body-malformed", closes: true, header: closes,
		},
		{
			name:    "a folded header is joined by a space and then is no token",
			request: request(receive, host, token, " more", "Content-Length: 2") + "hi",
			status:  401, code: "token-invalid",
		},
		{
			name:    "a broken escape in the query is not dropped silently",
			request: request("POST {receive}?token={token}&a=%zz HTTP/1.1", host, "Content-Length: 2") + "hi",
			status:  400, code: "query-malformed",
		},
		{
			name:    "a semicolon in the query is not dropped silently",
			request: request("POST {receive}?token={token}&a=1;b=2 HTTP/1.1", host, "Content-Length: 2") + "hi",
			status:  400, code: "query-malformed",
		},
		{
			name:    "a broken escape in a command's query",
			request: request("GET /api/v3/command/webhook.get?a=%zz HTTP/1.1", host, "Authorization: {admin}"),
			status:  400, code: "query-malformed",
		},
		{
			name:    "a broken escape in a poll's query",
			request: request("GET /api/v3/result?svc-result-correlationid=x&a=%zz HTTP/1.1", host),
			status:  400, code: "query-malformed",
		},
		{
			name:    "more than 10,000 query parameters",
			request: request("POST {receive}?token={token}"+strings.Repeat("&a", 10_000)+" HTTP/1.1", host, "Content-Length: 2") + "hi",
			status:  400, code: "query-malformed",
		},
		{
			name:    "GET with a body: it is the payload",
			request: request("GET {receive} HTTP/1.1", host, token, "Content-Length: 2") + "hi",
			status:  200, stores: wantOrigin("hi"),
		},
		{
			name:    "GET with too large a body",
			request: request("GET {receive} HTTP/1.1", host, token, "Content-Length: 1001"),
			status:  413, code: "payload-too-large", closes: true, header: closes,
		},
		{
			name:    "line breaks in what the caller sends break no header of the answer",
			request: request("GET {receive}?token={token}&pollingRedirectEnabled=true%0d%0aX-Injected:1 HTTP/1.1", host),
			status:  400, code: "parameter-invalid", header: noEcho,
		},
		{
			name:    "line breaks in a correlation id break no header of the answer",
			request: request("GET /api/v3/result?svc-result-correlationid=x%0d%0aX-Injected:1 HTTP/1.1", host),
			status:  410, code: "result-gone", header: noEcho,
		},
	}
	for _, method := range []string{"HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "get", "Post"} {
		cases = append(cases, rawCase{
			name:    "a webhook is not called with " + method,
			request: request(method+" {receive}?token={token} HTTP/1.1", host, "Origin: https://example.org"),
			status:  405, code: "method-not-allowed",
			header: map[string]string{"Allow": "GET, POST", "Access-Control-Allow-Origin": "", "Access-Control-Allow-Methods": ""},
		})
	}
	suite{s, []string{"{token}", hook.UUID, "{large}", large.UUID, "{admin}", basic("admin", adminPassword)}, cases}.run(t)
}

// TestOversizeSaysTheLimit: a sender learns from the answer how much it may send.
func TestOversizeSaysTheLimit(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.small", "maxPayloadLength", 77)
	problem := s.call(hook, "text/plain", strings.Repeat("x", 78)).wantProblem(t, 413, "payload-too-large")
	if detail := problem["detail"].(string); !strings.Contains(detail, "77") {
		t.Errorf("the detail doesn't tell the limit of 77 bytes: %s", detail)
	}
}

// wantOrigin checks that an event carries exactly these bytes.
func wantOrigin(content string) func(*testing.T, stored) {
	return func(t *testing.T, e stored) {
		t.Helper()
		var payload struct {
			Origin []byte `json:"origin"`
		}
		answer{body: e.Payload}.into(t, &payload)
		if string(payload.Origin) != content {
			t.Errorf("the event carries %d other bytes than the %d sent: %.100q", len(payload.Origin), len(content), payload.Origin)
		}
	}
}

func zip(text string) string {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return zipped.String()
}

func basic(username, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))
}
