package manifest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"sluice"
	"sluice/client"
)

// stored returns the things of a kind that a server has, by name: those that files
// may describe.
func (k *kind) stored(ctx context.Context, c *client.Client, presets map[string]string) (map[string]*thing, error) {
	answer, err := c.Command(ctx, k.get, nil, nil)
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		return nil, malformed(k, err)
	}
	things := make(map[string]*thing, len(list))
	for _, document := range list {
		var given map[string]any
		if err := decodeJSON(document, &given); err != nil {
			return nil, malformed(k, err)
		}
		if given["builtIn"] != nil || given["folder"] == true {
			continue // a role of the program's, or a pipeline of the operator's own folder
		}
		t := &thing{kind: k, name: textOf(given, k.key), token: textOf(given, "uuid"), updated: textOf(given, "updated")}
		if k.isText() {
			if t.text, t.tag, err = c.PipelineSource(ctx, t.name, 0); err != nil {
				return nil, err
			}
		} else {
			secrets, _ := given["signingSecrets"].(int)
			t.secrets = secrets > 0 && given[signingSecret] == nil || given[verifyToken] != nil
			t.fields = k.normal(given, presets)
		}
		things[t.name] = t
	}
	return things, nil
}

// presetsOf returns where known senders have the ids of their deliveries: what
// holds for a webhook that does not say it.
func presetsOf(ctx context.Context, c *client.Client) (map[string]string, error) {
	answer, err := c.Command(ctx, "provider.get", nil, nil)
	if err != nil {
		return nil, err
	}
	var list []struct {
		Provider string `json:"provider"`
		Dedupe   string `json:"dedupe"`
	}
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		return nil, malformed(&kind{name: "provider"}, err)
	}
	presets := make(map[string]string, len(list))
	for _, p := range list {
		if presets[p.Provider] = p.Dedupe; p.Dedupe == "off" {
			presets[p.Provider] = "" // webhooks don't show it
		}
	}
	return presets, nil
}

// params returns the parameters that store a thing in place of what was there
// before.
func (t *thing) params(before *thing) map[string]any {
	params := map[string]any{t.kind.key: t.name}
	for _, f := range t.kind.fields {
		after, has := t.fields[f.name]
		switch {
		case has:
			params[f.name] = after
		case f.name == "grants" && t.fields["public"] == true:
			params[f.name] = grants(true)
		case isList(f.unset) && (before == nil || f.name == "grants"): // what is right for a public client is wrong for another
			params[f.name] = f.unset // an empty list is no missing one
		case before != nil && before.fields[f.name] != nil:
			params[f.name] = f.unset
			if f.unset == nil || f.name == "dedupeWindow" {
				params[f.name] = ""
			}
		}
	}
	if before != nil && before.token != "" {
		params["uuid"], params["ifUpdated"] = before.token, before.updated
	}
	return params
}

// put stores a thing, or checks it, as the parameters say.
func (t *thing) put(ctx context.Context, c *client.Client, params map[string]any) (answer map[string]any, err error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	got, err := c.Command(ctx, t.kind.put, nil, &client.Body{Content: body, ContentType: "application/json"})
	if err != nil {
		return nil, t.blame(err)
	}
	return answer, decodeJSON(got.Body, &answer)
}

// putText stores a pipeline in place of the one that was there before, nil if none
// was.
func (t *thing) putText(ctx context.Context, c *client.Client, before *thing, force bool) error {
	params := url.Values{t.kind.key: {t.name}, "force": {strconv.FormatBool(force)}}
	if before != nil {
		params.Set("ifMatch", before.tag)
	}
	_, err := c.Command(ctx, t.kind.put, params, &client.Body{Content: []byte(t.text)})
	return t.blame(err)
}

// delete deletes a thing.
func (t *thing) delete(ctx context.Context, c *client.Client) error {
	params := url.Values{t.kind.key: {t.name}}
	switch {
	case t.token != "":
		params = url.Values{"uuid": {t.token}}
	case t.tag != "":
		params.Set("ifMatch", t.tag)
	}
	_, err := c.Command(ctx, t.kind.remove, params, nil)
	return t.blame(err)
}

// changeable refuses a webhook whose token is not shown.
func (t *thing) changeable() error {
	if strings.HasPrefix(t.token, "…") {
		return t.blame(sluice.NotPermitted(sluice.MaySeeTokens))
	}
	return nil
}

// blame names the thing that an error is about, and its place in the file.
func (t *thing) blame(err error) error {
	if err == nil {
		return nil
	}
	e := sluice.AsError(err)
	if e.Kind == sluice.Internal {
		return err
	}
	if t.file == "" {
		return e.Saying(fmt.Sprintf("The %s %s: %s", t.kind.name, t.name, e.Message))
	}
	message := strings.Replace(e.Message, "The parameter "+t.kind.key+" ", "The name of the file ", 1)
	return e.Saying(t.place(e.Parameter, e.Message) + ": " + message)
}

func isList(value any) bool {
	_, ok := value.([]any)
	return ok
}

func textOf(fields map[string]any, name string) string {
	text, _ := fields[name].(string)
	return text
}

func malformed(k *kind, cause error) error {
	return sluice.Errorf(sluice.CodeAnswerMalformed, "The server gave no %ss.", k.name).Because(cause)
}
