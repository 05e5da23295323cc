package sender

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// HTTP Message Signatures (RFC 9421), as far as calls need them.

// defaultComponents are what a signature must cover, unless the scheme says it.
var defaultComponents = []string{"@method", "@target-uri", "content-digest"}

// derivedComponents are those that are not headers and have no parameters.
var derivedComponents = []string{
	"@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query",
}

// byMessage makes the checker of a sender whose calls are signed messages.
func (r rule) byMessage() (newChecker, error) {
	m := messageCheck{label: r.Label, components: r.Components}
	var err error
	if m.tolerance, err = r.within(defaultTolerance); err != nil {
		return nil, err
	}
	if len(m.components) == 0 {
		m.components = defaultComponents
	}
	for _, name := range m.components {
		if name != strings.ToLower(name) || !isHeaderName(strings.TrimPrefix(name, "@")) ||
			name[0] == '@' && !slices.Contains(derivedComponents, name) {
			return nil, fieldError("components", "must be names of headers in lower case, or of %s",
				strings.Join(derivedComponents, ", "))
		}
	}
	if !slices.Contains(m.components, "content-digest") {
		return nil, fieldError("components", "must have content-digest in it; otherwise any body would fit")
	}
	if rest := (&fieldScanner{text: r.Label}); r.Label != "" && (rest.key() == "" || rest.text != "") {
		return nil, fieldError("label", "must be the label of a signature, such as sig1")
	}
	return func(secret string, keys Keys) (checker, error) {
		made := m
		var err error
		made.ring, err = newKeyring(r.Keys, secret, keys)
		if err == nil && made.ring.fixed != nil && algorithmOf(made.ring.fixed) == "" {
			err = secretError("The public key must be RSA, ECDSA on P-256, or Ed25519.")
		}
		return &made, err
	}, checkKeysAddress(r.Keys)
}

type messageCheck struct {
	label      string // "" means the only one
	components []string
	tolerance  time.Duration
	ring       *keyring
}

// algorithmOf returns the algorithm of a key, "" if no message is signed with such a key.
// It is never the message that decides about it.
func algorithmOf(key any) string {
	switch k := key.(type) {
	case []byte:
		return "hmac-sha256"
	case *rsa.PublicKey:
		if isSafe(k) {
			return "rsa-pss-sha512"
		}
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return "ecdsa-p256-sha256"
		}
	case ed25519.PublicKey:
		return "ed25519"
	}
	return ""
}

func verifyMessage(key any, base string, signature []byte) bool {
	switch k := key.(type) {
	case []byte:
		return subtle.ConstantTimeCompare(macOf(sha256.New, string(k), base), signature) == 1
	case *rsa.PublicKey:
		digest := sha512.Sum512([]byte(base))
		return rsa.VerifyPSS(k, crypto.SHA512, digest[:], signature,
			&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
	case *ecdsa.PublicKey:
		digest := sha256.Sum256([]byte(base))
		return verifyPair(k, digest[:], signature)
	case ed25519.PublicKey:
		return len(signature) == ed25519.SignatureSize && ed25519.Verify(k, []byte(base), signature)
	}
	return false
}

func (m *messageCheck) check(ctx context.Context, c *Call, now time.Time) error {
	input, err := m.pick(c)
	if err != nil {
		return err
	}
	for _, name := range m.components {
		if !slices.ContainsFunc(input.components, func(c component) bool { return c.text == strconv.Quote(name) }) {
			return invalid("The signature %s does not cover %s.", input.label, name)
		}
	}
	base, err := signatureBase(c, input)
	if err != nil {
		return err
	}
	key, err := m.ring.find(ctx, input.params["keyid"], "")
	if err != nil {
		return err
	}
	algorithm := algorithmOf(key)
	if said, ok := input.params["alg"]; algorithm == "" || ok && said != algorithm {
		return invalid("The signature %s is by %s, which the key is not for.", input.label, said)
	}
	if !verifyMessage(key, base, input.bytes) {
		return invalid("The signature %s does not match.", input.label)
	}
	if !digestFits(c.Header[contentDigest], c.Body) {
		return invalid("The signature %s matches, but %s is not that of the body.", input.label, contentDigest)
	}
	return m.isFresh(input, now)
}

const (
	contentDigest   = "Content-Digest"
	signatureInput  = "Signature-Input"
	signatureHeader = "Signature"
)

// isFresh checks the times of a signature.
func (m *messageCheck) isFresh(input *signatureMember, now time.Time) error {
	created, err := strconv.ParseInt(input.params["created"], 10, 64)
	if err != nil {
		return invalid("The signature %s has no time: created is missing.", input.label)
	}
	if text, ok := input.params["expires"]; ok {
		end, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return invalid("The signature %s has an end that is no time.", input.label)
		}
		if now.After(time.Unix(end, 0)) {
			return expired("The signature %s expired %s ago.", input.label, round(now.Sub(time.Unix(end, 0))))
		}
	}
	return fresh(time.Unix(created, 0), now, m.tolerance)
}

// pick returns what the signature that counts says of itself, with its bytes.
func (m *messageCheck) pick(c *Call) (*signatureMember, error) {
	texts := make(map[string]string, 2)
	for _, name := range []string{signatureInput, signatureHeader} {
		if texts[name] = strings.Join(c.Header[name], ", "); texts[name] == "" {
			return nil, missing("The header %s is missing.", name)
		}
		if len(texts[name]) > maxHeader {
			return nil, invalid("The header %s has %d bytes.", name, len(texts[name]))
		}
	}
	inputs, ok := scanMembers(texts[signatureInput])
	if !ok {
		return nil, invalid("The header %s is no dictionary of lists.", signatureInput)
	}
	signatures, ok := scanMembers(texts[signatureHeader])
	if !ok {
		return nil, invalid("The header %s is no dictionary of bytes.", signatureHeader)
	}
	label := m.label
	if label == "" {
		if len(inputs) != 1 {
			return nil, invalid("The call has %d signatures: "+
				"the field label of the webhook's signature must say which one counts.", len(inputs))
		}
		label = inputs[0].label
	}
	input, signature := memberOf(inputs, label), memberOf(signatures, label)
	if input == nil || signature == nil {
		return nil, missing("The call has no signature with the label %s.", label)
	}
	if !input.isList || signature.bytes == nil {
		return nil, invalid("The signature %s is malformed.", label)
	}
	input.bytes = signature.bytes
	return input, nil
}

// digestFits reports whether a Content-Digest is that of a body (RFC 9530): all digests
// whose algorithm is known must fit, and one at least must be known.
func digestFits(header []string, body []byte) bool {
	digests, ok := scanMembers(strings.Join(header, ", "))
	known := 0
	for _, d := range digests {
		var want []byte
		switch d.label {
		case "sha-256":
			sum := sha256.Sum256(body)
			want = sum[:]
		case "sha-512":
			sum := sha512.Sum512(body)
			want = sum[:]
		default:
			continue
		}
		known++
		ok = ok && subtle.ConstantTimeCompare(d.bytes, want) == 1
	}
	return ok && known > 0
}

// signatureBase returns what is signed (RFC 9421, 2.5).
func signatureBase(c *Call, input *signatureMember) (string, error) {
	var b strings.Builder
	for i, part := range input.components {
		if slices.ContainsFunc(input.components[:i], func(other component) bool { return other.text == part.text }) {
			return "", invalid("The signature %s covers %s twice.", input.label, part.text)
		}
		text, ok := c.component(part)
		if !ok || strings.ContainsAny(text, "\r\n") {
			return "", invalid("The signature %s covers %s, which the call does not have, or which is not supported.",
				input.label, part.text)
		}
		b.WriteString(part.text + ": " + text + "\n")
	}
	return b.String() + `"@signature-params": ` + input.text, nil
}

var standardPorts = map[string]string{"https": ":443", "http": ":80"}

// component returns the value of a component of a call.
func (c *Call) component(of component) (string, bool) {
	scheme, rest, _ := strings.Cut(c.URL, "://")
	authority, target := rest, "/"
	if at := strings.IndexAny(rest, "/?"); at >= 0 {
		authority, target = rest[:at], rest[at:]
	}
	path, query, _ := strings.Cut(target, "?")
	switch {
	case of.name == "@query-param":
		values := c.query(of.params["name"])
		if len(of.params) != 1 || len(values) != 1 {
			return "", false
		}
		return strings.NewReplacer("+", "%20", "%2A", "*", "~", "%7E").Replace(url.QueryEscape(values[0])), true
	case len(of.params) > 0:
		return "", false
	}
	switch of.name {
	case "@method":
		return c.Method, true
	case "@target-uri":
		return c.URL, true
	case "@scheme":
		return strings.ToLower(scheme), true
	case "@authority":
		return strings.TrimSuffix(strings.ToLower(authority), standardPorts[strings.ToLower(scheme)]), true
	case "@request-target":
		return target, true
	case "@path":
		return path, true
	case "@query":
		return "?" + query, true
	case "host":
		return authority, true
	}
	values := slices.Clone(c.Header[http.CanonicalHeaderKey(of.name)])
	for i := range values {
		values[i] = strings.TrimSpace(values[i])
	}
	return strings.Join(values, ", "), values != nil
}

func (m *messageCheck) sign(c *Call, now time.Time) error {
	secret, ok := m.ring.fixed.([]byte)
	if !ok {
		return notSignable()
	}
	digest := sha256.Sum256(c.Body)
	c.Header.Set(contentDigest, "sha-256=:"+base64.StdEncoding.EncodeToString(digest[:])+":")
	label := cmp.Or(m.label, "sig1")
	text := label + `=("` + strings.Join(m.components, `" "`) + `");created=` + strconv.FormatInt(now.Unix(), 10)
	members, _ := scanMembers(text) // names of components are such
	base, err := signatureBase(c, members[0])
	c.Header.Set(signatureInput, text)
	sum := macOf(sha256.New, string(secret), base)
	c.Header.Set(signatureHeader, label+"=:"+base64.StdEncoding.EncodeToString(sum)+":")
	return err
}
