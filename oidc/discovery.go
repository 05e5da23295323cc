package oidc

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
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

// described is what clients may know of every issuer, but for the URLs.
//
//go:embed discovery.json
var described string

// discovery describes the issuer (OpenID Connect Discovery, 3; RFC 8414, 2).
func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) error {
	own := strings.NewReplacer("{issuer}", i.url, "{server}", i.BaseURL).Replace(described)
	writeJSON(w, http.StatusOK, json.RawMessage(own))
	return nil
}

// certs publishes the keys that tokens are signed with.
func (i *Issuer) certs(w http.ResponseWriter, r *http.Request) error {
	set, err := i.keys.published(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, set)
	return nil
}
