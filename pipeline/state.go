package pipeline

import (
	"context"
	"maps"
	"math"
	"slices"

	"sluice"
	"sluice/value"
)

// put checks a value and puts it in its place.
func (x *execution) put(ctx context.Context, t target, out any) error {
	v, w := out, x.held[target{}]
	if !passedOn(x.scope.Body, out) {
		var err error
		if v, w, err = x.limits.normal(out); err != nil {
			return err
		}
	}
	if t.place == toHeaders {
		var err error
		if v, err = headerText(v); err != nil {
			return err
		}
	}
	if err := x.afford(ctx, t, w); err != nil {
		return err
	}
	x.assign(t, v, w)
	x.made()
	return nil
}

// headerText returns a value as the text of a header.
func headerText(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case nil, []any, map[string]any:
		return nil, sluice.Errorf(sluice.CodeHeaderInvalid, "A header must be text, not %s.", value.Describe(v))
	}
	text, err := value.AppendJSON(nil, v, math.MaxInt)
	return string(text), err
}

// assign puts a value in its place. Objects with variables and headers are made
// anew, since values may refer to the ones before.
func (x *execution) assign(t target, v any, w weight) {
	x.total.size += w.size - x.held[t].size
	x.total.memory += w.memory - x.held[t].memory
	x.held[t] = w
	switch t.place {
	case toVars:
		x.scope.Vars = with(x.scope.Vars, t.name, v)
	case toHeaders:
		x.scope.Headers = with(x.scope.Headers, t.name, v)
	default:
		x.scope.Body = v
	}
}

func with(fields map[string]any, name string, v any) map[string]any {
	fields = maps.Clone(fields)
	fields[name] = v
	return fields
}

// unset removes a variable.
func (x *execution) unset(t target) {
	x.total.size -= x.held[t].size
	x.total.memory -= x.held[t].memory
	delete(x.held, t)
	x.scope.Vars = maps.Clone(x.scope.Vars)
	delete(x.scope.Vars, t.name)
}

// showUser lets expressions see which user the next step runs as.
func (x *execution) showUser() {
	user := x.run.User()
	if x.scope.User != nil && user.Name == x.user.Name && slices.Equal(user.Roles, x.user.Roles) {
		return
	}
	roles := make([]any, len(user.Roles))
	for i, role := range user.Roles {
		roles[i] = role
	}
	x.user = user
	x.scope.User = map[string]any{"username": user.Name, "roles": roles}
}
