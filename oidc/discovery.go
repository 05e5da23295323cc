package oidc

import (
	"maps"
	"net/http"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// discovery describes the issuer (OpenID Connect Discovery, 3). There is no
// authorization endpoint, hence no response type.
func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) error {
	withSecret := []string{"client_secret_basic", "client_secret_post"}
	every := append(slices.Clone(withSecret), "none")
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer":                 i.url,
		"token_endpoint":         i.url + protocol + "/token",
		"jwks_uri":               i.url + protocol + "/certs",
		"userinfo_endpoint":      i.url + protocol + "/userinfo",
		"introspection_endpoint": i.url + protocol + "/introspect",
		"revocation_endpoint":    i.url + protocol + "/revoke",
		"end_session_endpoint":   i.url + protocol + "/logout",

		"grant_types_supported":                         slices.Sorted(maps.Keys(i.grants)),
		"response_types_supported":                      []string{},
		"scopes_supported":                              scopes,
		"claims_supported":                              []string{"iss", "sub", "aud", "exp", "iat", "auth_time", "azp", "sid", "preferred_username", "roles"},
		"subject_types_supported":                       []string{"public"},
		"id_token_signing_alg_values_supported":         []string{string(jose.ES256)},
		"token_endpoint_auth_methods_supported":         every,
		"revocation_endpoint_auth_methods_supported":    every,
		"introspection_endpoint_auth_methods_supported": withSecret,
	})
	return nil
}

// certs publishes the keys that tokens are signed with.
func (i *Issuer) certs(w http.ResponseWriter, r *http.Request) error {
	keys, err := i.keys.published(r.Context())
	if err != nil {
		return err
	}
	set := jose.JSONWebKeySet{Keys: make([]jose.JSONWebKey, 0, len(keys))}
	for _, key := range keys {
		set.Keys = append(set.Keys, key.jwk())
	}
	writeJSON(w, http.StatusOK, set)
	return nil
}
