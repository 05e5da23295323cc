package pipeline

import (
	"context"

	"sluice"
)

// begin fills body, headers and variables, in this order: each may refer to
// those before it.
func (x *execution) begin(ctx context.Context, b beginning) error {
	x.showUser()
	x.scope.Vars, x.scope.Headers = map[string]any{}, map[string]any{}
	body := b.body
	if body == nil && x.program.body != nil {
		var err error
		if body, err = x.program.body.eval(&x.scope); err != nil {
			return about("body", err)
		}
	}
	if err := x.put(ctx, target{}, body); err != nil {
		return about("body", err)
	}
	if b.counted {
		x.assign(target{}, x.scope.Body, weight{size: x.held[target{}].size})
		x.made()
	}
	if err := x.fill(ctx, toHeaders, "headers.", x.program.headers, nil); err != nil {
		return err
	}
	if len(b.vars) > maxNames {
		return sluice.Errorf(sluice.CodeTooManyVariables, "%d variables were given, at most %d are allowed.", len(b.vars), maxNames)
	}
	for name, v := range b.vars {
		if err := x.put(ctx, target{toVars, name}, v); err != nil {
			return about("vars."+name, err)
		}
	}
	return x.fill(ctx, toVars, "vars.", x.program.vars, b.vars)
}

// fill puts the fields of a source in place, without those that are given.
func (x *execution) fill(ctx context.Context, where place, prefix string, fields []field, given map[string]any) error {
	for i := range fields {
		if _, has := given[fields[i].name]; has {
			continue
		}
		v, err := fields[i].value.eval(&x.scope)
		if err == nil {
			err = x.put(ctx, target{where, fields[i].name}, v)
		}
		if err != nil {
			return about(prefix+fields[i].name, err)
		}
	}
	return nil
}

// about adds to an error at the start which part of the source it is about.
func about(part string, err error) error {
	e := blamed(err)
	return e.Saying(part + ": " + e.Message)
}
