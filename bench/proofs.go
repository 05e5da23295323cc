package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/url"
	"time"
)

// A proof is what a webhook demands of its calls, with a call that has it, and the bare
// verification of the same by the same library.
type proof struct {
	name          string
	signature     string // of the webhook
	secret        string // its key
	authorization string
	header        string // others, each on a line
	atLeast       float64
	verify        func() bool // nil: a comparison
}

// measureProofs compares calls with each proof of their sender with calls without, on the same
// server.
func measureProofs(ctx context.Context, b *bench) error {
	s, plain, err := b.startWithWebhooks(ctx, "proofs", 1, groupCommit)
	if err != nil {
		return err
	}
	bare := &contender{name: "calls without a proof"}
	if bare.load, err = b.newLoad(s.client, "proofs", plain); err != nil {
		return err
	}
	proofs, err := proofsOf([]byte(bodyOf(bodySize)))
	if err != nil {
		return err
	}
	contenders := []*contender{bare}
	var ratios []ratio
	for i, p := range proofs {
		token, err := s.createWebhookWith(ctx, url.Values{
			"eventKey": {benchKey(2000 + i)}, "signature": {p.signature}, "signingSecret": {p.secret},
		})
		if err != nil {
			return err
		}
		c := &contender{name: "calls with " + p.name}
		if c.load, err = b.newLoad(s.client, fmt.Sprint("proofs-", i), []string{token}); err != nil {
			return err
		}
		c.load.authorization, c.load.header = p.authorization, p.header
		contenders = append(contenders, c)
		r := ratio{figure: "receive with " + p.name + ", to without", of: c, to: bare}
		if p.atLeast > 0 {
			r.bar = atLeast(p.atLeast, fmt.Sprintf("%.2f", p.atLeast))
		}
		ratios = append(ratios, r)
	}
	if err := b.compare(ctx, contenders, ratios...); err != nil {
		return err
	}
	for _, p := range proofs {
		if p.verify != nil {
			b.table.add("bare verification of "+p.name+", on one core", fmt.Sprintf("%.1f µs", timeOf(p.verify)))
		}
	}
	return nil
}

// proofsOf returns a call's proofs, for its body.
func proofsOf(body []byte) ([]proof, error) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	edPublic, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(body)
	rsaSignature, err := rsa.SignPKCS1v15(rand.Reader, rsaKey, crypto.SHA256, digest[:])
	if err != nil {
		return nil, err
	}
	ecSignature, err := ecdsa.SignASN1(rand.Reader, ecKey, digest[:])
	if err != nil {
		return nil, err
	}
	const secret = "correct-horse-battery-staple"
	mac := func() []byte {
		m := hmac.New(sha256.New, []byte(secret))
		m.Write(body)
		return m.Sum(nil)
	}
	wanted := mac()
	verifyEC := func() bool {
		sum := sha256.Sum256(body)
		return ecdsa.VerifyASN1(&ecKey.PublicKey, sum[:], ecSignature)
	}
	jwt, err := jwtOf(ecKey, digest)
	if err != nil {
		return nil, err
	}
	headers, base, signature := message(edKey, digest)
	in64 := base64.StdEncoding.EncodeToString
	return []proof{
		{name: "plain", signature: `{"header":"X-Key","algorithm":"plain"}`, secret: secret, header: "X-Key: " + secret, atLeast: 0.85},
		{name: "basic", signature: `{"algorithm":"basic"}`, secret: "user:" + secret, authorization: "Basic " + in64([]byte("user:"+secret)), atLeast: 0.85},
		{name: "HMAC-SHA256", signature: `{"header":"X-Signature"}`, secret: secret, header: "X-Signature: " + hex.EncodeToString(wanted), atLeast: 0.85,
			verify: func() bool { return hmac.Equal(mac(), wanted) }},
		{name: "rsa-sha256 (2048 bits)", signature: `{"header":"X-Signature","algorithm":"rsa-sha256","encoding":"base64"}`, secret: pemOf(&rsaKey.PublicKey), header: "X-Signature: " + in64(rsaSignature),
			verify: func() bool {
				sum := sha256.Sum256(body)
				return rsa.VerifyPKCS1v15(&rsaKey.PublicKey, crypto.SHA256, sum[:], rsaSignature) == nil
			}},
		{name: "ecdsa-sha256 (P-256)", signature: `{"header":"X-Signature","algorithm":"ecdsa-sha256","encoding":"base64"}`, secret: pemOf(&ecKey.PublicKey), header: "X-Signature: " + in64(ecSignature), verify: verifyEC},
		{name: "jwt (ES256, bodyHash)", signature: `{"header":"X-Token","algorithm":"jwt","bodyHash":"hash"}`, secret: pemOf(&ecKey.PublicKey), header: "X-Token: " + jwt, verify: verifyEC},
		{name: "rfc9421 (Ed25519)", signature: `{"algorithm":"rfc9421","components":["@method","content-digest"]}`, secret: pemOf(edPublic), header: headers,
			verify: func() bool { return sha256.Sum256(body) == digest && ed25519.Verify(edPublic, base, signature) }},
	}, nil
}

// pemOf returns a public key as webhook.put takes it.
func pemOf(key any) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		panic(err) // all of ours can be written
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// jwtOf returns a JWT with the hash of a body.
func jwtOf(key *ecdsa.PrivateKey, digest [sha256.Size]byte) (string, error) {
	in64 := base64.RawURLEncoding.EncodeToString
	now := time.Now()
	text := in64([]byte(`{"alg":"ES256","typ":"JWT"}`)) + "." + in64(fmt.Appendf(nil, `{"iat":%d,"exp":%d,"hash":"%x"}`, now.Unix(), now.Add(time.Hour).Unix(), digest))
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return "", err
	}
	const half = 32
	signature := make([]byte, 2*half)
	r.FillBytes(signature[:half])
	s.FillBytes(signature[half:])
	return text + "." + in64(signature), nil
}

// message returns the headers of a message signature, what is signed, and the signature.
func message(key ed25519.PrivateKey, digest [sha256.Size]byte) (headers string, base, signature []byte) {
	in64 := base64.StdEncoding.EncodeToString
	content := "sha-256=:" + in64(digest[:]) + ":"
	params := fmt.Sprintf(`("@method" "content-digest");created=%d`, time.Now().Unix())
	base = []byte("\"@method\": POST\n\"content-digest\": " + content + "\n\"@signature-params\": " + params)
	signature = ed25519.Sign(key, base)
	return "Content-Digest: " + content + "\nSignature-Input: sig=" + params + "\nSignature: sig=:" + in64(signature) +
		":", base, signature
}

// timeOf returns how long a verification takes, in microseconds: the median of three bursts.
func timeOf(verify func() bool) float64 {
	const bursts, length = 3, 200 * time.Millisecond
	times := make([]float64, bursts)
	for i := range times {
		count, began := 0, time.Now()
		for ; time.Since(began) < length; count++ {
			if !verify() {
				panic("a proof does not fit") // a mistake in this program
			}
		}
		times[i] = float64(time.Since(began).Nanoseconds()) / float64(count) / 1000
	}
	return median(times)
}
