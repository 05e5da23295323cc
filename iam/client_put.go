package iam

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"sluice"
)

type clientPutParams struct {
	ClientID string   `json:"clientId" required:"true" audit:"yes" doc:"Id of the client: 1 to 128 letters, digits, dots, _ and -, beginning with a letter or digit."`
	Roles    []string `json:"roles" audit:"yes" doc:"Roles of the tokens that the client gets for itself."`
	Grants   []string `json:"grants" doc:"Grants the client may use: client_credentials (default), authorization_code, password, refresh_token."`

	RedirectURIs []string `json:"redirectUris" audit:"yes" doc:"URIs to which browsers may take authorization codes: https, or http on 127.0.0.1, [::1] or localhost, where any port will do."`
	Public       *bool    `json:"public" doc:"A program on people's machines or in their browsers, where no secret is safe: it has none, and the default of grants is authorization_code and refresh_token."`
	Renew        bool     `json:"renew" doc:"Make a new secret; the old one stops working at once."`
	DryRun       bool     `json:"dryRun" doc:"Only check: the answer is the client as it would be, without a secret, and nothing is stored."`
}

// grants are what a client may be allowed to use.
var grants = []string{"client_credentials", "authorization_code", "password", "refresh_token"}

func (d *Directory) putClient(ctx context.Context, p clientPutParams) (none sluice.OAuthClientView, _ error) {
	if err := d.checkClient(ctx, p); err != nil {
		return none, err
	}
	secret := ""
	client, err := changed(ctx, d.Clients, p.ClientID, p.DryRun,
		func(before *sluice.Client) (after *sluice.Client, err error) {
			if before != nil {
				if err := d.mayChange(ctx, before); err != nil {
					return nil, err
				}
			}
			after, secret, err = p.apply(before)
			return after, err
		})
	if err != nil {
		return none, err
	}
	view := showClient(client)
	if !p.DryRun {
		view.Secret = secret
	}
	return view, nil
}

// mayChange refuses to change or delete a client that could give more than the caller
// may: the rights of its own tokens and, where people sign in through it, theirs. Whoever
// moves its redirect URIs or has its secret gets what those people allow a program that
// they trust.
func (d *Directory) mayChange(ctx context.Context, c *sluice.Client) error {
	roles := slices.Clone(c.Roles)
	if slices.ContainsFunc(c.Grants, func(grant string) bool { return grant != "client_credentials" }) {
		for _, account := range d.Accounts.All() {
			roles = append(roles, account.Roles...)
		}
	}
	return d.mayGrant(ctx, distinct(roles))
}

// apply returns the client with the given parameters set, and its secret if a new one was
// made. before is nil for a new client.
func (p clientPutParams) apply(before *sluice.Client) (after *sluice.Client, secret string, err error) {
	after = &sluice.Client{ID: p.ClientID, Roles: []string{}, Created: now()}
	public := false
	if before != nil {
		*after = *before
		public = before.Secret == ""
	}
	if p.Public != nil {
		public = *p.Public
	}
	after.Updated = now()
	if p.Roles != nil {
		after.Roles = distinct(p.Roles)
	}
	if p.RedirectURIs != nil {
		after.RedirectURIs = distinct(p.RedirectURIs)
	}
	after.Grants = p.grantsOf(before, public)
	ownTokens := slices.Contains(after.Grants, "client_credentials")
	switch {
	case public && ownTokens:
		return nil, "", sluice.InvalidParameter("grants",
			"A public client has no secret, so it can't use client_credentials.")
	case public && p.Renew:
		return nil, "", sluice.InvalidParameter("renew", "A public client has no secret.")
	case public:
		after.Secret = ""
	case after.Secret == "" || p.Renew:
		secret = rand.Text()
		after.Secret, after.TokensSince = sluice.HashSecret(secret), time.Now().UTC()
	}
	if !ownTokens {
		after.TokensSince = time.Now().UTC()
	}
	return after, secret, nil
}

// grantsOf returns the grants of a client. Emptied, they are the default again.
func (p clientPutParams) grantsOf(before *sluice.Client, public bool) []string {
	switch {
	case len(p.Grants) > 0:
		return distinct(p.Grants)
	case before != nil && p.Grants == nil:
		return before.Grants
	}
	return sluice.DefaultGrants(public)
}

func (d *Directory) checkClient(ctx context.Context, p clientPutParams) error {
	if p.ClientID == clientName {
		return builtin("The client " + clientName)
	}
	if !validClient.MatchString(p.ClientID) {
		return sluice.InvalidParameter("clientId", "The parameter clientId must be 1 to 128 letters, digits, dots, _ "+
			"and -, beginning with a letter or digit.")
	}
	for _, grant := range p.Grants {
		if !slices.Contains(grants, grant) {
			return sluice.InvalidParameter("grants", "%q is not a grant; there are %s.", grant,
				strings.Join(grants, ", "))
		}
	}
	for _, uri := range p.RedirectURIs {
		if !sluice.ValidRedirect(uri) {
			return sluice.InvalidParameter("redirectUris", "%q is no URI to take a code to: give one of https, or of "+
				"http on 127.0.0.1, [::1] or localhost, without a fragment.", uri)
		}
	}
	if err := d.checkRoles(ctx, p.Roles); err != nil {
		return err
	}
	return d.mayGrant(ctx, p.Roles)
}
