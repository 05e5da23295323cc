package run

import (
	"context"

	"sluice"
	"sluice/pipeline/source"
)

// begin fills body, headers and variables, in this order: each may refer to those before.
func (x *execution) begin(ctx context.Context, s Start) error {
	x.showUser()
	x.scope.Vars, x.scope.Headers = map[string]any{}, map[string]any{}
	body := s.Body
	if body == nil && x.program.Body != nil {
		var err error
		if body, err = x.program.Body.Eval(&x.scope); err != nil {
			return about("body", err)
		}
	}
	if err := x.put(ctx, source.Target{}, body); err != nil {
		return about("body", err)
	}
	if s.Counted {
		x.assign(source.Target{}, x.scope.Body, weight{size: x.held[source.Target{}].size})
		x.made()
	}
	if err := x.fill(ctx, source.ToHeaders, "headers.", x.program.Headers, nil); err != nil {
		return err
	}
	if len(s.Vars) > source.MaxNames {
		return sluice.Errorf(sluice.CodeTooManyVariables, "%d variables were given, at most %d are allowed.", len(s.Vars), source.MaxNames)
	}
	for name, v := range s.Vars {
		if err := x.put(ctx, source.Target{Section: source.ToVars, Name: name}, v); err != nil {
			return about("vars."+name, err)
		}
	}
	return x.fill(ctx, source.ToVars, "vars.", x.program.Vars, s.Vars)
}

// fill assigns the fields of a source, except those that are given.
func (x *execution) fill(ctx context.Context, where source.Section, prefix string, fields []source.Field, given map[string]any) error {
	for i := range fields {
		if _, has := given[fields[i].Name]; has {
			continue
		}
		v, err := fields[i].Value.Eval(&x.scope)
		if err == nil {
			err = x.put(ctx, source.Target{Section: where, Name: fields[i].Name}, v)
		}
		if err != nil {
			return about(prefix+fields[i].Name, err)
		}
	}
	return nil
}

// about prefixes an error with the part of the source that it is about.
func about(part string, err error) error {
	e := blamed(err)
	return e.Saying(part + ": " + e.Message)
}

// RequestOf returns the request object of expressions, for the call behind an event.
func RequestOf(d sluice.Delivery, attempt int) map[string]any {
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
