package webhook

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/sender"
)

type signParams struct {
	EventKey    string `json:"eventKey" required:"true" audit:"yes" names:"event" doc:"Event key of the webhook."`
	ContentType string `json:"contentType" doc:"Media type of the payload. Default application/json."`
	Sample      string `json:"sample" doc:"Name of a sample of the provider, such as push, that is sent with the headers of the provider and a new delivery id; a payload that is given takes the place of that of the sample."`
	Payload     string `json:"payload" body:"only" doc:"The payload, as its sender would send it."`
}

func signCommand(hooks *Store, trusts *Trusts, baseURL string) command.Command {
	return command.New("webhook.sign", "Make a call as the webhook's sender would, with its signature, to try the webhook with it. Needs the permission webhook.token, too, and secret.use where calls carry the secret itself.",
		func(ctx context.Context, p signParams) (sluice.SignedCall, error) {
			if !maySeeToken(ctx, p.EventKey) {
				return sluice.SignedCall{}, sluice.NotPermitted(sluice.MaySeeTokens)
			}
			hook, err := hooks.WithKey(p.EventKey)
			if err != nil {
				return sluice.SignedCall{}, err
			}
			g, err := trusts.of(ctx, &hook)
			if err != nil {
				return sluice.SignedCall{}, err
			}
			if g != nil && g.verifier != nil && g.verifier.SendsSecret() && !g.mayUse(sluice.UserFrom(ctx), hook.EventKey) {
				return sluice.SignedCall{}, sluice.NotPermitted(sluice.MayUseSecrets)
			}
			return g.sign(receiveURL(baseURL, hook.OpenToken(time.Now())), p, time.Now())
		}, command.Missing(Missing))
}

// sign makes a call with a signature, where calls have one.
func (g *trust) sign(url string, p signParams, now time.Time) (sluice.SignedCall, error) {
	call := &sender.Call{Method: http.MethodPost, URL: url, Header: http.Header{"Content-Type": {cmp.Or(p.ContentType, "application/json")}}, Body: []byte(p.Payload)}
	if p.Sample != "" {
		sample, err := g.sample(p)
		if err != nil {
			return sluice.SignedCall{}, err
		}
		if p.ContentType != "" {
			sample.Header.Set("Content-Type", p.ContentType)
		}
		call.Header, call.Body = sample.Header, sample.Body
		if g.ids != nil {
			g.ids.Renew(call)
		}
		if p.Payload != "" {
			call.Body = []byte(p.Payload)
		}
	}
	if g != nil && g.verifier != nil {
		if err := g.verifier.Sign(call, now); err != nil {
			return sluice.SignedCall{}, err
		}
	}
	out := sluice.SignedCall{Method: call.Method, URL: call.URL, Headers: make(map[string]string, len(call.Header)), Body: string(call.Body)}
	for name, values := range call.Header {
		out.Headers[name] = values[0]
	}
	return out, nil
}

// mayUse reports whether a user may use the secrets that calls are signed with: those that
// are stored by name, and the webhook's own.
func (g *trust) mayUse(user sluice.User, eventKey string) bool {
	cover := user.Cover(sluice.MayUseSecrets)
	for part := range strings.SplitSeq(g.Signing, ",") {
		if name, stored := storedName(part); stored && !cover.Name(name) || !stored && !cover.Event(eventKey) {
			return false
		}
	}
	return true
}

// sample finds the sample that is asked for among those of the webhook's provider.
func (g *trust) sample(p signParams) (sender.Sample, error) {
	if g == nil || g.Provider == "" {
		return sender.Sample{}, sluice.InvalidParameter("sample", "Samples belong to providers, and this webhook has none: give a payload.")
	}
	preset, err := findPreset(g.Provider)
	if err != nil {
		return sender.Sample{}, err
	}
	var names []string
	for _, s := range preset.Samples() {
		if s.Name == p.Sample {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return sender.Sample{}, sluice.InvalidParameter("sample", "%s has no sample of that name; there are: %s.", preset.Title, strings.Join(names, ", "))
}
