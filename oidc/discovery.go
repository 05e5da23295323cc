package oidc

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"sluice"
)

// metadata describes the issuer at the path that follows from its URL (RFC 8414, 3.1), or
// at the root, since the host has no other issuer.
func (i *Issuer) metadata(w http.ResponseWriter, r *http.Request) error {
	if named := r.PathValue("issuer"); named != "" {
		if u, err := url.Parse(i.url); err != nil || u.Path != "/"+named {
			return notFound(w, r)
		}
	}
	return i.discovery(w, r)
}

// discovery describes the issuer (OpenID Connect Discovery, 3; RFC 8414, 2).
func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) error {
	withSecret := []string{"client_secret_basic", "client_secret_post"}
	every := append(slices.Clone(withSecret), "none")
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer":                 i.url,
		"authorization_endpoint": i.BaseURL + sluice.AuthorizePath,
		"token_endpoint":         i.url + protocol + "/token",
		"jwks_uri":               i.url + protocol + "/certs",
		"userinfo_endpoint":      i.url + protocol + "/userinfo",
		"introspection_endpoint": i.url + protocol + "/introspect",
		"revocation_endpoint":    i.url + protocol + "/revoke",
		"end_session_endpoint":   i.url + protocol + "/logout",

		"grant_types_supported":            slices.Sorted(maps.Keys(i.grants)),
		"response_types_supported":         []string{"code"},
		"response_modes_supported":         []string{"query"},
		"code_challenge_methods_supported": []string{"S256"},
		"prompt_values_supported":          []string{"none", "login", "consent"},
		"request_uri_parameter_supported":  false,
		"scopes_supported":                 scopes,
		"claims_supported": []string{
			"iss", "sub", "aud", "exp", "iat", "auth_time", "azp", "sid", "nonce", "at_hash", "preferred_username",
			"roles",
		},
		"authorization_response_iss_parameter_supported": true,
		"subject_types_supported":                        []string{"public"},
		"id_token_signing_alg_values_supported":          []string{string(jose.ES256)},
		"token_endpoint_auth_methods_supported":          every,
		"revocation_endpoint_auth_methods_supported":     every,
		"introspection_endpoint_auth_methods_supported":  withSecret,
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
