package sender

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The keys of RFC 9421, B.1.
const (
	rfcPSS = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAr4tmm3r20Wd/PbqvP1s2
+QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct+Lh1GH45x28Rw3Ry53mm+
oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHq
gDsznjPFmTOtCEcN2Z1FpWgchwuYLPL+Wokqltd11nqqzi+bJ9cvSKADYdUAAN5W
Utzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4
aOT9v6d+nb4bnNkQVklLQ3fVAvJm+xdDOp9LCNCN48V2pnDOkFV6+U9nV5oyc6XI
2wIDAQAB
-----END PUBLIC KEY-----`
	rfcP256 = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lf
w0EkjqF7xB4FivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
-----END PUBLIC KEY-----`
	rfcEdwards = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=\n-----END PUBLIC KEY-----"
	rfcShared  = "base64:uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ=="
)

// rfcCall is the request of RFC 9421, B.2.
func rfcCall(input, signature string) *Call {
	return &Call{Method: "POST", URL: "https://example.com/foo?param=Value&Pet=dog", Body: []byte(`{"hello": "world"}`), Header: http.Header{
		"Date": {"Tue, 20 Apr 2021 02:07:55 GMT"}, "Content-Type": {"application/json"}, "Content-Length": {"18"},
		contentDigest:  {"sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:"},
		signatureInput: {input}, signatureHeader: {signature},
	}}
}

// TestExamplesOfTheRFC has the requests of RFC 9421, B.2 and 4.3. Some cover less than we
// demand.
func TestExamplesOfTheRFC(t *testing.T) {
	for name, test := range map[string]struct{ key, input, signature, base string }{
		"B.2.1": {rfcPSS, `sig-b21=();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"`,
			`sig-b21=:d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==:`, ""},
		"B.2.2": {rfcPSS, `sig-b22=("@authority" "content-digest" "@query-param";name="Pet");created=1618884473;keyid="test-key-rsa-pss";tag="header-example"`,
			`sig-b22=:LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8UCMkSowOB4+ECxCmT8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SARYhpTlaqwZVtR8NV7+4UKkjqpcAoFqWFQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd4je2U/lankenQ99PZfB4jY3I5rSV2DSBVkSFsURIjYErOs0tFTQosMTAoxk//0RoKUqiYY8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==:`, ""},
		"B.2.3": {rfcPSS, `sig-b23=("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"`,
			`sig-b23=:bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2voTp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXmIkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==:`, ""},
		"4.3": {rfcP256, `sig1=("@method" "@authority" "@path" "content-digest" "content-type" "content-length");created=1618884475;keyid="test-key-ecc-p256"`,
			`sig1=:X5spyd6CFnAG5QnDyHfqoSNICd+BUP4LYMz2Q0JXlb//4Ijpzp+kve2w4NIyqeAuM7jTDX+sNalzA8ESSaHD3A==:`, ""},
		"B.2.5": {rfcShared, `sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"`,
			`sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:`,
			"\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@authority\": example.com\n\"content-type\": application/json\n\"@signature-params\": (\"date\" \"@authority\" \"content-type\");created=1618884473;keyid=\"test-shared-secret\""},
		"B.2.6": {rfcEdwards, `sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"`,
			`sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:`, ""},
	} {
		ring, err := newKeyring("", test.key, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, call, at := &messageCheck{tolerance: defaultTolerance, ring: ring}, rfcCall(test.input, test.signature), time.Unix(1618884480, 0)
		if err := m.check(t.Context(), call, at); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		members, _ := scanMembers(test.input)
		if base, err := signatureBase(call, members[0]); test.base != "" && base != test.base {
			t.Errorf("%s signs %q, %v", name, base, err)
		}
		m.components = defaultComponents
		if err := m.check(t.Context(), call, at); codeOf(err) != "signature-invalid" {
			t.Errorf("%s covers little: %v", name, err)
		}
		m.components = nil
		call.Body = []byte(`{"hello": "World"}`)
		if err := m.check(t.Context(), call, at); codeOf(err) != "signature-invalid" {
			t.Errorf("%s with another body: %v", name, err)
		}
	}
}

// TestVectorsOfAdCP: senders of the Ad Context Protocol write base64url, and sign a relay's
// label beside their own.
func TestVectorsOfAdCP(t *testing.T) {
	const (
		address = "https://buyer.example.com/keys"
		keys    = `{"keys":[{"kid":"test-ed25519-webhook-2026","kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig","x":"y7tTfeqazsFeTn3ccCzQlcJ4qFWuYsu-JkJAcfc9VoA"},
			{"kid":"test-es256-webhook-2026","kty":"EC","crv":"P-256","alg":"ES256","use":"sig","x":"0X7G_jryFpiX9XO3CKxIqUQs3DC8OhUkw6Rb5QOZd5M","y":"MwZN7qQJzLpTD5dyDJAoqOLZJ9r8-GCh4BnOYu6NE0c"}]}`
		covered = `("@method" "@target-uri" "@authority" "content-type" "content-digest");created=1776520800;expires=1776521100;nonce="KXYnfEfJ0PBRZXQyVXfVQA";keyid="`
		edwards = `sig1=` + covered + `test-ed25519-webhook-2026";alg="ed25519";tag="adcp/webhook-signing/v1"`
		curve   = `sig1=` + covered + `test-es256-webhook-2026";alg="ecdsa-p256-sha256";tag="adcp/webhook-signing/v1"`
		signed  = `sig1=:nqTKCpjlqf1OqZPuJyPeiF7HJ01G8KmPNSzzmad0PAJv7OUVKthI7ks_j4G-6x1H4mBpXDIISgX_iZQiYvG7Dg:`
		relay   = `, relay=("@method" "@target-uri" "@authority");created=1776520800;keyid="relay-key";alg="ed25519"`
	)
	v := schemeOf(t, `{"algorithm":"rfc9421","label":"sig1","keys":"`+address+`"}`, "", listedKeys{address: keys})
	for name, test := range map[string]struct{ input, signature, want string }{
		"ed25519":              {edwards, signed, "ok"},
		"ES256":                {curve, `sig1=:iVB5KDEpieLdhi-wx1z9ZEPPJLDCN0JRjInTVCxN4STDBFCAgk78UIIbwWNlSVT3pChDfloWxXezPRxqT5IspQ:`, "ok"},
		"another label":        {edwards + relay, signed, "ok"},
		"invalid":              {edwards, strings.Replace(signed, "nqTK", "YaTK", 1), "signature-invalid"},
		"alphabets mixed":      {edwards, strings.Replace(signed, "4G-6", "4G+6", 1), "signature-invalid"},
		"malformed":            {"sig1=this-is-not-valid-structured-fields", signed, "signature-invalid"},
		"without input":        {"", signed, "signature-missing"},
		"an unknown key":       {strings.Replace(edwards, "test-ed25519", "test-unknown", 1), signed, "signature-invalid"},
		"the other's key":      {strings.Replace(edwards, "test-ed25519", "test-es256", 1), signed, "signature-invalid"},
		"a weaker algorithm":   {strings.Replace(edwards, `"ed25519"`, `"rsa-v1_5-sha256"`, 1), signed, "signature-invalid"},
		"no component covered": {strings.Replace(edwards, ` "content-digest"`, "", 1), signed, "signature-invalid"},
	} {
		call := &Call{Method: "POST", URL: "https://buyer.example.com/adcp/webhook/create_media_buy/agent_123/op_abc", Header: http.Header{
			"Content-Type": {"application/json"}, contentDigest: {"sha-256=:dJ2koiIMZIhdGE7tidErCHV13FFvOIowCcXDiwyG54I=:"}, signatureInput: {test.input}, signatureHeader: {test.signature},
		}, Body: []byte(`{"idempotency_key":"whk_01HW9D3H8FZP2N6R8T0V4X6Z9B","task_id":"task_456","operation_id":"op_abc","status":"completed","result":{"media_buy_id":"mb_001"}}`)}
		if err := v.Verify(t.Context(), call, time.Unix(1776520800, 0)); codeOf(err) != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// TestForgedMessages starts from a message that is right.
func TestForgedMessages(t *testing.T) {
	v := schemeOf(t, `{"algorithm":"rfc9421"}`, "secret", nil)
	signed := func() *Call {
		call := callWith("", "")
		if err := v.Sign(call, proofTime); err != nil {
			t.Fatal(err)
		}
		return call
	}
	set := func(header string, change func(string) string) func(*Call) {
		return func(c *Call) { c.Header.Set(header, change(c.Header.Get(header))) }
	}
	replace := func(header, before, after string) func(*Call) {
		return set(header, func(text string) string { return strings.Replace(text, before, after, 1) })
	}
	created := `created=` + "1800000000"
	for name, test := range map[string]struct {
		change func(*Call)
		want   string
	}{
		"right":                        {func(*Call) {}, "ok"},
		"other headers":                {func(c *Call) { c.Header.Set("X-Added", "y") }, "ok"},
		"another body":                 {func(c *Call) { c.Body = []byte("Body") }, "signature-invalid"},
		"another method":               {func(c *Call) { c.Method = "PUT" }, "signature-invalid"},
		"another URL":                  {func(c *Call) { c.URL += "&x=y" }, "signature-invalid"},
		"no signature":                 {func(c *Call) { c.Header.Del(signatureHeader) }, "signature-missing"},
		"no input":                     {func(c *Call) { c.Header.Del(signatureInput) }, "signature-missing"},
		"no digest":                    {func(c *Call) { c.Header.Del(contentDigest) }, "signature-invalid"},
		"digest not covered":           {replace(signatureInput, ` "content-digest"`, ""), "signature-invalid"},
		"digest covered by key":        {replace(signatureInput, `"content-digest"`, `"content-digest";key="sha-256"`), "signature-invalid"},
		"another digest added":         {set(contentDigest, func(text string) string { return text + ", sha-512=:AAAA:" }), "signature-invalid"},
		"a digest nobody knows":        {replace(contentDigest, "sha-256", "md5"), "signature-invalid"},
		"label of another":             {replace(signatureHeader, "sig1", "sig2"), "signature-missing"},
		"two inputs":                   {set(signatureInput, func(text string) string { return text + `, sig2=("@method");created=1` }), "signature-invalid"},
		"a label twice":                {set(signatureInput, func(text string) string { return text + ", " + text }), "signature-invalid"},
		"a signature twice":            {set(signatureHeader, func(text string) string { return "sig1=:AAAA:, " + text }), "signature-invalid"},
		"a label twice, in two lines":  {func(c *Call) { c.Header.Add(signatureInput, c.Header.Get(signatureInput)) }, "signature-invalid"},
		"truncated":                    {set(signatureHeader, func(text string) string { return text[:len(text)-10] + ":" }), "signature-invalid"},
		"empty":                        {set(signatureHeader, func(string) string { return "sig1=::" }), "signature-invalid"},
		"no time":                      {replace(signatureInput, ";"+created, ""), "signature-invalid"},
		"another time":                 {replace(signatureInput, created, "created=1800000001"), "signature-invalid"},
		"a later end":                  {set(signatureInput, func(text string) string { return text + ";expires=1900000000" }), "signature-invalid"},
		"an algorithm said":            {set(signatureInput, func(text string) string { return text + `;alg="none"` }), "signature-invalid"},
		"a component twice":            {replace(signatureInput, `"@method"`, `"@method" "@method"`), "signature-invalid"},
		"a component of a response":    {replace(signatureInput, `"@method"`, `"@method" "@status"`), "signature-invalid"},
		"a component that isn't there": {replace(signatureInput, `"@method"`, `"@method" "x-none"`), "signature-invalid"},
		"a space more":                 {replace(signatureInput, `("@method"`, `( "@method"`), "signature-invalid"},
		"too many":                     {set(signatureInput, func(string) string { return "sig1=(" + strings.Repeat(`"a" `, 100) + ")" }), "signature-invalid"},
		"too long":                     {set(signatureInput, func(string) string { return strings.Repeat("a", maxHeader+1) }), "signature-invalid"},
	} {
		call := signed()
		test.change(call)
		if err := v.Verify(t.Context(), call, proofTime); codeOf(err) != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	for after, want := range map[time.Duration]string{4 * time.Minute: "ok", 6 * time.Minute: "signature-expired", -6 * time.Minute: "signature-expired"} {
		if err := v.Verify(t.Context(), signed(), proofTime.Add(after)); codeOf(err) != want {
			t.Errorf("after %s: %v, want %s", after, err, want)
		}
	}
}

// TestEndsOfMessages: a signature that is signed with its end is refused behind it.
func TestEndsOfMessages(t *testing.T) {
	v := schemeOf(t, `{"algorithm":"rfc9421","label":"a"}`, "secret", nil)
	call := callWith("", "")
	if err := v.Sign(call, proofTime); err != nil {
		t.Fatal(err)
	}
	text := call.Header.Get(signatureInput) + ";expires=1800000010"
	members, _ := scanMembers(text)
	base := must(signatureBase(call, members[0]))
	call.Header.Set(signatureInput, text)
	call.Header.Set(signatureHeader, "a=:"+base64.StdEncoding.EncodeToString(macOf(sha256.New, "secret", base))+":")
	for after, want := range map[time.Duration]string{9 * time.Second: "ok", 11 * time.Second: "signature-expired"} {
		if err := v.Verify(t.Context(), call, proofTime.Add(after)); codeOf(err) != want {
			t.Errorf("after %s: %v, want %s", after, err, want)
		}
	}
}

// TestComponents has the values of RFC 9421, 2.2.
func TestComponents(t *testing.T) {
	c := &Call{Method: "POST", URL: "https://WWW.example.com:443/path%2Fx?param=value&foo=bar&baz=bat%2Dman&qux=&var=this%20is%20a%20big%0Amultiline", Header: http.Header{"X-List": {" a ", "b,  c"}, "X-Empty": {""}}}
	for text, want := range map[string]string{
		`"@method"`: "POST", `"@scheme"`: "https", `"@authority"`: "www.example.com", `"@path"`: "/path%2Fx", `"x-list"`: "a, b,  c", `"x-empty"`: "",
		`"@query"`:                   "?param=value&foo=bar&baz=bat%2Dman&qux=&var=this%20is%20a%20big%0Amultiline",
		`"@query-param";name="baz"`:  "bat-man",
		`"@query-param";name="qux"`:  "",
		`"@query-param";name="var"`:  "this%20is%20a%20big%0Amultiline",
		`"@query-param";name="none"`: "refused", `"@query-param"`: "refused", `"x-list";sf`: "refused", `"x-none"`: "refused", `"@status"`: "refused",
	} {
		members, _ := scanMembers("a=(" + text + ")")
		if got, ok := c.component(members[0].components[0]); ok != (want != "refused") || ok && got != want {
			t.Errorf("%s is %q, %t", text, got, ok)
		}
	}
	if got, _ := (&Call{URL: "http://example.com"}).component(component{name: "@request-target"}); got != "/" {
		t.Errorf("the target of nothing is %q", got)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(`sig1=("@method" "content-digest";sf);created=1;keyid="a\"b"`, "sig1=:AAAA:")
	f.Add(`a=(), b=:AA:;x`, "a=:_-8:")
	private := must(rsa.GenerateKey(rand.Reader, 2048))
	curve := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	var checks []*Verifier
	for _, secret := range []string{"secret", pemOf(f, &private.PublicKey), pemOf(f, &curve.PublicKey)} {
		checks = append(checks, schemeOf(f, `{"algorithm":"rfc9421"}`, secret, nil))
	}
	f.Fuzz(func(t *testing.T, input, signature string) {
		for _, v := range checks {
			call := rfcCall(input, signature)
			if code := codeOf(v.Verify(t.Context(), call, proofTime)); code == "ok" || !strings.HasPrefix(code, "signature-") {
				t.Errorf("%q and %q give %s", input, signature, code)
			}
		}
	})
}
