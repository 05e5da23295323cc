package sender

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice"
)

// published is a provider's server: a local one that answers for every host,
// with a certificate that the fetcher trusts.
func published(t *testing.T, handler http.HandlerFunc) *Fetcher {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: transport.TLSClientConfig.RootCAs, ServerName: "example.com"}
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	t.Cleanup(transport.CloseIdleConnections)
	return NewFetcher(transport)
}

// TestDiagnosesAskNobody: what would fit is tried with the keys that are known, since guesses
// at a secret must not be sent to whoever checks it.
func TestDiagnosesAskNobody(t *testing.T) {
	var asked atomic.Int32
	f := published(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	preset, _ := Find("plaid")
	v, err := New(preset, []string{"client:secret"}, f)
	if err != nil {
		t.Fatal(err)
	}
	token := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","kid":"x"}`)) + ".e30.AAAA"
	call := &Call{Method: "POST", Header: http.Header{"Plaid-Verification": {token}}, Body: []byte("{}")}
	if findings := v.Diagnose(t.Context(), call, time.Now(), map[string]string{"another": "client:other"}); len(findings) == 0 || asked.Load() != 0 {
		t.Errorf("it finds %q and asks %d times", findings, asked.Load())
	}
	if err := v.Verify(t.Context(), call, time.Now()); err == nil || asked.Load() == 0 {
		t.Errorf("a call is checked without asking: %v", err)
	}
}

// The two senders with public keys, with a real server and its certificate.
func TestKeysOverHTTP(t *testing.T) {
	for _, name := range []string{"aws-sns", "google-pubsub"} {
		file := readVectors(t, name)
		var asked atomic.Int32
		f := published(t, func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			if content, ok := file.Keys["https://"+r.Host+r.URL.Path]; ok {
				_, _ = w.Write([]byte(content))
				return
			}
			http.NotFound(w, r)
		})
		p, _ := Find(name)
		v, err := New(p, file.Secrets, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range file.Calls {
			if err := v.Verify(t.Context(), c.call(), file.now()); codeOf(err) != c.Want {
				t.Errorf("%s, %s: %v", name, c.Name, err)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
}

func TestKeysOutOfReach(t *testing.T) {
	for _, name := range []string{"aws-sns", "google-pubsub"} {
		file := readVectors(t, name)
		v := verifierOf(t, name, file.Secrets, nil)
		if err := v.Verify(t.Context(), file.Calls[0].call(), file.now()); sluice.AsError(err).Kind != sluice.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A new key of Google's is fetched; a certificate that is no longer valid, or is
// none, is not used.
func TestChangedKeys(t *testing.T) {
	file := readVectors(t, "google-pubsub")
	content := `{"keys":[]}`
	f := published(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(content)) })
	now := file.now()
	f.Now = func() time.Time { return now }
	p, _ := Find("google-pubsub")
	v, err := New(p, file.Secrets, f)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Verify(t.Context(), file.Calls[0].call(), now); codeOf(err) != "signature-invalid" {
		t.Errorf("without its key: %v", err)
	}
	content = file.Keys[googleKeys]
	now = now.Add(publishedRetry + time.Second)
	if err := v.Verify(t.Context(), file.Calls[0].call(), now); err != nil {
		t.Errorf("with the new key: %v", err)
	}

	sns := readVectors(t, "aws-sns")
	for address, certificate := range sns.Keys {
		for what, test := range map[string]struct {
			keys listedKeys
			now  time.Time
		}{
			"before its time": {sns.Keys, time.Unix(0, 0)},
			"behind its time": {sns.Keys, sns.now().Add(100 * 365 * 24 * time.Hour)},
			"no PEM":          {listedKeys{address: "hello"}, sns.now()},
			"no certificate":  {listedKeys{address: strings.ReplaceAll(certificate, "M", "N")}, sns.now()},
			"empty":           {listedKeys{address: ""}, sns.now()},
		} {
			v := verifierOf(t, "aws-sns", sns.Secrets, test.keys)
			if err := v.Verify(t.Context(), sns.Calls[0].call(), test.now); codeOf(err) != "signature-invalid" {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

func TestAddressesOfSNS(t *testing.T) {
	const path = "/SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem"
	for address, ok := range map[string]bool{
		"https://sns.us-west-2.amazonaws.com" + path:              true,
		"https://sns.us-gov-west-1.amazonaws.com" + path:          true,
		"https://sns.cn-north-1.amazonaws.com.cn" + path:          true,
		"http://sns.us-west-2.amazonaws.com" + path:               false,
		"https://sns.us-west-2.amazonaws.com:444" + path:          false,
		"https://sns.us-west-2.amazonaws.com@evil.example" + path: false,
		"https://a@sns.us-west-2.amazonaws.com" + path:            false,
		"https://evil.example/sns.us-west-2.amazonaws.com" + path: false,
		"https://sns.us-west-2.amazonaws.com.evil.example" + path: false,
		"https://xsns.us-west-2.amazonaws.com" + path:             false,
		"https://sns.s3.amazonaws.com" + path:                     false,
		"https://sns.s3-us-west-2.amazonaws.com" + path:           false,
		"https://sns.amazonaws.com" + path:                        false,
		"https://SNS.us-west-2.amazonaws.com" + path:              false,
		"https://sns.us-west-2.amazonaws.com/x" + path:            false,
		"https://sns.us-west-2.amazonaws.com" + path + "?x=1":     false,
		"https://sns.us-west-2.amazonaws.com" + path + "#x":       false,
		"https://sns.us-west-2.amazonaws.com/x.pem":               false,
		"https://sns.us-west-2.amazonaws.com/%53" + path[2:]:      false,
		"https:sns.us-west-2.amazonaws.com" + path:                false,
		"file://sns.us-west-2.amazonaws.com" + path:               false,
		"": false,
	} {
		if isSigningCertURL(address) != ok {
			t.Errorf("%q is %v", address, !ok)
		}
	}
	for address, ok := range map[string]bool{
		"https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&Token=1":        true,
		"https://sns.us-east-1.amazonaws.com/?Action=Publish&Message=x":                  false,
		"https://sns.us-east-1.amazonaws.com/x?Action=ConfirmSubscription":               false,
		"http://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription":                 false,
		"https://sns.us-east-1.amazonaws.com.evil.example/?Action=ConfirmSubscription":   false,
		"https://169.254.169.254/?Action=ConfirmSubscription":                            false,
		"https://sns.us-east-1.amazonaws.com\\@evil.example/?Action=ConfirmSubscription": false,
	} {
		if isSubscribeURL(address) != ok {
			t.Errorf("%q is %v", address, !ok)
		}
	}
}
