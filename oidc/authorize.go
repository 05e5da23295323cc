package oidc

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice"
)

const (
	challengeSize = 32  // bytes of a SHA-256
	maxNonce      = 512 // bytes; it is stored
)

// Asked reads the request of a program that a browser brings (RFC 6749, 4.1.1). If the
// client is unknown or the URI is not its own, the person is told: Invalid. The program
// is told of other mistakes, see Refused of the authorization.
func (i *Issuer) Asked(ctx context.Context, query string) (asked sluice.Authorization, _ error) {
	form, err := parseForm(query)
	if err != nil {
		return asked, err
	}
	client, err := i.Directory.Client(ctx, form["client_id"])
	if err != nil {
		return asked, err
	}
	if client == nil || !client.MayRedirect(form["redirect_uri"]) { // not which: that would tell who the clients are
		return asked,
			invalidRequest("No program is known here by this client_id with this redirect_uri. Its operator has to " +
				"register them.")
	}
	a := sluice.Authorization{
		ClientID:  client.ID,
		Redirect:  form["redirect_uri"],
		State:     form["state"],
		Nonce:     form["nonce"],
		Challenge: form["code_challenge"],
		MaxAge:    -1,
	}
	a.Lasts = i.lifetime(client)
	if err := complete(&a, client, form); err != nil {
		e := sluice.AsError(err)
		a.Refused = i.Deny(a, e.Code, e.Message)
	}
	return a, nil
}

// complete checks the rest of the request, and enters it.
func complete(a *sluice.Authorization, client *sluice.Client, form map[string]string) error {
	switch {
	case form["request"] != "":
		return sluice.CodeRequestNotSupported.Errorf("The parameter request is not supported.")
	case form["request_uri"] != "":
		return sluice.CodeRequestURINotSupported.Errorf("The parameter request_uri is not supported.")
	case form["response_type"] == "":
		return invalidRequest("The parameter response_type is missing.")
	case form["response_type"] != "code":
		return sluice.CodeUnsupportedResponseType.Errorf("The only response_type here is code.")
	case cmp.Or(form["response_mode"], "query") != "query":
		return invalidRequest("The only response_mode here is query.")
	case !slices.Contains(client.Grants, "authorization_code"):
		return sluice.CodeUnauthorizedClient.Errorf(
			"This client may not use the grant type authorization_code.")
	case a.Challenge == "":
		return invalidRequest("The parameter code_challenge is missing: PKCE is required here.")
	case form["code_challenge_method"] != "S256":
		return invalidRequest("The only code_challenge_method here is S256.")
	case !isRandom(a.Challenge, challengeSize):
		return invalidRequest("The code_challenge is not a SHA-256 in base64url.")
	case len(a.Nonce) > maxNonce:
		return invalidRequest("The nonce is too long.")
	}
	return demand(a, form)
}

// demand adds what a program asks for beyond a code.
func demand(a *sluice.Authorization, form map[string]string) (err error) {
	if age := form["max_age"]; age != "" {
		seconds, err := strconv.ParseUint(age, 10, 31)
		if err != nil {
			return invalidRequest("The max_age is no number of seconds.")
		}
		a.MaxAge = time.Duration(seconds) * time.Second
	}
	prompt := strings.Fields(form["prompt"])
	a.Silent = slices.Contains(prompt, "none")
	a.SignIn = slices.Contains(prompt, "login") || slices.Contains(prompt, "select_account")
	if a.Silent && len(prompt) > 1 {
		return invalidRequest("The prompt none can't be combined with others.")
	}
	a.Scope, err = grantScope(form["scope"])
	return err
}

// Allow returns where the browser takes the code with which the program gets
// tokens that stand for the user.
func (i *Issuer) Allow(
	ctx context.Context, a sluice.Authorization, username string, signedIn time.Time,
) (string, error) {
	code, err := i.sessions.permit(ctx, sluice.Session{
		Username: username,
		ClientID: a.ClientID,
		Scope:    a.Scope,
		SignedIn: signedIn,
		Code:     &sluice.AuthorizationCode{Redirect: a.Redirect, Challenge: a.Challenge, Nonce: a.Nonce},
	})
	if err != nil {
		return "", err
	}
	return i.back(a, url.Values{"code": {code}}), nil
}

// Deny returns where the browser tells the program that it gets no code, with the reason
// as an error code of OAuth and as a sentence.
func (i *Issuer) Deny(a sluice.Authorization, reason, sentence string) string {
	return i.back(a, url.Values{"error": {reason}, "error_description": {strings.Map(descriptive, sentence)}})
}

// back returns where the browser takes an answer. The answer names the issuer, so that
// programs with several issuers don't mix them up (RFC 9207).
func (i *Issuer) back(a sluice.Authorization, answer url.Values) string {
	answer.Set("iss", i.url)
	if a.State != "" {
		answer.Set("state", a.State)
	}
	separator := "?"
	if strings.Contains(a.Redirect, "?") {
		separator = "&"
	}
	return a.Redirect + separator + answer.Encode()
}

// scopes are those that have an effect: openid asks for an ID token, profile for the name
// in it.
var scopes = []string{"openid", "profile"}

// grantScope returns the granted part of the scopes that are asked for. It leaves out
// unknown ones, as OpenID Connect requires; the answer says which were granted.
func grantScope(asked string) (string, error) {
	if strings.ContainsFunc(asked, notScope) {
		return "", invalidScope("The scope has characters that no scope has.")
	}
	var granted []string
	for s := range strings.FieldsSeq(asked) {
		if slices.Contains(scopes, s) && !slices.Contains(granted, s) {
			granted = append(granted, s)
		}
	}
	return strings.Join(granted, " "), nil
}

// narrowScope returns the scope of a refreshed token: the scope that was granted before,
// or the part of it that is asked for.
func narrowScope(before, asked string) (string, error) {
	if asked == "" {
		return before, nil
	}
	for s := range strings.FieldsSeq(asked) {
		if !hasScope(before, s) {
			return "", invalidScope("The scope is wider than the one that was granted.")
		}
	}
	return grantScope(asked)
}

func hasScope(scope, word string) bool { return slices.Contains(strings.Fields(scope), word) }

// notScope reports whether RFC 6749, 3.3 forbids a character.
func notScope(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }

func invalidScope(message string) *sluice.Error {
	return sluice.CodeInvalidScope.Errorf("%s", message)
}
