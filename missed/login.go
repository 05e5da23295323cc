package missed

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"sluice"
	"sluice/outward"
)

// appHook ends the address of the webhook of a GitHub App.
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

func loginPayPal(ctx context.Context, a *api) error { return a.login(ctx, a.base+"/v1/oauth2/token") }

// loginStripe asks version 2 of the API as it was when it began to list all events.
func loginStripe(_ context.Context, a *api) error {
	if strings.HasPrefix(a.path, "/v2/") {
		a.header = http.Header{"Stripe-Version": {"2025-10-29.clover"}}
	}
	return nil
}
