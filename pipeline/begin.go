package pipeline

import (
	"context"

	"sluice"
)

// begin fills body, headers and variables, in this order: each may refer to
// those before it.
func (x *execution) begin(ctx context.Context, s Start) error {
	x.showUser()
	x.scope.Vars, x.scope.Headers = map[string]any{}, map[string]any{}
	body := s.Body
	if body == nil && x.program.body != nil {
		var err error
		if body, err = x.program.body.eval(&x.scope); err != nil {
			return about("body", err)
		}
	}
	if err := x.put(ctx, target{}, body); err != nil {
		return about("body", err)
	}
	if s.Counted {
		x.assign(target{}, x.scope.Body, weight{size: x.held[target{}].size})
		x.made()
	}
	if err := x.fill(ctx, toHeaders, "headers.", x.program.headers, nil); err != nil {
		return err
	}
	if len(s.Vars) > maxNames {
		return sluice.Errorf(sluice.TooLarge, "too-many-variables", "%d variables were given, at most %d are allowed.", len(s.Vars), maxNames)
	}
	for name, v := range s.Vars {
		if err := x.put(ctx, target{toVars, name}, v); err != nil {
			return about("vars."+name, err)
		}
	}
	return x.fill(ctx, toVars, "vars.", x.program.vars, s.Vars)
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

// requestOf returns what expressions see of the call that led to an event.
func requestOf(d sluice.Delivery, attempt int) map[string]any {
	return map[string]any{
		"traceId":       d.TraceID,
		"correlationId": d.Message["correlationId"],
		"deliveryCount": d.Count,
		"attempt":       attempt,
		"method":        d.Message["method"],
		"query":         d.Message["query"],
		"headers":       d.Message["headers"],
	}
}
