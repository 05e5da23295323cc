package pipeline

import (
	"sluice"
)

// begin fills body, headers and variables, in this order: each may refer to
// those before it.
func (x *execution) begin(b beginning) error {
	x.showUser()
	x.scope.Vars, x.scope.Headers = map[string]any{}, map[string]any{}
	body := b.body
	if body == nil && x.program.body != nil {
		var err error
		if body, err = x.program.body.eval(&x.scope); err != nil {
			return about("body", err)
		}
	}
	if err := x.put(target{}, body); err != nil {
		return about("body", err)
	}
	if err := x.fill(toHeaders, "headers.", x.program.headers, nil); err != nil {
		return err
	}
	if len(b.vars) > maxNames {
		return sluice.Errorf(sluice.TooLarge, "too-many-variables", "%d variables were given, at most %d are allowed.", len(b.vars), maxNames)
	}
	for name, v := range b.vars {
		if err := x.put(target{toVars, name}, v); err != nil {
			return about("vars."+name, err)
		}
	}
	return x.fill(toVars, "vars.", x.program.vars, b.vars)
}

// fill sets the fields of a source, except those that are given.
func (x *execution) fill(where place, prefix string, fields []field, given map[string]any) error {
	for i := range fields {
		if _, has := given[fields[i].name]; has {
			continue
		}
		v, err := fields[i].value.eval(&x.scope)
		if err == nil {
			err = x.put(target{where, fields[i].name}, v)
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
