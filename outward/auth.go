package outward

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice"
)

// certificate is the kind of credential that may stand beside another one.
const certificate = "certificate"

// kinds has the fields of each kind of credential; one with a * must be given. Those without
// fields are the name of a secret.
var kinds = map[string][]string{
	"basic": nil, "bearer": nil, certificate: nil,
	"oauth2": {"url*", "client*", "scope", "audience", "style"},
	"aws":    {"key*", "service*", "region*"},
	"google": {"key*", "scope", "audience"},
}

// An Auth says which credentials calls carry, by the names of secrets.
type Auth struct {
	kind        string // "" if there is only a certificate
	secret      string // its name
	certificate string // the name of another one; "" if there is none
	fields      map[string]string
}

// ReadAuth reads an Auth as the author of a pipeline writes it. An error says what is wrong with it.
func ReadAuth(given map[string]any) (a Auth, err error) {
	for _, kind := range slices.Sorted(maps.Keys(given)) {
		fields, known := kinds[kind]
		name, isText := given[kind].(string)
		switch {
		case !known:
			return a, fmt.Errorf("has %s, which is none of %s", sluice.Quote(kind),
				strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
		case kind != certificate && a.kind != "":
			return a, fmt.Errorf("must not have both %s and %s", a.kind, kind)
		case fields != nil:
			if a.fields, err = readFields(kind, fields, given[kind]); err != nil {
				return a, err
			}
			name = a.fields["client"] + a.fields["key"]
		case !isText || name == "":
			return a, fmt.Errorf("must have the name of a secret for %s", kind)
		}
		if kind == certificate {
			a.certificate = name
		} else {
			a.kind, a.secret = kind, name
		}
	}
	if len(given) == 0 {
		return a, errors.New("must say by what, such as {bearer: name of a secret}")
	}
	return a, nil
}

// readFields reads what a kind of credential needs to know.
func readFields(kind string, known []string, given any) (map[string]string, error) {
	object, _ := given.(map[string]any)
	fields := make(map[string]string, len(object))
	for name, field := range object {
		text, isText := field.(string)
		if !isText || !slices.Contains(known, name) && !slices.Contains(known, name+"*") {
			return nil, fmt.Errorf("must have for %s texts of the names %s, not %s", kind,
				strings.ReplaceAll(strings.Join(known, ", "), "*", ""), sluice.Quote(name))
		}
		fields[name] = text
	}
	for _, name := range known {
		if name, needed := strings.CutSuffix(name, "*"); needed && fields[name] == "" {
			return nil, fmt.Errorf("must have %s for %s", name, kind)
		}
	}
	switch kind {
	case "oauth2":
		if why := faultOf(fields["url"]); why != "" {
			return nil, fmt.Errorf("has a url for oauth2 that %s", why)
		}
		if style := fields["style"]; style != "" && style != "header" && style != "body" {
			return nil, errors.New("must have header or body as the style of oauth2")
		}
	case "google":
		if (fields["scope"] == "") == (fields["audience"] == "") {
			return nil, errors.New("must have either scope or audience for google")
		}
	}
	return fields, nil
}

// Secrets returns the names of the secrets that are needed.
func (a Auth) Secrets() []string {
	return slices.DeleteFunc([]string{a.secret, a.certificate}, func(name string) bool { return name == "" })
}

// InHeader reports whether calls carry an Authorization header.
func (a Auth) InHeader() bool { return a.kind != "" }
