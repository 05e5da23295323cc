package missed

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"
)

const graphServer = "https://graph.microsoft.com"

// loginGraph: the secret is a token, or tenant:client:secret.
func loginGraph(ctx context.Context, a *api) error {
	tenant, credential, _ := strings.Cut(a.secret, ":")
	if !strings.Contains(credential, ":") {
		return nil
	}
	server := "https://login.microsoftonline.com"
	if a.base != graphServer {
		server = a.base // it stands in for both
	}
	a.secret = credential
	return a.login(ctx, server+"/"+tenant+"/oauth2/v2.0/token", "scope", graphServer+"/.default")
}

// Subscriptions last for 4230 minutes at most, some for an hour.
const (
	longestGraph  = 4200 * time.Minute
	shortestGraph = 59 * time.Minute
)

// renewGraph moves the end of a subscription on, for as long as the last time.
func renewGraph(ctx context.Context, a *api, lasts time.Duration) (until time.Time, err error) {
	for _, length := range []time.Duration{cmp.Or(lasts, longestGraph), shortestGraph} {
		var reply []byte
		end := map[string]string{"expirationDateTime": stamp(time.Now().Add(length))}
		if reply, _, err = a.ask(ctx, http.MethodPatch, a.hook, end); err == nil {
			return instant(text(reply, "expirationDateTime")), nil
		}
	}
	return until, err
}
