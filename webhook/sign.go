package webhook

import (
	"context"
	"net/http"
	"slices"
	"time"

	"sluice"
	"sluice/command"
	"sluice/sender"
)

type signParams struct {
	EventKey    string `json:"eventKey" audit:"yes" doc:"Event key of the webhook."` // see needsKey
	ContentType string `json:"contentType" doc:"Media type of the payload. Default application/json."`
	Payload     string `json:"payload" body:"only" doc:"The payload, as its sender would send it."`
}

// signed is a call that can be made.
type signed struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func signCommand(hooks *Store, guards *Guards, baseURL string) command.Command {
	return command.New("webhook.sign", "Make a call as the webhook's sender would, with its signature, to try the webhook with it. Needs the permission webhook.token, too, and secret.use where calls carry the secret itself.",
		func(ctx context.Context, p signParams) (signed, error) {
			if p.EventKey == "" {
				return signed{}, sluice.Errorf(sluice.Invalid, "parameter-missing", "The parameter eventKey is required; give it in the query of the request, since the body is what is signed.").About("eventKey")
			}
			if !sluice.UserFrom(ctx).May(sluice.MaySeeTokens) {
				return signed{}, sluice.NotPermitted(sluice.MaySeeTokens)
			}
			hook, err := hooks.withKey(p.EventKey)
			if err != nil {
				return signed{}, err
			}
			g, err := guards.of(ctx, &hook)
			if err != nil {
				return signed{}, err
			}
			if g != nil && g.showsSecret() && !sluice.UserFrom(ctx).May(sluice.MayUseSecrets) {
				return signed{}, sluice.NotPermitted(sluice.MayUseSecrets)
			}
			return g.sign(baseURL+sluice.ReceivePath+"?token="+hook.UUID, p, time.Now())
		}, needsKey)
}

// needsKey declares that the command needs an event key. The command itself refuses
// calls without one: who sent it in a form is told that the form is the payload.
func needsKey(c *command.Command) {
	c.Params = slices.Clone(c.Params) // those that are declared, not those that are checked
	for i := range c.Params {
		c.Params[i].Required = c.Params[i].Name == "eventKey"
	}
}

// showsSecret reports whether calls carry the signing secret itself.
func (g *guard) showsSecret() bool {
	preset, _ := sender.Find(g.Provider) // none signs in its own way
	return preset.Unsigned && g.Signing != ""
}

// sign makes a call with a signature, where calls have one.
func (g *guard) sign(url string, p signParams, now time.Time) (signed, error) {
	media := p.ContentType
	if media == "" {
		media = "application/json"
	}
	call := &sender.Call{Method: http.MethodPost, URL: url, Header: http.Header{"Content-Type": {media}}, Body: []byte(p.Payload)}
	if g != nil && g.verifier != nil {
		if err := g.verifier.Sign(call, now); err != nil {
			return signed{}, err
		}
	}
	out := signed{Method: call.Method, URL: call.URL, Headers: make(map[string]string, len(call.Header)), Body: string(call.Body)}
	for name, values := range call.Header {
		out.Headers[name] = values[0]
	}
	return out, nil
}
