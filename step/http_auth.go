package step

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"

	"sluice"
	"sluice/outward"
)

// validAuth says what is wrong with the parameter auth.
func validAuth(given any) error {
	object, _ := given.(map[string]any)
	_, err := outward.ReadAuth(object)
	return err
}

// authSecrets returns the names of the secrets in the parameter auth.
func authSecrets(known map[string]any) []string {
	object, _ := known["auth"].(map[string]any)
	auth, err := outward.ReadAuth(object)
	if err != nil {
		return nil
	}
	return auth.Secrets()
}

// named returns a function that returns the name of a secret in a parameter, as a list.
func named(parameter string) func(known map[string]any) []string {
	return func(known map[string]any) []string {
		if name, ok := known[parameter].(string); ok {
			return []string{name}
		}
		return nil
	}
}

// authOf reads the parameter auth. A request that will carry credentials shows that there are some.
func authOf(request *http.Request, given map[string]any) (auth outward.Auth, err error) {
	if given == nil {
		return auth, nil
	}
	if auth, err = outward.ReadAuth(given); err != nil {
		return auth, invalid("auth", "%s", err)
	}
	if auth.InHeader() {
		request.Header.Set("Authorization", "***")
	}
	return auth, nil
}

// carrying makes a sending give its request the credentials.
func (c *client) carrying(request *http.Request, s *sending, auth outward.Auth) error {
	secrets, err := secretsOf(request)
	if err != nil {
		return err
	}
	s.by, s.asks, err = c.credentials.Carrying(s.by, auth, request.URL, secrets)
	if fault, ok := errors.AsType[outward.SecretError](err); ok {
		err = badSecret(fault.Name, fault.Fault)
	}
	return err
}

// secretsOf returns the secrets of the run that a request is a step of.
func secretsOf(request *http.Request) (outward.Secrets, error) {
	ctx := request.Context()
	run := sluice.RunFrom(ctx)
	if run == nil {
		return outward.Secrets{}, sluice.CodeNotInAPipeline.Errorf(
			"The parameter auth is for steps of pipelines: secrets are lent to those.").About("auth")
	}
	reveal := func(name string) (string, error) { return run.Secret(ctx, name) }
	return outward.Secrets{Reveal: reveal, Hide: run.Hide}, nil
}

// authFailed is the error of a call for which there is no token. It has the status of the token
// endpoint, and nothing else of what that said.
func authFailed(target *url.URL, e *outward.TokenError) error {
	if errors.Is(e, outward.ErrRefused) {
		return refusedAddress(&url.URL{Host: e.Host})
	}
	if e.Reply == nil {
		return sluice.CodeAuthFailed.Errorf("There is no token for the call of %q: asking %q failed: %s.",
			target.Hostname(), e.Host, reason(e))
	}
	return repliedWith(e.Reply, sluice.CodeAuthFailed.Errorf(
		"There is no token for the call of %q: %q answers with %d %s.", target.Hostname(), e.Host, e.Reply.StatusCode,
		cmp.Or(e.Reason, http.StatusText(e.Reply.StatusCode))))
}
