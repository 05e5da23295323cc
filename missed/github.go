package missed

import (
	"cmp"
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"time"

	"sluice"
)

var github = provider{
	login: loginGitHub, list: listGitHub, resend: func(a *api, d delivery) (string, any) {
		return a.hook + "/deliveries/" + d.ref + "/attempts", nil
	},
}

// appHook ends the address of the webhook of an app.
const appHook = "/app/hook"

// loginGitHub: an app has no token that lasts, but signs its own, which are good for 10 minutes
// at most. They begin a minute ago, since clocks differ.
func loginGitHub(_ context.Context, a *api) error {
	if !strings.HasSuffix(a.hook, appHook) {
		return nil
	}
	a.path = appHook
	id, text, _ := strings.Cut(a.secret, ":")
	key := parseRSA([]byte(text))
	if key == nil {
		return sluice.InvalidParameter("apiSecret",
			"For a GitHub App, apiSecret must be the app's id, a colon, and its private key in PEM.")
	}
	begin := time.Now().Add(-time.Minute)
	encode := base64.RawURLEncoding.EncodeToString
	claims := fmt.Appendf(nil, `{"iat":%d,"exp":%d,"iss":%q}`, begin.Unix(), begin.Add(10*time.Minute).Unix(), id)
	signed := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode(claims)
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, digest[:])
	a.bearer = signed + "." + encode(signature)
	return err
}

// parseRSA reads a private key in PEM, nil if it is none.
func parseRSA(text []byte) *rsa.PrivateKey {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil
	}
	own, _ := x509.ParsePKCS1PrivateKey(block.Bytes) // as GitHub writes it; nil if it is none
	other, _ := x509.ParsePKCS8PrivateKey(block.Bytes)
	converted, _ := other.(*rsa.PrivateKey)
	return cmp.Or(own, converted)
}

// listGitHub: newest first; each attempt is an entry of its own with the same guid.
func listGitHub(ctx context.Context, a *api, from, _ time.Time, see func(delivery) bool) error {
	for address := a.hook + "/deliveries?per_page=100"; address != ""; {
		var page []struct {
			ID   json.Number `json:"id"`
			GUID string      `json:"guid"`
			At   time.Time   `json:"delivered_at"`
		}
		header, err := a.get(ctx, address, &page)
		if err != nil {
			return err
		}
		for _, d := range page {
			if d.At.Before(from) || !see(delivery{id: d.GUID, time: d.At, ref: d.ID.String()}) {
				return nil
			}
		}
		address = next(address, linked(header))
	}
	return nil
}
