package missed

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"sluice"
	"sluice/outward"
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
	key := outward.ParseRSA(text)
	if key == nil {
		return sluice.InvalidParameter("apiSecret",
			"For a GitHub App, apiSecret must be the app's id, a colon, and its private key in PEM.")
	}
	begin := time.Now().Add(-time.Minute)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key},
		new(jose.SignerOptions).WithType("JWT"))
	if err != nil {
		return err
	}
	a.bearer, err = jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: id, IssuedAt: jwt.NewNumericDate(begin), Expiry: jwt.NewNumericDate(begin.Add(10 * time.Minute)),
	}).Serialize()
	return err
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
