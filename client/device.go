package client

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"sluice"
)

// config returns what a login at the issuer is made with.
func (m metadata) config(login Login) oauth2.Config {
	return oauth2.Config{
		ClientID: cmp.Or(login.Client, clientID), Scopes: m.scope(),
		Endpoint: oauth2.Endpoint{
			AuthURL: m.Authorize, TokenURL: m.Token, DeviceAuthURL: m.Device, AuthStyle: oauth2.AuthStyleInParams,
		},
	}
}

// A Device is a login that a person allows in a browser on any machine, by entering a code.
type Device struct {
	URL, Code string // the page, and what is entered there

	client *Client
	login  Login // without tokens
	config oauth2.Config
	asked  *oauth2.DeviceAuthResponse
}

// ErrOwnIssuer means that the server issues its tokens itself, and asks for a password.
var ErrOwnIssuer = errors.New("the server asks for a password itself")

// Device starts a login in a browser elsewhere. The error is ErrOwnIssuer for a server without an
// external provider, and says what to do if the provider has no such way.
func (c *Client) Device(ctx context.Context) (*Device, error) {
	login, document, err := c.issuedBy(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case login.TokenURL == "":
		return nil, ErrOwnIssuer
	case document.Device == "":
		return nil, sluice.CodeNoSignInPage.Errorf(
			"%s has no page to enter a code on: log in on a machine with a "+
				"browser, or get a token there and set SLUICE_TOKEN.", document.Issuer)
	}
	d := &Device{client: c, login: login, config: document.config(login)}
	if d.asked, err = d.config.DeviceAuth(context.WithValue(ctx, oauth2.HTTPClient, c.http)); err != nil {
		return nil, failed(err)
	}
	d.URL, d.Code = cmp.Or(d.asked.VerificationURIComplete, d.asked.VerificationURI), d.asked.UserCode
	return d, nil
}

// Wait waits until the person has allowed the login, and returns it.
func (d *Device) Wait(ctx context.Context) (Login, error) {
	token, err := d.config.DeviceAccessToken(context.WithValue(ctx, oauth2.HTTPClient, d.client.http), d.asked)
	if err != nil {
		return Login{}, failed(err)
	}
	d.login.keep(tokens{token.AccessToken, token.RefreshToken, int(time.Until(token.Expiry).Seconds())}, time.Now())
	d.login.Username, err = d.client.username(ctx, d.login)
	return d.login, err
}

// failed is the error of a login that the issuer does not give.
func failed(err error) error {
	answer, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case ok && answer.ErrorCode == "expired_token", errors.Is(err, context.DeadlineExceeded):
		return sluice.CodeNotSignedIn.Errorf("Nobody has entered the code in time; try again.")
	case ok:
		return refused(cmp.Or(answer.ErrorCode, answer.Response.Status), answer.ErrorDescription)
	case errors.Is(err, context.Canceled):
		return err
	}
	return sluice.CodeLoginFailed.Errorf("The issuer gives no login; try again.").Because(err)
}

// refused is the error of a login that the issuer refuses by a code, with what it says to that.
func refused(code, said string) error {
	said = strings.TrimSuffix(said, ".")
	switch {
	case code != "access_denied":
		return sluice.CodeLoginFailed.Errorf("The issuer gives no login: %s.", cmp.Or(said, code))
	case said != "":
		return sluice.CodeLoginRefused.Errorf("The login was refused in the browser: %s.", said)
	}
	return sluice.CodeLoginRefused.Errorf("The login was refused in the browser.")
}
