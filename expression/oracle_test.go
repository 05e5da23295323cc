package expression_test

import (
	"fmt"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/expr-lang/expr"
	"github.com/google/go-cmp/cmp"
)

// differences has the expressions whose value is another one here than in
// expr-lang, with the reason.
var differences = map[string]string{
	`body.wörter[1]`:                      "a text has characters, not bytes",
	`body.wörter[1:]`:                     "a text has characters, not bytes",
	`body.wörter[-1]`:                     "a text has characters, not bytes",
	`indexOf("äöü", "ü")`:                 "a text has characters, not bytes",
	`lastIndexOf("aäa", "a")`:             "a text has characters, not bytes",
	`body.list[0]?.price ?? body.list[0]`: "?. asks for a member that may not be there, whatever the value is",
	`body.yes?.a.b`:                       "?. asks for a member that may not be there, whatever the value is",
	`string(nil)`:                         "string gives the form within text",
	`string([1, "a"])`:                    "string gives the form within text",
	`toJSON("ä<\n")`:                      "JSON is not for HTML",
	`toJSON([duration("90s")])`:           "JSON is compact, and durations are text",
	`repeat("", 99999999999)`:             "nothing, many times, is nothing",
	`fromJSON('{"a": [1, 2.5, 1e400, 123456789012345678901]}')`:                        "numbers too large are kept",
	`map([nil, true, 1, 1.5, "", [], {}, now(), duration("1s"), body.large], type(#))`: "types have no Go names",
}

// only has what only we have: functions of a caller, and an order of members.
var only = regexp.MustCompile(`^(convert|deep|secret|keys|values|toPairs)\b`)

// What expr-lang's own machine gives is what people will find in its
// documentation: where ours gives something else, it is on purpose.
func TestValuesAreThoseOfExprLang(t *testing.T) {
	s := scope()
	env := map[string]any{"body": s.Body, "vars": s.Vars, "headers": s.Headers, "request": s.Request, "user": s.User}
	for code, want := range values {
		if only.MatchString(code) {
			continue
		}
		theirs, err := expr.Eval(code, env)
		diff := cmp.Diff(want, plain(reflect.ValueOf(theirs)))
		if err != nil {
			diff = err.Error()
		}
		reason, expected := differences[code]
		if diff != "" && !expected {
			t.Errorf("%s: %s", code, diff)
		}
		if diff == "" && expected {
			t.Errorf("%s: no difference, although %s", code, reason)
		}
	}
	for code := range differences {
		if _, ok := values[code]; !ok {
			t.Errorf("%s is not in the table of values", code)
		}
	}
}

// plain turns the Go types that expr-lang uses into JSON's.
func plain(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	switch typed := v.Interface().(type) {
	case time.Time:
		return typed.Format(time.RFC3339Nano)
	case time.Duration:
		return typed.String()
	}
	switch v.Kind() {
	case reflect.Interface:
		return plain(v.Elem())
	case reflect.Int64:
		return int(v.Int())
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i))
		}
		return list
	case reflect.Map:
		object := make(map[string]any, v.Len())
		for key, value := range v.Seq2() {
			object[fmt.Sprint(key.Interface())] = plain(value)
		}
		return object
	}
	return v.Interface()
}
