package sender

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha512"
	"crypto/subtle"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"sluice"
)

// tokenLeeway is how far the clocks may be apart, unless the scheme says it: a token has
// its own end.
const tokenLeeway = time.Minute

// byJWT makes the checker of a sender whose calls carry a JSON Web Token.
func (r rule) byJWT() (newChecker, error) {
	header, err := r.headerName("the token")
	if err != nil {
		return nil, err
	}
	leeway, err := r.within(tokenLeeway)
	if err != nil {
		return nil, err
	}
	return func(secret string, keys Keys) (checker, error) {
		ring, err := newKeyring(r.Keys, secret, keys)
		return &jwtCheck{rule: r, header: header, leeway: leeway, ring: ring}, err
	}, checkKeysAddress(r.Keys)
}

type jwtCheck struct {
	rule

	header string // canonical
	leeway time.Duration
	ring   *keyring
	also   func(c *Call, claims jwt.Claims, all map[string]any) error // checks more; nil: nothing
}

// tokenAlgorithms has those that keys of each sort may sign tokens with. What the token
// says of its algorithm must be one of its key's.
var (
	sharedAlgorithms = []jose.SignatureAlgorithm{jose.HS256, jose.HS384, jose.HS512}
	rsaAlgorithms    = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512}
	curveAlgorithms  = map[string]jose.SignatureAlgorithm{"P-256": jose.ES256, "P-384": jose.ES384, "P-521": jose.ES512}
	tokenAlgorithms  = slices.Concat(sharedAlgorithms, rsaAlgorithms,
		[]jose.SignatureAlgorithm{jose.ES256, jose.ES384, jose.ES512, jose.EdDSA})
)

// padded returns a shared secret with the zeros that an HMAC puts behind a short one anyway: jose
// refuses the short secrets that senders give.
func padded(secret []byte) []byte {
	if len(secret) >= sha512.Size {
		return secret
	}
	longer := make([]byte, sha512.Size)
	copy(longer, secret)
	return longer
}

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
	if shared, ok := key.([]byte); ok {
		key = padded(shared)
	}
	if err := token.Claims(key, &claims, &all); err != nil {
		return invalid("The signature of the token does not match.")
	}
	if j.also != nil {
		if err := j.also(c, claims, all); err != nil {
			return err
		}
	}
	return j.judge(claims, all, c.Body, now)
}

// judge checks what a token says.
func (j *jwtCheck) judge(claims jwt.Claims, all map[string]any, body []byte, now time.Time) error {
	digest, _ := all[j.BodyHash].(string)
	switch {
	case j.Issuer != "" && claims.Issuer != j.Issuer:
		return invalid("The token is of the issuer %s, not of %s.", sluice.Quote(claims.Issuer), sluice.Quote(j.Issuer))
	case j.Audience != "" && !slices.Contains(claims.Audience, j.Audience):
		return invalid("The token is for the audience %s, not for %s.",
			sluice.Quote(strings.Join(claims.Audience, ", ")), sluice.Quote(j.Audience))
	case j.BodyHash != "" && subtle.ConstantTimeCompare([]byte(strings.ToLower(digest)), []byte(hexDigest(body))) != 1:
		return invalid("The claim %s of the token is not the SHA-256 of the body.", j.BodyHash)
	}
	return j.inTime(claims, now)
}

// inTime checks when a token says that it is valid.
func (j *jwtCheck) inTime(claims jwt.Claims, now time.Time) error {
	switch {
	case claims.Expiry == nil && j.Endless && claims.IssuedAt != nil:
		return fresh(claims.IssuedAt.Time(), now, defaultTolerance)
	case claims.Expiry == nil && j.Endless:
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
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: padded(secret)}, nil)
	if err != nil {
		return err
	}
	all := map[string]any{"iat": now.Unix(), "exp": now.Add(defaultTolerance).Unix()}
	for name, value := range map[string]string{"iss": j.Issuer, "aud": j.Audience} {
		if value != "" {
			all[name] = value
		}
	}
	if j.BodyHash != "" {
		all[j.BodyHash] = hexDigest(c.Body)
	}
	text, err := jwt.Signed(signer).Claims(all).Serialize()
	if j.header == "Authorization" {
		text = "Bearer " + text
	}
	c.Header.Set(j.header, text)
	return err
}
