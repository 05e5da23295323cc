package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"
)

// TestFlagsOfANewerServer: a parameter that only the server knows is a flag, too.
func TestFlagsOfANewerServer(t *testing.T) {
	t.Parallel()
	h := startHooked(t, "webhook.old")
	defer h.stop(t, syscall.SIGTERM)
	target, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Del("Accept-Encoding") // the document is changed below
	}}
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.Request.URL.Path != "/openapi.json" {
			return nil
		}
		document, err := io.ReadAll(r.Body)
		document = bytes.ReplaceAll(document, []byte(`"maxPayloadLength"`), []byte(`"mostPayload"`))
		r.Body = io.NopCloser(bytes.NewReader(document))
		r.ContentLength = int64(len(document))
		r.Header.Del("Content-Length")
		return err
	}
	newer := httptest.NewServer(proxy)
	defer newer.Close()
	run := func(args ...string) string {
		cmd := program(t, args...)
		cmd.Env = append(cmd.Env, "SLUICE_USERNAME=admin", "SLUICE_PASSWORD=a-short-tour")
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	// The real server behind it does not know that name: so it was asked.
	out := run("webhook", "create", "webhook.new", "--most-payload", "7", "--url", newer.URL)
	if !strings.Contains(out, `no parameter "mostPayload"`) {
		t.Errorf("got %s", out)
	}
	if out := run("webhook", "create", "webhook.new", "--most-payloat", "7", "--url", newer.URL); !strings.Contains(out, "did you mean --most-payload?") {
		t.Errorf("got %s", out)
	}
}

func TestParametersBecomeFlags(t *testing.T) {
	for name, want := range map[string]string{"eventKey": "event-key", "limit": "limit", "maxPayloadLength": "max-payload-length"} {
		if got := kebab(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
