package client

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"time"

	"sluice"
)

// A Machine implements Credentials with the id and the secret of an OAuth 2.0
// client. It gets an access token when it needs one, and keeps it in memory.
type Machine struct {
	Server     string
	ID, Secret string

	mu    sync.Mutex
	login Login
}

// Authorization implements Credentials.
func (m *Machine) Authorization(ctx context.Context, refused string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.login.usable(refused) {
		asked := time.Now()
		got, err := m.ask(ctx)
		if err != nil {
			return "", err
		}
		m.login.keep(got, asked)
	}
	return m.login.bearer(), nil
}

// ask gets an access token from the issuer that the server names.
func (m *Machine) ask(ctx context.Context) (tokens, error) {
	c, err := New(m.Server, nil)
	if err != nil {
		return tokens{}, err
	}
	defer c.CloseIdle()
	at, err := c.issuer(ctx)
	if err != nil {
		return tokens{}, err
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {m.ID}, "client_secret": {m.Secret}}
	endpoint := (&Login{URL: c.url, Issuer: at}).endpoint("token")
	switch {
	case at == "":
		return tokens{},
			sluice.CodeNoIssuer.Errorf(
				"The server gives no tokens; set SLUICE_TOKEN, or SLUICE_USERNAME and SLUICE_PASSWORD.")
	case !strings.HasPrefix(at, "/"):
		document, err := c.at(at).discover(ctx, "")
		if err != nil {
			return tokens{}, err
		}
		endpoint = document.Token
	}
	got, err := c.token(ctx, endpoint, form)
	return got, refusedMachine(err)
}

// refusedMachine names the variables in the error for a wrong id or secret.
func refusedMachine(err error) error {
	if err == nil {
		return nil
	}
	if e := sluice.AsError(err); e.Code == string(sluice.CodeInvalidClient) ||
		e.Code == string(sluice.CodeUnauthorizedClient) {
		return e.Saying("The issuer refuses this client; check SLUICE_CLIENT_ID and SLUICE_CLIENT_SECRET.")
	}
	return err
}
