package sender

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"sluice/value"
)

// tokenLeeway is how far the clocks may be apart, unless the scheme says it: a token has
// its own end.
const tokenLeeway = time.Minute

// tokenPreset returns the sender whose calls carry a JSON Web Token.
func (s Scheme) tokenPreset() (Preset, error) {
	header, err := s.headerName("the token")
	if err != nil {
		return Preset{}, err
	}
	leeway, err := s.within(tokenLeeway)
	if err != nil {
		return Preset{}, err
	}
	p := Preset{public: s.Keys != "", checker: func(secret string, keys Keys) (checker, error) {
		ring, err := newKeyring(s.Keys, secret, keys)
		return &jwtCheck{scheme: s, header: header, leeway: leeway, ring: ring}, err
	}}
	if s.BodyHash == "" {
		p.Masked = []string{strings.ToLower(header)} // whoever has the token could call with any body
	}
	return p, checkKeysAddress(s.Keys)
}

// byJWT makes the checker of a preset. Tokens of some have no end, but the body's digest,
// which is as good as a signature of the body.
func byJWT(s Scheme, endless bool) func(string, Keys) (checker, error) {
	return func(secret string, keys Keys) (checker, error) {
		ring, err := newKeyring(s.Keys, secret, keys)
		return &jwtCheck{scheme: s, header: http.CanonicalHeaderKey(s.Header), leeway: tokenLeeway, ring: ring, endless: endless}, err
	}
}

type jwtCheck struct {
	scheme Scheme
	header string
	leeway time.Duration
	ring   *keyring

	endless bool // tokens need no exp
}

// tokenAlgorithms has those that keys of each sort may sign tokens with. What the token
// says of its algorithm must be one of its key's.
var (
	sharedAlgorithms = []jose.SignatureAlgorithm{jose.HS256, jose.HS384, jose.HS512}
	rsaAlgorithms    = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512}
	curveAlgorithms  = map[string]jose.SignatureAlgorithm{"P-256": jose.ES256, "P-384": jose.ES384, "P-521": jose.ES512}
	tokenAlgorithms  = slices.Concat(sharedAlgorithms, rsaAlgorithms, []jose.SignatureAlgorithm{jose.ES256, jose.ES384, jose.ES512, jose.EdDSA})
)

func signsTokensWith(key any, algorithm jose.SignatureAlgorithm) bool {
	switch k := key.(type) {
	case []byte:
		return slices.Contains(sharedAlgorithms, algorithm)
	case *rsa.PublicKey:
		return isSafe(k) && slices.Contains(rsaAlgorithms, algorithm)
	case *ecdsa.PublicKey:
		return curveAlgorithms[k.Curve.Params().Name] == algorithm
	case ed25519.PublicKey:
		return algorithm == jose.EdDSA
	}
	return false
}

func (j *jwtCheck) check(ctx context.Context, c *Call, now time.Time) error {
	text, err := c.header(j.header)
	if err != nil {
		return err
	}
	if word, rest, ok := strings.Cut(text, " "); ok && strings.EqualFold(word, "Bearer") {
		text = rest
	}
	token, err := jwt.ParseSigned(text, tokenAlgorithms)
	if err != nil || len(token.Headers) != 1 {
		return invalid("The header %s holds no signed JWT.", j.header)
	}
	algorithm := jose.SignatureAlgorithm(token.Headers[0].Algorithm)
	key, err := j.ring.find(ctx, token.Headers[0].KeyID, string(algorithm))
	if err != nil {
		return err
	}
	if !signsTokensWith(key, algorithm) {
		return invalid("The token is signed by %s, which the key is not for.", algorithm)
	}
	var claims jwt.Claims
	var all map[string]any
	if err := token.Claims(key, &claims, &all); err != nil {
		return invalid("The signature of the token does not match.")
	}
	return j.accept(claims, all, c.Body, now)
}

// accept checks what a token says.
func (j *jwtCheck) accept(claims jwt.Claims, all map[string]any, body []byte, now time.Time) error {
	digest, _ := all[j.scheme.BodyHash].(string)
	switch s := j.scheme; {
	case s.Issuer != "" && claims.Issuer != s.Issuer:
		return invalid("The token is of another issuer.")
	case s.Audience != "" && !slices.Contains(claims.Audience, s.Audience):
		return invalid("The token is for another audience.")
	case s.BodyHash != "" && subtle.ConstantTimeCompare([]byte(strings.ToLower(digest)), []byte(hexDigest(body))) != 1:
		return invalid("The claim %s of the token is not the SHA-256 of the body.", s.BodyHash)
	}
	return j.inTime(claims, now)
}

// inTime checks when a token says that it is valid.
func (j *jwtCheck) inTime(claims jwt.Claims, now time.Time) error {
	switch {
	case claims.Expiry == nil && j.endless && claims.IssuedAt != nil:
		return fresh(claims.IssuedAt.Time(), now, defaultTolerance)
	case claims.Expiry == nil && j.endless:
		return nil
	case claims.Expiry == nil:
		return invalid("The token has no exp: it would be valid for ever.")
	case now.After(claims.Expiry.Time().Add(j.leeway)):
		return expired("The token expired %s ago.", round(now.Sub(claims.Expiry.Time())))
	}
	for _, from := range []*jwt.NumericDate{claims.NotBefore, claims.IssuedAt} {
		if from != nil && now.Before(from.Time().Add(-j.leeway)) {
			return expired("The token is %s in the future.", round(from.Time().Sub(now)))
		}
	}
	return nil
}

func (j *jwtCheck) sign(c *Call, now time.Time) error {
	secret, ok := j.ring.fixed.([]byte)
	if !ok {
		return notSignable()
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: secret}, nil)
	if err != nil {
		return err
	}
	all := map[string]any{"iat": now.Unix(), "exp": now.Add(defaultTolerance).Unix()}
	for name, value := range map[string]string{"iss": j.scheme.Issuer, "aud": j.scheme.Audience} {
		if value != "" {
			all[name] = value
		}
	}
	if j.scheme.BodyHash != "" {
		all[j.scheme.BodyHash] = hexDigest(c.Body)
	}
	text, err := jwt.Signed(signer).Claims(all).Serialize()
	if j.header == "Authorization" {
		text = "Bearer " + text
	}
	c.Header.Set(j.header, text)
	return err
}

// A keyring has the key of a sender, or those that it publishes.
type keyring struct {
	fixed   any    // bytes that are shared, or a public key; nil: published ones
	address string // of a JWKS

	ask func(ctx context.Context, id string) (any, error) // gets a published key by its id; nil: they are at the address

	keys Keys
	read atomic.Pointer[keySet] // the latest
}

// A keySet is a JWKS, and the text that it was read from.
type keySet struct {
	jose.JSONWebKeySet

	text []byte
}

// checkKeysAddress refuses what can't be the address of published keys.
func checkKeysAddress(address string) error {
	u, err := url.Parse(address)
	if address != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" || len(address) > 2<<10) {
		return fieldError("keys", "must be the https:// URL of the sender's JWKS")
	}
	return nil
}

// newKeyring returns the keyring of an address, or of a secret: a public key, or else a text
// that is shared.
func newKeyring(address, secret string, keys Keys) (*keyring, error) {
	if address != "" {
		return &keyring{address: address, keys: keys}, nil
	}
	if public := parsePublic(secret); public != nil {
		if key, ok := public.(*rsa.PublicKey); ok && !isSafe(key) {
			return nil, secretError("An RSA public key must have 1024 to 8192 bits.")
		}
		return &keyring{fixed: public}, nil
	}
	// Whoever takes a key in another form for a shared text lets everyone sign who has the public key.
	if text := strings.TrimSpace(secret); strings.HasPrefix(text, "-----BEGIN") || strings.HasPrefix(text, "{") {
		return nil, secretError("The signing secret must be a public key in PEM, or the text that is shared with the sender.")
	}
	shared, err := writtenKey(secret)
	return &keyring{fixed: shared}, err
}

// Ages of published keys.
const (
	publishedMaxAge = time.Hour
	publishedRetry  = 10 * time.Second // between fetches that made-up key ids cause
)

// find returns the key with that id, for an algorithm. An unknown id may be that of a new
// key. An id is not needed where there is only one key.
func (r *keyring) find(ctx context.Context, id, algorithm string) (any, error) {
	if r.fixed != nil {
		return r.fixed, nil
	}
	if r.ask != nil {
		return r.ask(ctx, id)
	}
	for _, maxAge := range []time.Duration{publishedMaxAge, publishedRetry} {
		text, err := r.keys.Get(ctx, r.address, maxAge)
		if err != nil {
			return nil, err
		}
		set, err := r.parse(text)
		if err != nil {
			return nil, invalid("The keys of the sender can't be read: what is at their address is no JWKS.")
		}
		found := set.Key(id)
		if id == "" {
			found = set.Keys
		}
		if len(found) == 1 && found[0].IsPublic() && found[0].Use != "enc" && (found[0].Algorithm == "" || algorithm == "" || found[0].Algorithm == algorithm) {
			return found[0].Key, nil
		}
	}
	return nil, invalid("The call is signed by a key that the sender does not publish.")
}

func (r *keyring) parse(text []byte) (*keySet, error) {
	if known := r.read.Load(); known != nil && len(text) > 0 && len(known.text) == len(text) && &known.text[0] == &text[0] {
		return known, nil // keys are fetched once, and kept
	}
	set := &keySet{text: text}
	if err := json.Unmarshal(text, &set.JSONWebKeySet); err != nil {
		return nil, err
	}
	r.read.Store(set)
	return set, nil
}

func plaid() Preset {
	return Preset{
		Name: "plaid", Title: "Plaid",
		Checks: "Plaid-Verification: a JWT (ES256) with the SHA-256 of the body, by a key that Plaid gives to its clients; at most 5 minutes old",
		Secret: "your client id and secret at Plaid with a colon between them; `sandbox:` before them for the sandbox",
		Dedupe: "off", Retries: "24h",
		Setup: [3]string{
			"At dashboard.plaid.com, Developers, Keys: enter `client_id:secret` as the `signingSecret`, or `sandbox:client_id:secret` with those of the sandbox. Plaid's keys are fetched with them.",
			"Webhooks are set where an Item is made: `webhook` of /link/token/create is the webhook's URL; /item/webhook/update changes it.",
			"Calls have no id, so repeated ones are not recognised; each signature is good for 5 minutes.",
		},
		checker: func(secret string, keys Keys) (checker, error) {
			check, err := byJWT(Scheme{Header: "Plaid-Verification", BodyHash: "request_body_sha256"}, true)(secret, keys)
			if j, ok := check.(*jwtCheck); ok {
				j.ring = &keyring{ask: func(ctx context.Context, id string) (any, error) { return plaidKey(ctx, keys, secret, id) }}
			}
			return check, err
		},
	}
}

var plaidKeyID = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)

// plaidKey asks Plaid for the key with an id.
func plaidKey(ctx context.Context, keys Keys, credentials, id string) (any, error) {
	host := "production"
	if rest, is := strings.CutPrefix(credentials, "sandbox:"); is {
		host, credentials = "sandbox", rest
	}
	client, secret, ok := strings.Cut(credentials, ":")
	if !ok || !plaidKeyID.MatchString(id) {
		return nil, invalid("The signing secret is not client_id:secret, or the token names no key.")
	}
	asked, err := value.Marshal(map[string]string{"client_id": client, "secret": secret, "key_id": id})
	if err != nil {
		return nil, err
	}
	content, err := keys.Get(ctx, "https://"+host+".plaid.com/webhook_verification_key/get#"+string(asked), publishedMaxAge)
	if err != nil {
		return nil, err
	}
	var found struct {
		Key jose.JSONWebKey `json:"key"`
	}
	if json.Unmarshal(content, &found) != nil || !found.Key.IsPublic() {
		return nil, invalid("What Plaid gives is no key.")
	}
	var ended struct {
		Key struct {
			At *int64 `json:"expired_at"`
		} `json:"key"`
	}
	if json.Unmarshal(content, &ended) != nil || ended.Key.At != nil {
		return nil, invalid("The key that the call is signed by is no longer in use.")
	}
	return found.Key.Key, nil
}
