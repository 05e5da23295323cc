package sender

import (
	"bytes"
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
	"hash"
	"math/big"
	"regexp"
	"strings"
)

// maxSignature bounds a signature, in bytes, decoded: that of the longest RSA key.
const maxSignature = 1024

// A publicKey verifies a signature that was made with a private key of the sender.
type publicKey func(fragments [][]byte, signature []byte) bool

// parseEd25519 reads a public key in hex, base64 or PEM.
func parseEd25519(text string) (publicKey, error) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		raw = derOf(strings.TrimPrefix(text, "whpk_"))
	}
	if len(raw) != ed25519.PublicKeySize {
		public, ok := parsePublic(strings.TrimPrefix(text, "whpk_")).(ed25519.PublicKey)
		if !ok {
			return nil, secretError("The signing secret must be an ed25519 public key in hex, base64 or PEM.")
		}
		raw = public
	}
	return func(fragments [][]byte, signature []byte) bool {
		return len(signature) == ed25519.SignatureSize && ed25519.Verify(raw, bytes.Join(fragments, nil), signature)
	}, nil
}

// parseECDSA reads a P-256 public key in base64 or PEM. Its signatures are DER, or the 64 bytes of
// their two numbers.
func parseECDSA(text string) (publicKey, error) {
	public, ok := parsePublic(text).(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return nil, secretError("The signing secret must be the verification key: an ECDSA P-256 public key in " +
			"base64 or PEM.")
	}
	return func(fragments [][]byte, signature []byte) bool {
		digest := digestOf(fragments)
		return ecdsa.VerifyASN1(public, digest, signature) || verifyPair(public, digest, signature)
	}, nil
}

// verifyPair verifies a P-256 signature that is the 64 bytes of its two numbers.
func verifyPair(key *ecdsa.PublicKey, digest, signature []byte) bool {
	const half = 32
	return len(signature) == 2*half &&
		ecdsa.Verify(key, digest, new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:]))
}

// Bounds of an RSA key, in bits: shorter ones can be broken, and longer ones are slow.
const (
	minRSA = 1024
	maxRSA = 8 * maxSignature
)

func isSafe(key *rsa.PublicKey) bool { return key.N.BitLen() >= minRSA && key.N.BitLen() <= maxRSA }

// parseRSA reads a public key in base64 or PEM. Its signatures are PSS, or PKCS #1 v1.5.
func parseRSA(text string, pss bool) (publicKey, error) {
	public, ok := parsePublic(text).(*rsa.PublicKey)
	if !ok || !isSafe(public) {
		return nil, secretError("The signing secret must be the sender's RSA public key of 1024 to 8192 bits, in " +
			"base64 or PEM.")
	}
	return func(fragments [][]byte, signature []byte) bool {
		digest := digestOf(fragments)
		if pss {
			return rsa.VerifyPSS(public, crypto.SHA256, digest, signature, nil) == nil
		}
		return rsa.VerifyPKCS1v15(public, crypto.SHA256, digest, signature) == nil
	}, nil
}

// digestOf returns the SHA-256 of fragments.
func digestOf(fragments [][]byte) []byte {
	h := sha256.New()
	for _, p := range fragments {
		_, _ = h.Write(p) // a hash takes everything
	}
	return h.Sum(nil)
}

// parsePublic reads a public key in PEM or base64: the key itself, or a certificate that
// has it; nil if it is none.
func parsePublic(text string) crypto.PublicKey {
	der := derOf(text)
	if key, err := x509.ParsePKIXPublicKey(der); err == nil {
		return key
	}
	if key, err := x509.ParsePKCS1PublicKey(der); err == nil {
		return key
	}
	if certificate, err := x509.ParseCertificate(der); err == nil {
		return certificate.PublicKey
	}
	return nil
}

// pemLines are the first and the last line of PEM.
var pemLines = regexp.MustCompile(`-----(BEGIN|END) [A-Z0-9 ]+-----`)

// derOf decodes PEM, also without its line ends, which a field of one line drops, or base64;
// nil if it is neither.
func derOf(text string) []byte {
	if block, _ := pem.Decode([]byte(text)); block != nil {
		return block.Bytes
	}
	text = strings.Join(strings.Fields(pemLines.ReplaceAllString(text, "")), "")
	raw, _ := base64.StdEncoding.DecodeString(text)
	return raw
}

// writtenKey takes the secret of a webhook's own scheme as it is, unless its prefix says
// that it is base64 or hex. The prefix text: says that it is neither a key nor encoded.
func writtenKey(secret string) ([]byte, error) {
	form, text, _ := strings.Cut(secret, ":")
	decode := base64.StdEncoding.DecodeString
	switch form {
	case "text":
		decode = func(text string) ([]byte, error) { return []byte(text), nil }
	case "base64":
	case "hex":
		decode = hex.DecodeString
	default:
		return []byte(secret), nil
	}
	key, err := decode(text)
	if err != nil || len(key) == 0 {
		return nil, secretError("The signing secret is not written as its beginning, base64:, hex: or text:, says.")
	}
	return key, nil
}

// macOf returns the HMAC of texts.
func macOf(algorithm func() hash.Hash, secret string, texts ...string) []byte {
	h := hmac.New(algorithm, []byte(secret))
	for _, t := range texts {
		_, _ = h.Write([]byte(t)) // a hash takes everything
	}
	return h.Sum(nil)
}

func randomText() string { return strings.ToLower(rand.Text()) }
