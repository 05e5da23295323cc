package oidc

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"sluice"
)

// nobody is the client that unknown clients are checked against, so that they take as
// long. No secret has its hash.
var nobody = &sluice.Client{Secret: strings.Repeat("0", hex.EncodedLen(sha256.Size))}

// authenticate returns the client that makes a request. It identifies itself by
// header or by form, not by both (RFC 6749, 2.3). A public client has no secret
// and gives its id alone.
func (i *Issuer) authenticate(r *http.Request, form map[string]string) (*sluice.Client, error) {
	id, secret, err := i.clientCredentialsOf(r, form)
	if err != nil {
		return nil, err
	}
	client, err := i.Directory.Client(r.Context(), id)
	if err != nil {
		return nil, err
	}
	expected := client
	if client == nil {
		expected = nobody
	}
	if expected.Secret == "" {
		if secret != "" {
			return nil, i.invalidClient()
		}
		return client, nil
	}
	right := subtle.ConstantTimeCompare([]byte(sluice.HashSecret(secret)), []byte(expected.Secret)) == 1
	if !right || client == nil {
		return nil, i.invalidClient()
	}
	return client, nil
}

// clientCredentialsOf returns the id and secret that a client sends.
func (i *Issuer) clientCredentialsOf(r *http.Request, form map[string]string) (id, secret string, err error) {
	headers := r.Header.Values("Authorization")
	if len(headers) > 1 {
		return "", "", invalidRequest("The request has more than one Authorization header; send one.")
	}
	if len(headers) == 0 {
		return form["client_id"], form["client_secret"], nil
	}
	if form["client_secret"] != "" {
		return "", "", invalidRequest("The client authenticates both by header and by form; use one of them.")
	}
	id, secret, ok := parseClientHeader(headers[0])
	if !ok {
		return "", "", i.invalidClient()
	}
	if named := form["client_id"]; named != "" && named != id {
		return "", "", invalidRequest("The header and the form name different clients.")
	}
	return id, secret, nil
}

// parseClientHeader reads an Authorization header of the scheme Basic whose two
// parts are form-encoded (RFC 6749, 2.3.1).
func parseClientHeader(header string) (id, secret string, ok bool) {
	scheme, credentials, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(credentials))
	if err != nil {
		return "", "", false
	}
	id, secret, ok = strings.Cut(string(decoded), ":")
	id, idErr := url.QueryUnescape(id)
	secret, secretErr := url.QueryUnescape(secret)
	if !ok || idErr != nil || secretErr != nil || id == "" || !plain(id) || !plain(secret) {
		return "", "", false
	}
	return id, secret, true
}

func (i *Issuer) invalidClient() *sluice.Error {
	return sluice.CodeInvalidClient.Errorf("The client is not known, or its secret is wrong or missing.").
		Challenging(`Basic realm="` + i.Namespace + `", charset="UTF-8"`)
}
