package manifest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"sluice"
	"sluice/client"
	"sluice/value"
	"sluice/webhook"
)

// list returns what a command of the server lists, with numbers as files have them.
func (r *resource) list(ctx context.Context, command string) (objects []map[string]any, err error) {
	answer, err := r.server.Command(ctx, command, nil, nil)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(answer.Body))
	dec.UseNumber()
	if err := dec.Decode(&objects); err != nil {
		return nil, sluice.CodeAnswerMalformed.Errorf("The server's answer to %s can't be read.", command).Because(err)
	}
	for _, object := range objects {
		plain(object)
	}
	return objects, nil
}

// stored returns the things that a server has, by name, without those that files
// can't describe.
func (r *resource) stored(ctx context.Context) (map[string]*thing, error) {
	if r.Name == "webhook" {
		senders, err := r.list(ctx, "provider.get")
		if err != nil {
			return nil, err
		}
		r.presets = make(presets)
		for _, p := range senders {
			r.presets[textOf(p, "provider")] = p
		}
	}
	list, err := r.list(ctx, r.Get)
	if err != nil {
		return nil, err
	}
	things := make(map[string]*thing, len(list))
	for _, given := range list {
		if given["builtIn"] != nil || given["folder"] == true {
			continue // a built-in role, or a pipeline from the operator's folder
		}
		t := &thing{resource: r, name: textOf(given, r.Key), token: textOf(given, "uuid"), tag: textOf(given, "etag")}
		list, _ := given["tokens"].([]any)
		for _, item := range list {
			token, _ := item.(map[string]any)
			if t.open == nil {
				t.open = make(map[string]bool)
			}
			t.open[textOf(token, "token")] = token["open"] == true
		}
		if r.isText() {
			if t.text, t.tag, err = r.server.PipelineSource(ctx, t.name, ""); err != nil {
				return nil, err
			}
		} else {
			secrets, _ := given["signingSecrets"].(int)
			t.secrets = secrets > 0 && given[signingSecret] == nil || given[verifyToken] != nil
			t.fields = r.normal(given)
		}
		things[t.name] = t
	}
	return things, nil
}

// presets are the known senders by name, with the defaults for their webhooks.
type presets map[string]map[string]any

// own returns what the sender of a webhook has in place of the default of a setting.
func (p presets) own(s *webhook.Setting, given map[string]any) any {
	preset := p[textOf(given, "provider")]
	own := cmp.Or(preset[s.Name], s.Usual)
	if with := textOf(given, s.With); with != "" && with != textOf(preset, s.With) || own == "off" { // not shown
		return nil
	}
	return own
}

// params returns the parameters that store a thing in place of the one before.
func (t *thing) params(before *thing, force bool) map[string]any {
	params := map[string]any{t.resource.Key: t.name}
	if t.resource.isText() {
		params["force"] = force
	}
	for _, f := range t.resource.fields {
		after, has := t.fields[f.name]
		_, isList := f.unset.([]any)
		switch {
		case has:
			params[f.name] = after
		case isList && (before == nil || f.follows != nil): // what it was may be wrong beside the other fields
			params[f.name] = f.emptied // an empty list differs from a missing one
		case before != nil && before.fields[f.name] != nil:
			params[f.name] = f.emptied
		}
	}
	if before != nil && before.token != "" {
		params["uuid"] = before.token
	}
	if before != nil && before.tag != "" {
		params["ifMatch"] = before.tag
	}
	return params
}

// put stores a thing, or checks it, as the parameters say.
func (t *thing) put(ctx context.Context, params map[string]any) (answer map[string]any, err error) {
	beside, body := url.Values{}, &client.Body{Content: []byte(t.text)}
	if t.resource.isText() {
		for name, given := range params {
			beside.Set(name, fmt.Sprint(given))
		}
	} else {
		body.ContentType = "application/json"
		if body.Content, err = value.Marshal(params); err != nil {
			return nil, err
		}
	}
	err = t.resource.server.Decode(ctx, t.resource.Put, beside, body, &answer)
	return answer, t.blame(err)
}

func (t *thing) delete(ctx context.Context) error {
	params := url.Values{t.resource.Key: {t.name}}
	switch {
	case t.token != "":
		params = url.Values{"uuid": {t.token}}
	case t.tag != "":
		params.Set("ifMatch", t.tag)
	}
	_, err := t.resource.server.Command(ctx, t.resource.Remove, params, nil)
	return t.blame(err)
}

// blame adds to an error the thing that it is about, and the position in its file.
func (t *thing) blame(err error) error {
	if err == nil {
		return nil
	}
	e := sluice.AsError(err)
	if e.Kind == sluice.Internal {
		return err
	}
	if t.file == "" {
		return e.Saying(fmt.Sprintf("The %s %s: %s", t.resource.Name, t.name, e.Message))
	}
	message := strings.Replace(e.Message, "The parameter "+t.resource.Key+" ", "The name of the file ", 1)
	return e.Saying(t.position(e.Parameter, e.Message) + ": " + message)
}

func textOf(fields map[string]any, name string) string {
	text, _ := fields[name].(string)
	return text
}
