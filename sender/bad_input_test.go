package sender

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/problem"
)

func TestBadSignatureHeaders(t *testing.T) {
	const secret = "secret"
	body := []byte(`{"id":"evt_1"}`)
	now := time.Unix(1_800_000_000, 0)
	goodHex := hexOf(t, Scheme{Header: "X-S"}, secret, body, now)
	good64 := hexOf(t, Scheme{Header: "X-S", Encoding: "base64"}, secret, body, now)
	tests := []struct {
		name   string
		scheme Scheme
		values []string
		want   string
	}{
		{"good", Scheme{}, []string{goodHex}, "ok"},
		{"good in upper case", Scheme{}, []string{strings.ToUpper(goodHex)}, "ok"},
		{"good with a prefix", Scheme{Format: "sha256={signature}"}, []string{"sha256=" + goodHex}, "ok"},
		{"good, prefix with a space", Scheme{Format: "Signature {signature}"}, []string{"Signature " + goodHex}, "ok"},
		{"good behind 15 others", Scheme{}, []string{strings.Repeat("00 ", 15) + goodHex}, "ok"},
		{"none", Scheme{}, nil, "signature-missing"},
		{"empty", Scheme{}, []string{""}, "signature-missing"},
		{"doubled", Scheme{}, []string{goodHex, goodHex}, "signature-invalid"},
		{"doubled, one empty", Scheme{}, []string{goodHex, ""}, "signature-invalid"},
		{"spaces", Scheme{}, []string{"   "}, "signature-invalid"},
		{"huge", Scheme{}, []string{strings.Repeat("a", 1<<20)}, "signature-invalid"},
		{"huge with the good one", Scheme{}, []string{strings.Repeat("0 ", 1<<14) + goodHex}, "signature-invalid"},
		{"17 alternatives", Scheme{}, []string{strings.Repeat("00 ", 16) + goodHex}, "signature-invalid"},
		{"one alternative of 8000 bytes", Scheme{}, []string{strings.Repeat("0", 8000)}, "signature-invalid"},
		{"not ASCII", Scheme{}, []string{"größe" + goodHex}, "signature-invalid"},
		{"not UTF-8", Scheme{}, []string{"\xff\xfe" + goodHex}, "signature-invalid"},
		{"NUL", Scheme{}, []string{goodHex + "\x00"}, "signature-invalid"},
		{"too short", Scheme{}, []string{goodHex[:62]}, "signature-invalid"},
		{"odd", Scheme{}, []string{goodHex[:63]}, "signature-invalid"},
		{"too long", Scheme{}, []string{goodHex + "00"}, "signature-invalid"},
		{"one bit off", Scheme{}, []string{flipped(goodHex)}, "signature-invalid"},
		{"prefix only", Scheme{Format: "sha256={signature}"}, []string{"sha256="}, "signature-invalid"},
		{"other prefix", Scheme{Format: "sha256={signature}"}, []string{"sha1=" + goodHex}, "signature-invalid"},
		{"prefix twice", Scheme{Format: "sha256={signature}"}, []string{"sha256=sha256=" + goodHex}, "signature-invalid"},
		{"no prefix", Scheme{Format: "sha256={signature}"}, []string{goodHex}, "signature-invalid"},
		{"prefix in upper case", Scheme{Format: "sha256={signature}"}, []string{"SHA256=" + goodHex}, "signature-invalid"},
		{"base64 for hex", Scheme{}, []string{good64}, "signature-invalid"},
		{"hex for base64", Scheme{Encoding: "base64"}, []string{goodHex}, "signature-invalid"},
		{"good base64", Scheme{Encoding: "base64"}, []string{good64}, "ok"},
		{"base64 without padding", Scheme{Encoding: "base64"}, []string{strings.TrimRight(good64, "=")}, "signature-invalid"},
		{"base64 with a line end in it", Scheme{Encoding: "base64"}, []string{good64[:10] + "!" + good64[10:]}, "signature-invalid"},
		{"other algorithm", Scheme{Algorithm: "sha512"}, []string{goodHex}, "signature-invalid"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.scheme.Header = "X-S"
			v := schemeVerifier(t, test.scheme, secret)
			call := &Call{Method: "POST", URL: "https://x.example.com/", Header: http.Header{"X-S": test.values}, Body: body}
			err := v.Verify(t.Context(), call, now)
			if codeOf(err) != test.want {
				t.Errorf("%s (%v), want %s", codeOf(err), err, test.want)
			}
			if err != nil && (problem.Status(err) != http.StatusUnauthorized || strings.Contains(problem.Of(err).Detail, "X-S")) {
				t.Errorf("the caller is told %+v", problem.Of(err))
			}
		})
	}
}

func TestBadTimestamps(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	seconds := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	tests := []struct{ name, timestamp, want string }{
		{"now", seconds(0), "ok"},
		{"5 minutes old", seconds(-5 * time.Minute), "ok"},
		{"older", seconds(-5*time.Minute - time.Second), "signature-expired"},
		{"5 minutes ahead", seconds(5 * time.Minute), "ok"},
		{"further ahead", seconds(5*time.Minute + time.Second), "signature-expired"},
		{"far future", "99999999999", "signature-expired"},
		{"milliseconds", seconds(0) + "000", "ok"},
		{"old milliseconds", seconds(-time.Hour) + "999", "signature-expired"},
		{"microseconds", seconds(0) + "000000", "signature-invalid"},
		{"1970", "0", "signature-expired"},
		{"RFC 3339", now.UTC().Format(time.RFC3339), "ok"},
		{"RFC 3339 with a fraction", now.UTC().Format("2006-01-02T15:04:05.000Z07:00"), "ok"},
		{"old RFC 3339", now.Add(-time.Hour).UTC().Format(time.RFC3339), "signature-expired"},
		{"negative", "-" + seconds(0), "signature-invalid"},
		{"with a sign", "+" + seconds(0), "signature-invalid"},
		{"with a fraction", seconds(0) + ".5", "signature-invalid"},
		{"with underscores", "1_800_000_000", "signature-invalid"},
		{"hexadecimal", "0x6b49d200", "signature-invalid"},
		{"overflow", "99999999999999999999999999", "signature-invalid"},
		{"words", "now", "signature-invalid"},
		{"very long", strings.Repeat("1", 4000), "signature-invalid"},
		{"other digits", "１８００００００００", "signature-invalid"},
		{"empty", "", "signature-missing"},
	}
	scheme := Scheme{Header: "X-S", TimestampHeader: "X-T", Signed: "{timestamp}.{body}"}
	inFormat := Scheme{Header: "X-S", Format: "t={timestamp},v1={signature}", Signed: "{timestamp}.{body}"}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			signature := hexOf(t, Scheme{Header: "X-S"}, "secret", []byte(test.timestamp+".body"), now)
			call := &Call{Method: "POST", Header: http.Header{"X-S": {signature}, "X-T": {test.timestamp}}, Body: []byte("body")}
			if err := schemeVerifier(t, scheme, "secret").Verify(t.Context(), call, now); codeOf(err) != test.want {
				t.Errorf("by header: %s, want %s", codeOf(err), test.want)
			}
			call.Header.Set("X-S", "t="+test.timestamp+",v1="+signature)
			want := test.want
			if want == "signature-missing" {
				want = "signature-invalid" // the header is there
			}
			if err := schemeVerifier(t, inFormat, "secret").Verify(t.Context(), call, now); codeOf(err) != want {
				t.Errorf("in the header: %s, want %s", codeOf(err), want)
			}
		})
	}
}

func TestTimestampTwiceInOneHeader(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	v := schemeVerifier(t, Scheme{Header: "X-S", Format: "t={timestamp},v1={signature}", Signed: "{timestamp}.{body}"}, "secret")
	call := &Call{Header: http.Header{}, Body: []byte("x")}
	if err := v.Sign(call, now); err != nil {
		t.Fatal(err)
	}
	call.Header.Set("X-S", "t=1,"+call.Header.Get("X-S"))
	if err := v.Verify(t.Context(), call, now); codeOf(err) != "signature-invalid" {
		t.Errorf("%v", err)
	}
}

func TestTheBestErrorOfTwoSecrets(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	scheme := Scheme{Header: "X-S", TimestampHeader: "X-T", Signed: "{timestamp}.{body}"}
	call := &Call{Header: http.Header{}, Body: []byte("x")}
	if err := schemeVerifier(t, scheme, "old").Sign(call, now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, secrets := range [][]string{{"old", "new"}, {"new", "old"}} {
		if err := schemeVerifier(t, scheme, secrets...).Verify(t.Context(), call, now); codeOf(err) != "signature-expired" {
			t.Errorf("%q: %v", secrets, err)
		}
	}
}

// hexOf returns the signature of a body alone.
func hexOf(t *testing.T, s Scheme, secret string, body []byte, now time.Time) string {
	t.Helper()
	call := &Call{Header: http.Header{}, Body: body}
	if err := schemeVerifier(t, s, secret).Sign(call, now); err != nil {
		t.Fatal(err)
	}
	return call.Header.Get("X-S")
}

func newScheme(s Scheme, secrets []string, keys Keys) (*Verifier, error) {
	p, err := s.preset()
	if err != nil {
		return nil, err
	}
	return New(p, secrets, keys)
}

func schemeVerifier(t testing.TB, s Scheme, secrets ...string) *Verifier {
	t.Helper()
	v, err := newScheme(s, secrets, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func flipped(hex string) string {
	if hex[0] == '0' {
		return "1" + hex[1:]
	}
	return "0" + hex[1:]
}
