package step_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"sluice"
	"sluice/command"
	"sluice/expression"
	"sluice/pipeline/source"
	"sluice/step"
)

// A tokenServer gives tokens t-1, t-2 and so on, to the client id:s3cret or to who signs with a key.
type tokenServer struct {
	*httptest.Server

	key     *rsa.PrivateKey
	expires string // a field of the reply
	given   atomic.Int32
	asked   atomic.Value // the last form
}

func newTokenServer(t *testing.T) *tokenServer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := &tokenServer{key: key, expires: `,"expires_in":3600`}
	s.Server = httptest.NewServer(http.HandlerFunc(s.give))
	t.Cleanup(s.Close)
	return s
}

func (s *tokenServer) give(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if err := r.ParseForm(); err != nil {
		panic(err)
	}
	id, password, inHeader := r.BasicAuth()
	if !inHeader {
		id, password = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	r.PostForm.Set("in", map[bool]string{true: "header", false: "body"}[inHeader])
	s.asked.Store(r.PostForm)
	if assertion := r.PostForm.Get("assertion"); assertion != "" {
		signed, err := jwt.ParseSigned(assertion, []jose.SignatureAlgorithm{jose.RS256})
		claims := map[string]any{}
		if err != nil || signed.Claims(&s.key.PublicKey, &claims) != nil || claims["iss"] != "robot@example.com" || claims["aud"] != s.URL {
			panic(fmt.Sprint(err, claims))
		}
		if audience, ok := claims["target_audience"]; ok {
			body := fmt.Sprintf(`{"iss":"x","aud":%q,"exp":%d}`, audience, time.Now().Add(time.Hour).Unix())
			fmt.Fprintf(w, `{"id_token":"e30.%s.c2ln"}`, base64.RawURLEncoding.EncodeToString([]byte(body)))
			return
		}
		r.PostForm.Set("scope", fmt.Sprint(claims["scope"]))
	} else if id != "id" || password != "s3cret" {
		w.WriteHeader(401)
		fmt.Fprintf(w, `{"error":"invalid_client","error_description":"no %s"}`, password)
		return
	}
	fmt.Fprintf(w, `{"access_token":"t-%04d","token_type":"Bearer"%s}`, s.given.Add(1), s.expires)
}

// secrets are those that sources of these tests name.
func (s *tokenServer) secrets() map[string]string {
	account := func(uri string) string {
		key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(s.key)})
		return fmt.Sprintf(`{"type":"service_account","client_email":"robot@example.com","private_key_id":"1","private_key":%q,"token_uri":%q}`, key, uri)
	}
	return map[string]string{
		"basic": "ada:p4ss:word", "bearer": "b3arer-token", "client": "id:s3cret", "wrong": "id:wr0ng-one", "aws": "AKID:4ws-secret:4ws-session", "robot": account(s.URL),
		"lines": "a\nb-line", "aws lines": "AKID:a:a\nb-line", "plain": "no-colon", "half": ":", "junk": "{}", "bad key": `{"client_email":"a","private_key":"k3y-in-json","token_uri":"https://example.com"}`,
		"strange": account("ftp://example.com"), "pem": "-----BEGIN",
	}
}

// asked returns a step that calls a URL with a credential.
func asked(url, auth string) string {
	return "pipeline: [http.request: {url: '" + url + "', method: POST, body: x, auth: " + auth + "}]"
}

// TestCredentials: what arrives at the target, and that neither the report nor the outcome shows
// it, though the target quotes all that it got.
func TestCredentials(t *testing.T) {
	tokens := newTokenServer(t)
	oauth := func(more string) string { return "{oauth2: {url: '" + tokens.URL + "', client: client" + more + "}}" }
	for name, test := range map[string]struct {
		auth    string
		arrives string // as far as it is known
		hidden  []string
		form    url.Values
	}{
		"basic":         {"{basic: basic}", "Basic " + base64.StdEncoding.EncodeToString([]byte("ada:p4ss:word")), []string{"p4ss", "YWRh"}, nil},
		"bearer":        {"{bearer: bearer}", "Bearer b3arer-token", []string{"b3arer"}, nil},
		"oauth2":        {oauth(""), "Bearer t-", []string{"t-0", "s3cret"}, url.Values{"in": {"header"}, "grant_type": {"client_credentials"}}},
		"oauth2, scope": {oauth(", scope: 'a b', audience: us, style: header"), "Bearer t-", []string{"t-0"}, url.Values{"in": {"header"}, "grant_type": {"client_credentials"}, "scope": {"a b"}, "audience": {"us"}}},
		"oauth2, body":  {oauth(", style: body"), "Bearer t-", []string{"t-0"}, url.Values{"in": {"body"}, "grant_type": {"client_credentials"}, "client_id": {"id"}, "client_secret": {"s3cret"}}},
		"aws":           {"{aws: {key: aws, service: sqs, region: eu-central-1}}", "AWS4-HMAC-SHA256 Credential=AKID/", []string{"4ws-s", "Signature=a", "Signature=0"}, nil},
		"google, scope": {"{google: {key: robot, scope: 'https://example.com/a'}}", "Bearer t-", []string{"t-0", "PRIVATE"}, url.Values{"scope": {"https://example.com/a"}}},
		"google, an ID": {"{google: {key: robot, audience: 'https://run.example.com'}}", "Bearer e30.", []string{"e30."}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var arrived string
			at := serve(t, func(w http.ResponseWriter, r *http.Request) {
				arrived = r.Header.Get("Authorization")
				fmt.Fprint(w, arrived, " ", r.Header.Get("X-Amz-Security-Token"), " as ", strings.TrimPrefix(arrived, "Bearer "))
			})
			out, err := runWith(t, newSet(step.Options{HTTP: local}), asked(at, test.auth), tokens.secrets())
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(arrived, test.arrives) {
				t.Errorf("%q arrived, want %q", arrived, test.arrives)
			}
			hosts := []string{strings.TrimPrefix(at, "http://")}
			if strings.HasPrefix(name, "oauth2") || strings.HasPrefix(name, "google") {
				hosts = append(hosts, strings.TrimPrefix(tokens.URL, "http://"))
			}
			if len(out.Secrets) != 1 || !slices.Equal(out.Hosts, hosts) {
				t.Errorf("the audit log has %v, %v", out.Secrets, out.Hosts)
			}
			seen := *out.Report.Steps[0].HTTP
			if !strings.Contains(seen.Request, "authorization: ***\n") {
				t.Errorf("the report has %s", seen.Request)
			}
			shown := fmt.Sprint(seen)
			if name != "aws" { // the signature fits this request only
				shown += fmt.Sprint(out.Body)
			}
			for _, hidden := range test.hidden {
				if strings.Contains(shown, hidden) {
					t.Errorf("%s is shown: %s", hidden, shown)
				}
			}
			if form, _ := tokens.asked.Load().(url.Values); test.form != nil {
				for field, want := range test.form {
					if got := form[field]; len(got) != 1 || got[0] != want[0] {
						t.Errorf("asked for a token with %s %v, want %v", field, got, want)
					}
				}
			}
		})
	}
}

// TestTokensAreKept: until a minute before they expire, for all who want the same, and fetched
// anew once when the target refuses them.
func TestTokensAreKept(t *testing.T) {
	var refuses atomic.Value // this token; all: any
	refuses.Store("")
	var bodies atomic.Int32
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if body := make([]byte, 2); r.ContentLength == 1 {
			n, _ := r.Body.Read(body)
			bodies.Add(int32(n))
		}
		if refused := refuses.Load().(string); refused == "all" || r.Header.Get("Authorization") == "Bearer "+refused {
			w.WriteHeader(401)
		}
	})
	for name, test := range map[string]struct {
		expires  string
		refused  string
		also     string // what a second step wants besides
		fetched  int32
		status   int
		received int32
	}{
		"kept":             {`,"expires_in":3600`, "", "", 1, 200, 2},
		"kept, as text":    {`,"expires_in":"3600"`, "", "", 1, 200, 2},
		"without an end":   {"", "", "", 1, 200, 2},
		"over in a minute": {`,"expires_in":59`, "", "", 2, 200, 2},
		"of another scope": {`,"expires_in":3600`, "", ", scope: b", 2, 200, 2},
		"refused":          {`,"expires_in":3600`, "t-0001", "", 2, 200, 3},
		"refused again":    {`,"expires_in":3600`, "all", "", 3, 401, 4},
	} {
		t.Run(name, func(t *testing.T) {
			tokens := newTokenServer(t)
			tokens.expires = test.expires
			refuses.Store(test.refused)
			bodies.Store(0)
			set := newSet(step.Options{HTTP: local})
			for _, more := range []string{"", test.also} {
				out, err := runWith(t, set, asked(at, "{oauth2: {url: '"+tokens.URL+"', client: client"+more+"}}")+"\nbody: 1", tokens.secrets())
				if err != nil {
					t.Fatal(err)
				}
				if got := out.Report.Steps[0].HTTP.StatusCode; got != test.status {
					t.Errorf("answered with %d, want %d", got, test.status)
				}
			}
			if got := tokens.given.Load(); got != test.fetched {
				t.Errorf("%d tokens were fetched, want %d", got, test.fetched)
			}
			if got := bodies.Load(); got != test.received {
				t.Errorf("%d bodies arrived, want %d", got, test.received)
			}
		})
	}
}

// TestTokensAreShared: calls at the same time wait for one token.
func TestTokensAreShared(t *testing.T) {
	at := serve(t, func(http.ResponseWriter, *http.Request) {})
	tokens := newTokenServer(t)
	set := newSet(step.Options{HTTP: local})
	done := make(chan error)
	for range 20 {
		go func() {
			_, err := runWith(t, set, asked(at, "{oauth2: {url: '"+tokens.URL+"', client: client}}"), tokens.secrets())
			done <- err
		}()
	}
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := tokens.given.Load(); got != 1 {
		t.Errorf("%d tokens were fetched", got)
	}
}

// TestNoCredential: the errors of credentials that can't be had, which quote neither them nor what
// a token endpoint says.
func TestNoCredential(t *testing.T) {
	tokens := newTokenServer(t)
	replying := func(status int, body string) string {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Location", tokens.URL)
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
	}
	elsewhere, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	from := func(url string) string { return "{oauth2: {url: '" + url + "', client: client}}" }
	for name, test := range map[string]struct {
		auth string
		kind sluice.Kind
		code string
		says string
	}{
		"refused":               {"{oauth2: {url: '" + tokens.URL + "', client: wrong}}", sluice.Invalid, "auth-failed", `"127.0.0.1" answers with 401 invalid_client`},
		"away":                  {from(replying(503, "s3cret")), sluice.Unavailable, "auth-failed", "503 Service Unavailable"},
		"too often":             {from(replying(429, "s3cret")), sluice.Unavailable, "auth-failed", "429"},
		"a redirect":            {from(replying(307, "")), sluice.Invalid, "auth-failed", "307"},
		"no token":              {from(replying(200, `{"s3cret":1}`)), sluice.Unavailable, "auth-failed", "not a valid answer"},
		"no JSON":               {from(replying(200, `s3cret`)), sluice.Unavailable, "auth-failed", "not a valid answer"},
		"too long":              {from(replying(200, `{"access_token":"s3cret","a":"`+strings.Repeat("x", 64<<10)+`"}`)), sluice.Unavailable, "auth-failed", "not a valid answer"},
		"a token with a header": {from(replying(200, `{"access_token":"s3cret\r\nX-Other: 1"}`)), sluice.Unavailable, "auth-failed", "not a valid answer"},
		"aws in lines":          {"{aws: {key: aws lines, service: s3, region: x}}", sluice.Invalid, "auth-failed", `"aws lines" must be one line`},
		"a word of its own":     {from(replying(400, `{"error":"s3cret"}`)), sluice.Invalid, "auth-failed", "400 Bad Request"},
		"a private network":     {from("http://" + elsewhere.Addr().String()), sluice.Forbidden, "address-refused", "127.0.0.2"},
		"nobody there":          {from("http://127.0.0.1:1"), sluice.Unavailable, "auth-failed", "refuses connections"},
		"basic without a colon": {"{basic: plain}", sluice.Invalid, "auth-failed", `"plain" must be user:password`},
		"several lines":         {"{bearer: lines}", sluice.Invalid, "auth-failed", `"lines" must be one line`},
		"client without colon":  {"{oauth2: {url: 'https://example.com', client: plain}}", sluice.Invalid, "auth-failed", "id:secret"},
		"aws without colon":     {"{aws: {key: plain, service: s3, region: x}}", sluice.Invalid, "auth-failed", "ACCESSKEY:SECRET"},
		"aws without key":       {"{aws: {key: half, service: s3, region: x}}", sluice.Invalid, "auth-failed", "ACCESSKEY:SECRET"},
		"no service account":    {"{google: {key: junk, scope: a}}", sluice.Invalid, "auth-failed", "JSON of a service account"},
		"no JSON at all":        {"{google: {key: plain, scope: a}}", sluice.Invalid, "auth-failed", "JSON of a service account"},
		"no key in it":          {"{google: {key: bad key, scope: a}}", sluice.Invalid, "auth-failed", "private_key"},
		"a strange token_uri":   {"{google: {key: strange, scope: a}}", sluice.Invalid, "auth-failed", "token_uri"},
		"no certificate":        {"{certificate: pem}", sluice.Invalid, "auth-failed", `"pem" must be a certificate and its key in PEM`},
	} {
		t.Run(name, func(t *testing.T) {
			at := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the target was called") })
			_, err := runWith(t, newSet(step.Options{HTTP: local}), asked(at, test.auth), tokens.secrets())
			refuses(t, err, test.kind, test.code, test.says)
			for _, secret := range []string{"s3cret", "wr0ng", "no-colon", "b-line", "k3y-in"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%s is in %v", secret, err)
				}
			}
			if wait := sluice.AsError(err).RetryAfter; name == "away" && wait != 7*time.Second {
				t.Errorf("wait %s", wait)
			}
		})
	}
}

// TestATokenEndpointIsATargetOfItsOwn: a run waits for the server that is away, the token endpoint or the one that was
// to be called. A token that is kept is in order, too: no other run of the pipeline may ask for one.
func TestATokenEndpointIsATargetOfItsOwn(t *testing.T) {
	tokens := newTokenServer(t)
	replying := func(status int) string {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	over := make(chan struct{})
	hangs := serve(t, func(http.ResponseWriter, *http.Request) { <-over })
	t.Cleanup(func() { close(over) })
	target := func(at string) sluice.Target {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		return sluice.TargetOf(u)
	}
	set, ready, down := newSet(step.Options{HTTP: local}), replying(200), replying(503)
	for name, test := range map[string]struct {
		from, to string
		away     string // "" if nothing is
		reached  []string
	}{
		"all is well":     {tokens.URL, ready, "", []string{tokens.URL, ready}},
		"a kept token":    {tokens.URL, down, down, []string{tokens.URL}},
		"no token":        {down, ready, down, nil},
		"a token hangs":   {hangs, ready, hangs, nil},
		"no client":       {replying(400), ready, "", nil},
		"nobody is there": {"http://127.0.0.1:1", ready, "http://127.0.0.1:1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var run *sluice.Run
			text := "pipeline: [http.request: {url: '" + test.to + "', timeout: 500ms, auth: {oauth2: {url: '" + test.from + "', client: client}}}]"
			_, err := runWith(t, set, text, tokens.secrets(), func(r *sluice.Run) { run = r })
			if name == "a token hangs" {
				refuses(t, err, sluice.Unavailable, "auth-failed", "it took too long")
			}
			reached, away := run.Reached()
			if want := test.away; want == "" && away != 0 || want != "" && away != target(want) {
				t.Errorf("it waits for %d, want %s", away, want)
			}
			for _, want := range test.reached {
				if !slices.Contains(reached, target(want)) {
					t.Errorf("it has not reached %s", want)
				}
			}
			if slices.Contains(reached, target(ready)) != slices.Contains(test.reached, ready) {
				t.Error("what is reached is not what was called")
			}
		})
	}
}

// TestCredentialsStayAtTheirOrigin: neither a header nor a certificate follows a redirect to
// another origin, nor back from there.
func TestCredentialsStayAtTheirOrigin(t *testing.T) {
	seen := map[string]string{}
	note := func(r *http.Request, at string) {
		seen[at] = strings.SplitN(r.Header.Get("Authorization"), " ", 2)[0] + fmt.Sprint(len(r.TLS.PeerCertificates))
	}
	var home, away *httptest.Server
	secure := func(handler http.HandlerFunc) *httptest.Server {
		s := httptest.NewUnstartedServer(handler)
		s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	home = secure(func(w http.ResponseWriter, r *http.Request) {
		note(r, "home"+r.URL.Path)
		switch r.URL.Path {
		case "/":
			http.Redirect(w, r, "/second", http.StatusTemporaryRedirect)
		case "/second":
			http.Redirect(w, r, away.URL+"/third", http.StatusTemporaryRedirect)
		}
	})
	away = secure(func(w http.ResponseWriter, r *http.Request) {
		note(r, "away"+r.URL.Path)
		http.Redirect(w, r, home.URL+"/fourth", http.StatusTemporaryRedirect)
	})
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}, &x509.Certificate{}, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	chain := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})) + string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
	roots := x509.NewCertPool()
	roots.AddCert(home.Certificate())
	o := local
	o.TLS = &tls.Config{RootCAs: roots}
	secrets := newTokenServer(t).secrets()
	secrets["chain"] = chain
	for auth, kind := range map[string]string{
		"{certificate: chain, bearer: bearer}": "Bearer1", "{certificate: chain}": "1", "{bearer: bearer}": "Bearer0",
		"{aws: {key: aws, service: s3, region: x}}": "AWS4-HMAC-SHA2560",
	} {
		clear(seen)
		out, err := runWith(t, newSet(step.Options{HTTP: o}), asked(home.URL+"/", auth), secrets)
		if err != nil {
			t.Fatal(err)
		}
		for at, want := range map[string]string{"home/": kind, "home/second": kind, "away/third": "0", "home/fourth": "0"} {
			if seen[at] != want {
				t.Errorf("%s: %s got %q, want %q", auth, at, seen[at], want)
			}
		}
		if shown := fmt.Sprint(*out.Report.Steps[0].HTTP); strings.Contains(shown, "PRIVATE KEY") || strings.Contains(shown, "authorization") != (kind != "1") {
			t.Errorf("%s: the report has %s", auth, shown)
		}
	}
}

// TestAuthIsChecked: before a run, with what is wrong.
func TestAuthIsChecked(t *testing.T) {
	set := newSet(step.Options{HTTP: local})
	for auth, says := range map[string]string{
		"{}":                               "must say by what",
		"x":                                "must be an object",
		"{basic: a, bearer: b}":            "must not have both basic and bearer",
		"{digest: a}":                      `has "digest", which is none of aws, basic, bearer, certificate, google, oauth2`,
		"{basic: {a: b}}":                  "name of a secret for basic",
		"{bearer: ''}":                     "name of a secret for bearer",
		"{bearer: '#{body.x}'}":            "written out in the source",
		"'#{body.x}'":                      "written out in the source",
		"{oauth2: {url: 'https://a.com'}}": "must have client for oauth2",
		"{oauth2: {url: 'ftp://a.com', client: c}}":               "a url for oauth2 that must start with http:// or https://",
		"{oauth2: {url: 'https://u:p@a.com', client: c}}":         "must not have a user name",
		"{oauth2: {url: 'https://a.com', client: c, style: x}}":   "header or body",
		"{oauth2: {url: 'https://a.com', client: c, secret: x}}":  `not "secret"`,
		"{oauth2: {url: 'https://a.com', client: c, scope: [a]}}": `not "scope"`,
		"{aws: {key: k, service: s3}}":                            "must have region for aws",
		"{aws: key}":                                              "must have key for aws",
		"{google: {key: k}}":                                      "either scope or audience",
		"{google: {key: k, scope: a, audience: b}}":               "either scope or audience",
	} {
		for _, name := range []string{"http.request", "http.forward"} {
			_, err := source.Parse("pipeline:\n- "+name+": {url: 'https://example.com', auth: "+auth+"}", set, expression.NewLanguage(step.Functions()))
			refuses(t, err, sluice.Invalid, "pipeline-invalid", says)
		}
		if !strings.Contains(auth, "#{") && auth != "x" {
			parsed, err := runSource(t, set, "pipeline: [set: {value: "+auth+"}]")
			if err != nil {
				t.Fatal(err)
			}
			_, err = call(t.Context(), set, "http.request", args{"url": "https://example.com", "auth": command.Text(parsed)})
			refuses(t, err, sluice.Invalid, "parameter-invalid", says)
		}
	}
}
