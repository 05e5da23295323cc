package trust

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"sluice"
	"sluice/sender"
)

// A Wish says which call is made: parameters of webhook.sign.
type Wish struct {
	ContentType string `json:"contentType" doc:"Media type of the payload. Default application/json."`
	Sample      string `json:"sample" doc:"Name of a sample of the provider, such as push, that is sent with the headers of the provider and a new delivery id; a payload that is given takes the place of that of the sample."`
	Payload     string `json:"payload" body:"only" doc:"The payload, as its sender would send it."`
}

// Sign makes a call with a signature, where calls have one.
func (g *Trust) Sign(url string, p Wish, now time.Time) (signed sluice.SignedCall, _ error) {
	call := &sender.Call{
		Method: http.MethodPost, URL: url,
		Header: http.Header{"Content-Type": {cmp.Or(p.ContentType, "application/json")}}, Body: []byte(p.Payload),
	}
	if p.Sample != "" {
		sample, split, err := g.sample(p)
		if err != nil {
			return signed, err
		}
		call.Header.Set("Content-Type", cmp.Or(p.ContentType, sample.ContentType))
		for name, value := range sample.Headers {
			call.Header.Set(name, value)
		}
		call.Body = []byte(sample.Body)
		if g.IDs != nil {
			g.IDs.Renew(call, split)
		}
		if p.Payload != "" {
			call.Body = []byte(p.Payload)
		}
	}
	if err := g.Verifier.Sign(call, now); err != nil {
		return signed, err
	}
	out := sluice.SignedCall{
		Method: call.Method, URL: call.URL, Headers: make(map[string]string, len(call.Header)), Body: string(call.Body),
	}
	for name, values := range call.Header {
		out.Headers[name] = values[0]
	}
	return out, nil
}

// sample finds the sample that is asked for among those of the webhook's provider, and how that
// splits its calls.
func (g *Trust) sample(p Wish) (sample sluice.Sample, split string, _ error) {
	if g.Provider == "" {
		return sample, "",
			sluice.InvalidParameter("sample", "Samples belong to providers, and this webhook has none: give a payload.")
	}
	preset, err := FindPreset(g.Provider)
	if err != nil {
		return sample, "", err
	}
	var names []string
	for _, s := range preset.Samples() {
		if s.Name == p.Sample {
			return s, preset.Split, nil
		}
		names = append(names, s.Name)
	}
	return sample, "", sluice.InvalidParameter("sample", "%s has no sample of that name; there are: %s.",
		preset.Title, strings.Join(names, ", "))
}
