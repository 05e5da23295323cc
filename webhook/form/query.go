package form

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// A Query is the parameters of a URL in their order. Most calls have only the token,
// and a map for it would cost more than parsing the query.
type Query []parameter

type parameter struct{ name, value string }

// maxParameters bounds the work that a query causes.
const maxParameters = 10_000

var errQuery = errors.New("malformed query")

// ParseQuery appends the parameters of a raw query. Unlike url.ParseQuery it
// drops nothing: a malformed parameter is an error.
func ParseQuery(q Query, raw string) (Query, error) {
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		if strings.Contains(pair, ";") || len(q) == maxParameters {
			return q, errQuery
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return q, errQuery
		}
		if value, err = url.QueryUnescape(value); err != nil {
			return q, errQuery
		}
		q = append(q, parameter{name, value})
	}
	return q, nil
}

// all returns every value of a name.
func (q Query) all(name string) (values []string) {
	for _, p := range q {
		if p.name == name {
			values = append(values, p.value)
		}
	}
	return values
}

// First returns the first value of a name, "" if there is none.
func (q Query) First(name string) string {
	for _, p := range q {
		if p.name == name {
			return p.value
		}
	}
	return ""
}

// Without returns the parameters except some names, as events carry them.
func (q Query) Without(names ...string) map[string][]string {
	var rest map[string][]string
	for _, p := range q {
		if slices.Contains(names, p.name) {
			continue
		}
		if rest == nil {
			rest = make(map[string][]string)
		}
		rest[p.name] = append(rest[p.name], p.value)
	}
	return rest
}
