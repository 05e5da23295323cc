package step_test

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/sender"
	"sluice/step"
	"sluice/value"
)

// event returns a context for the steps of runs that an event has started, each
// one a run of its own.
func event(ctx context.Context, event object) func() context.Context {
	return func() context.Context {
		return sluice.WithRun(ctx, &sluice.Run{TraceID: "abc123:x", CorrelationID: "c0rrelation-id", Hops: 2, Event: event, Secret: func(_ context.Context, name string) (string, error) {
			if secret, ok := map[string]string{"plain": "s3cret", "standard": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "bad": "whsec_?"}[name]; ok {
				return secret, nil
			}
			return "", sluice.CodeSecretUnknown.Errorf("There is no secret.")
		}})
	}
}

// A forwarded is a call as the receiver got it.
type forwarded struct {
	method, uri string
	header      http.Header
	body        string
}

// forward sends an event on and gives what arrived.
func forward(t *testing.T, sent object, given args) (got forwarded, err error) {
	t.Helper()
	at := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		got = forwarded{r.Method, r.RequestURI, r.Header, string(body)}
	})
	given["url"] = at + given["url"].(string)
	_, err = call(event(t.Context(), sent)(), newSet(step.Options{HTTP: local}), "http.forward", given)
	return got, err
}

func TestACallIsSentOnAsItCame(t *testing.T) {
	got, err := forward(t, object{
		"payloadEncoding": "base64", "payload": object{"origin": "AP/+"}, "contentType": "application/x-own; a=b", "method": "PUT",
		"query": object{"b": list{"1", "2 ä"}, "a": list{""}},
		"headers": object{
			"host": "us.example.com", "content-length": "3", "connection": "keep-alive, X-Private", "x-private": "1", "te": "trailers", "transfer-encoding": "chunked",
			"keep-alive": "timeout=5", "upgrade": "h2c", "proxy-authenticate": "x", "expect": "100-continue", "accept-encoding": "br", "x-forwarded-for": "10.0.0.1", "x-forwarded-host": "evil", "forwarded": "for=1", "via": "1.1 x", "x-real-ip": "10.0.0.1",
			"x_forwarded_for": "10.0.0.1", "x_own": "forged", "x-http-method-override": "DELETE", "x-method-override": "DELETE", "x-http-method": "DELETE",
			"authorization": "Bearer x", "cookie": "x", "token": "x", "uuid": "x", "proxy-authorization": "x", "svc-trace-id": "forged", "svc-hops": "0",
			"content-type": "application/x-own; a=b", "user-agent": "GitHub-Hookshot/1", "x-hub-signature-256": "sha256=1", "x-own": "theirs", "x-other": "kept", "bad name": "x", "x-bad": "a\r\nb: c",
		},
	}, args{"url": "/in?own=1", "headers": object{"X-Own": "ours", "authorization": "Basic y"}})
	if err != nil {
		t.Fatal(err)
	}
	want := forwarded{
		method: "POST", uri: "/in?own=1&a=&b=1&b=2+%C3%A4", body: "\x00\xff\xfe",
		header: http.Header{
			"Content-Length": {"3"}, "Accept-Encoding": {"gzip"}, // of the connection to the receiver
			"Content-Type": {"application/x-own; a=b"}, "User-Agent": {"GitHub-Hookshot/1"}, "X-Hub-Signature-256": {"sha256=1"}, "X-Other": {"kept"},
			"X-Own": {"ours"}, "Authorization": {"Basic y"}, "Svc-Trace-Id": {"abc123:x"}, "Svc-Hops": {"3"},
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(forwarded{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBodiesAreSentOn(t *testing.T) {
	exact, err := value.Decode(`{"z":12345678901234567890,"a":[1.1,"<ä>"]}`)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		sent        object
		body        string
		contentType string
	}{
		"JSON":    {object{"payloadEncoding": "json", "payload": exact, "contentType": "application/vnd.x+json"}, `{"a":[1.1,"<ä>"],"z":12345678901234567890}`, "application/vnd.x+json"},
		"null":    {object{"payloadEncoding": "json", "payload": nil, "contentType": "application/json"}, "null", "application/json"},
		"text":    {object{"payloadEncoding": "text", "payload": "a=b", "contentType": "application/x-www-form-urlencoded"}, "a=b", "application/x-www-form-urlencoded"},
		"nothing": {object{"payloadEncoding": "none", "contentType": "text/plain", "headers": object{"content-encoding": "gzip"}}, "", ""},
		"empty":   {object{"payloadEncoding": "base64", "payload": object{"origin": ""}, "contentType": ""}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := forward(t, test.sent, args{"url": ""})
			if err != nil {
				t.Fatal(err)
			}
			if got.body != test.body || got.header.Get("Content-Type") != test.contentType || got.header.Get("Content-Encoding") != "" || got.header.Get("User-Agent") != "sluice" || got.uri != "/" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestUploadsAreSentOn: as a form with the same parts, and the same bytes at each
// attempt.
func TestUploadsAreSentOn(t *testing.T) {
	sent := object{"payloadEncoding": "files", "contentType": "multipart/form-data; boundary=x", "payload": object{
		"fields": object{"b": list{"1", "2"}, "a": "ä"},
		"files": list{
			object{"filename": "ü\".csv", "contentType": "text/csv", "length": 3, "origin": "a,b", "encoding": "text"},
			object{"filename": "b", "contentType": "", "length": 2, "origin": "/wA=", "encoding": "base64", "name": "other"},
		},
	}}
	got, err := forward(t, sent, args{"url": ""})
	if err != nil {
		t.Fatal(err)
	}
	media, params, err := mime.ParseMediaType(got.header.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" {
		t.Fatalf("the content type is %s", got.header.Get("Content-Type"))
	}
	var parts []string
	for reader := multipart.NewReader(strings.NewReader(got.body), params["boundary"]); ; {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, strings.Join([]string{part.FormName(), part.FileName(), part.Header.Get("Content-Type"), string(content)}, "|"))
	}
	if diff := cmp.Diff([]string{"a|||ä", "b|||1", "b|||2", "file|ü\".csv|text/csv|a,b", "other|b||\xff\x00"}, parts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again, err := forward(t, sent, args{"url": ""}); err != nil || again.body != got.body {
		t.Errorf("the second time it is %q (%v)", again.body, err)
	}
}

// TestForwardsAreSigned: a receiver of Standard Webhooks accepts what is signed,
// and the sender's own signature does not get in the way.
func TestForwardsAreSigned(t *testing.T) {
	sent := object{"payloadEncoding": "text", "payload": "hellö", "contentType": "text/plain", "headers": object{"webhook-id": "theirs", "webhook-signature": "v1,theirs", "webhook-timestamp": "1"}}
	scheme, err := sender.ParseScheme([]byte(`{"header": "webhook-signature", "format": "v1,{signature}", "encoding": "base64",
		"signed": "{id}.{timestamp}.{body}", "timestampHeader": "webhook-timestamp", "idHeader": "webhook-id"}`))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := sender.New(scheme, []string{"s3cret"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	preset, ok := sender.Find("standard-webhooks")
	if !ok {
		t.Fatal("there is no preset")
	}
	standard, err := sender.New(preset, []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, verifier := range map[string]*sender.Verifier{"plain": plain, "standard": standard} {
		got, err := forward(t, sent, args{"url": "", "sign": name, "headers": object{"webhook-id": "author's"}})
		if err != nil {
			t.Fatal(err)
		}
		if got.header.Get("Webhook-Id") != "c0rrelation-id" {
			t.Errorf("%s: the id is %s", name, got.header.Get("Webhook-Id"))
		}
		if err := verifier.Verify(t.Context(), &sender.Call{Method: "POST", Header: got.header, Body: []byte(got.body)}, time.Now()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = forward(t, sent, args{"url": "", "sign": "bad"})
	refuses(t, err, sluice.Invalid, "parameter-invalid", "base64")
	_, err = forward(t, sent, args{"url": "", "sign": "missing"})
	refuses(t, err, sluice.NotFound, "secret-unknown", "")
}

func TestForwardsThatFail(t *testing.T) {
	followed := false
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case "/elsewhere":
			followed = true
		case "/refused":
			w.WriteHeader(http.StatusForbidden)
		default:
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	sent := object{"payloadEncoding": "none"}
	forward := func(ctx context.Context, o step.HTTPOptions, given args) error {
		_, err := call(ctx, newSet(step.Options{HTTP: o}), "http.forward", given)
		return err
	}
	ctx := event(t.Context(), sent)
	refuses(t, forward(ctx(), local, args{"url": at + "/moved"}), sluice.Invalid, "http-status", "307")
	refuses(t, forward(ctx(), local, args{"url": at + "/refused"}), sluice.Invalid, "http-status", "403")
	err := forward(ctx(), local, args{"url": at + "/down"})
	refuses(t, err, sluice.Unavailable, "http-status", "503, where 2xx is expected")
	if sluice.AsError(err).RetryAfter != 7*time.Second {
		t.Errorf("the hint is %s", sluice.AsError(err).RetryAfter)
	}
	if followed {
		t.Error("the redirect was followed")
	}
	refuses(t, forward(ctx(), step.HTTPOptions{}, args{"url": at}), sluice.Forbidden, "address-refused", "--http-allow")
	refuses(t, forward(ctx(), local, args{"url": at, "headers": object{"Host": "x"}}), sluice.Invalid, "parameter-invalid", "Host")
	refuses(t, forward(ctx(), local, args{"url": "file:///x"}), sluice.Invalid, "parameter-invalid", "http://")
	refuses(t, forward(ctx(), local, args{"url": at, "timeout": "0s"}), sluice.Invalid, "parameter-invalid", "timeout")
	refuses(t, forward(t.Context(), local, args{"url": at}), sluice.Invalid, "no-event", "http.request")
	refuses(t, forward(sluice.WithRun(t.Context(), &sluice.Run{}), local, args{"url": at}), sluice.Invalid, "no-event", "event")
	refuses(t, forward(event(t.Context(), object{"payloadEncoding": "odd"})(), local, args{"url": at}), sluice.Invalid, "payload-unknown", "form")
}

// TestExchangesAreNoted: what went out and came back, without credentials.
func TestExchangesAreNoted(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "s3ssion")
		w.Header().Set("Date", "")
		switch r.URL.Path {
		case "/bytes":
			w.Write([]byte("\xff\xfe"))
		case "/long":
			io.WriteString(w, "x"+strings.Repeat("ä", 20_000))
		case "/broken":
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusTeapot)
			io.WriteString(w, "no coffee")
		}
	})
	set := newSet(step.Options{HTTP: local})
	noted := func(given args) sluice.Exchange {
		t.Helper()
		ctx := event(t.Context(), object{})()
		_, _ = call(ctx, set, "http.request", given)
		e := sluice.RunFrom(ctx).NotedHTTP()
		if e == nil {
			t.Fatal("nothing was noted")
		}
		return *e
	}
	want := sluice.Exchange{
		Method: "POST", URL: at + "/pot?a=b", StatusCode: 418,
		Request:  "authorization: ***\ncontent-type: application/json\nsvc-hops: 3\nsvc-trace-id: abc123:x\nuser-agent: sluice\nx-api-key: ***\n\n{\"a\":1}",
		Response: "content-length: 9\ncontent-type: text/plain; charset=utf-8\nset-cookie: ***\n\nno coffee",
	}
	got := noted(args{"url": at + "/pot?a=b", "method": "POST", "expect": "2xx", "body": object{"a": 1}, "headers": object{"authorization": "Bearer x", "x-api-key": "y"}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := noted(args{"url": at + "/bytes"}); !strings.HasSuffix(got.Response, "\n\n(2 bytes that are not text)") {
		t.Errorf("got %q", got.Response)
	}
	if got := noted(args{"url": at + "/long"}); len(got.Response) < 16<<10 || len(got.Response) > 17<<10 || !strings.HasSuffix(got.Response, "ä") {
		t.Errorf("%d bytes were noted", len(got.Response))
	}
	if got := noted(args{"url": at + "/broken"}); got.StatusCode != 0 || got.Response != "" || got.URL != at+"/broken" {
		t.Errorf("got %+v", got)
	}
	if target, err := url.Parse(got.URL); err != nil || target.Path != "/pot" {
		t.Errorf("the URL is %s", got.URL)
	}
}
