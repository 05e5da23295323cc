package pipeline

import (
	"encoding/json"
	"reflect"

	"sluice"
	"sluice/command"
	"sluice/value"
)

func (l *Limits) scale() value.Scale { return value.Scale{MaxSize: l.Value, MaxItems: l.List} }

// normal returns what a command has returned as a value, with its weight.
func (l *Limits) normal(out any) (v any, w weight, err error) {
	if page, ok := out.(command.Paged); ok {
		out, _ = page.Page()
	}
	scale := l.scale()
	v, err = scale.Plain(out)
	return v, weightOf(scale), err
}

// passedOn reports whether an output is the very body that went in, which need
// not be checked again.
func passedOn(body, out any) bool {
	switch body := body.(type) {
	case []any:
		out, ok := out.([]any)
		return ok && len(out) == len(body) && len(out) > 0 && &out[0] == &body[0]
	case map[string]any:
		out, ok := out.(map[string]any)
		return ok && reflect.ValueOf(out).Pointer() == reflect.ValueOf(body).Pointer()
	}
	return false
}

// encode returns a final body as JSON, unless it is too large.
func (l *Limits) encode(v any) (json.RawMessage, error) {
	data, err := value.AppendJSON(nil, v, l.Result)
	if len(data) > l.Result {
		return nil, sluice.Errorf(sluice.CodeResultTooLarge, "The final body is larger than %d bytes as JSON; end the pipeline with a smaller one, such as a summary.", l.Result)
	}
	return data, err
}
