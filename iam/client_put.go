package iam

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"sluice"
	"sluice/command"
)

type clientPutParams struct {
	ClientID string   `json:"clientId" required:"true" audit:"yes" doc:"Id of the client: letters, digits and . _ -"`
	Roles    []string `json:"roles" audit:"yes" doc:"Roles of the tokens that the client gets for itself."`
	Grants   []string `json:"grants" doc:"Grants the client may use: client_credentials (default), password, refresh_token."`
	Renew    bool     `json:"renew" doc:"Make a new secret; the old one stops working at once."`
}

// A clientView is a client as commands show it.
type clientView struct {
	ClientID string    `json:"clientId"`
	Roles    []string  `json:"roles"`
	Grants   []string  `json:"grants"`
	Secret   string    `json:"secret,omitempty"` // only when it was just made
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
}

func showClient(c *sluice.Client) clientView {
	return clientView{ClientID: c.ID, Roles: c.Roles, Grants: c.Grants, Created: c.Created, Updated: c.Updated}
}

// grants are what a client may be allowed to use.
var grants = []string{"client_credentials", "password", "refresh_token"}

func clientPutCommand(d *Directory) command.Command {
	return command.New("iam.client.put", "Create an OAuth 2.0 client, or edit the one with that id. Its secret is shown when it is made, and never again.",
		ofOurs(d, func(ctx context.Context, p clientPutParams) (clientView, error) {
			if err := d.checkClient(ctx, p); err != nil {
				return clientView{}, err
			}
			secret := ""
			client, err := d.Clients.Change(ctx, p.ClientID, func(before *sluice.Client, _ map[string]*sluice.Client) (*sluice.Client, error) {
				after := sluice.Client{ID: p.ClientID, Roles: []string{}, Grants: grants[:1], Created: now()}
				secret = ""
				if before != nil {
					if err := d.mayGrant(ctx, before.Roles); err != nil {
						return nil, err
					}
					after = *before
				}
				after.Updated = now()
				if p.Roles != nil {
					after.Roles = distinct(p.Roles)
				}
				if p.Grants != nil {
					after.Grants = distinct(p.Grants)
				}
				if before == nil || p.Renew {
					secret = rand.Text()
					after.Secret, after.TokensSince = HashSecret(secret), time.Now().UTC()
				}
				if !slices.Contains(after.Grants, "client_credentials") {
					after.TokensSince = time.Now().UTC()
				}
				return &after, nil
			})
			if err != nil {
				return clientView{}, err
			}
			shown := showClient(client)
			shown.Secret = secret
			return shown, nil
		}))
}

func (d *Directory) checkClient(ctx context.Context, p clientPutParams) error {
	if p.ClientID == ClientName {
		return builtin("The client " + ClientName)
	}
	if !validClient.MatchString(p.ClientID) {
		return sluice.InvalidParameter("clientId", "The parameter clientId must be 1 to 128 letters, digits and . _ -, starting with a letter or digit.")
	}
	for _, grant := range p.Grants {
		if !slices.Contains(grants, grant) {
			return sluice.InvalidParameter("grants", "%q is not a grant; there are client_credentials, password and refresh_token.", grant)
		}
	}
	if err := d.checkRoles(ctx, p.Roles); err != nil {
		return err
	}
	return d.mayGrant(ctx, p.Roles)
}

// HashSecret returns the stored form of a client's secret. It is long and
// random, so a plain hash serves.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
