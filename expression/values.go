package expression

import (
	"cmp"
	"encoding/json"
	"errors"
	"math/bits"
	"slices"
	"time"

	"sluice/value"
)

// describe names the type of a value that expressions work on.
func describe(v any) string {
	switch v.(type) {
	case json.Number:
		return "a number too large to compute with"
	case time.Time:
		return "a time"
	case time.Duration:
		return "a duration"
	}
	return value.Describe(v)
}

// plain converts a value that leaves the expression to JSON types, within the limits of
// values.
func (f *frame) plain(v any) (any, error) {
	v, _, err := f.weighed(v)
	return v, err
}

// last returns the value of a whole template, after the last report to Scope.Memory.
func (f *frame) last(v any) (any, error) {
	v, err := f.plain(v)
	if err == nil {
		err = f.tell()
	}
	return v, err
}

// weighed is plain with the weight of the value. It copies only values that have times or
// durations in them.
func (f *frame) weighed(v any) (plain any, weight value.Scale, err error) {
	if err = weight.Add(v); errors.Is(err, value.ErrForeign) {
		if v, err = f.converted(v, 0); err == nil {
			weight = value.Scale{}
			err = weight.Add(v)
		}
	}
	if err == nil {
		err = f.spend(weight.Items)
	}
	return v, weight, err
}

// converted returns a copy of a value in which times and durations are text.
func (f *frame) converted(v any, depth int) (any, error) {
	if depth > value.MaxDepth {
		return nil, value.TooDeep()
	}
	switch v := v.(type) {
	case nil, bool, int, string, json.Number:
		return v, nil
	case float64:
		return finite(v)
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case time.Duration:
		return v.String(), nil
	case []any:
		if err := f.makeItems(len(v)); err != nil {
			return nil, err
		}
		list := make([]any, len(v))
		for i, item := range v {
			var err error
			if list[i], err = f.converted(item, depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		if err := f.makeObject(len(v)); err != nil {
			return nil, err
		}
		object := make(map[string]any, len(v))
		for name, field := range v {
			var err error
			if object[name], err = f.converted(field, depth+1); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return nil, fail("there is %s", describe(v))
}

// text returns a value as part of a text: a text as it is, null as nothing, anything else
// as compact JSON.
func (f *frame) text(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case time.Duration:
		return v.String(), nil
	}
	return f.json(v)
}

// json returns a value as compact JSON with its keys in order.
func (f *frame) json(v any) (string, error) {
	v, weight, err := f.weighed(v)
	if err != nil {
		return "", err
	}
	if err := f.spend(weight.Comparisons); err != nil {
		return "", err
	}
	if f.buffer, err = value.AppendJSON(f.buffer[:0], v, value.MaxSize); err != nil {
		return "", err
	}
	if err := f.makeText(len(f.buffer)); err != nil {
		return "", err
	}
	return string(f.buffer), nil
}

// sortedKeys returns the keys of an object in order.
func (f *frame) sortedKeys(object map[string]any) ([]string, error) {
	const bytesPerKey = 16
	if err := cmp.Or(f.allocate(bytesPerKey*len(object)), f.spend(len(object)*(1+logarithm(len(object))))); err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(object))
	bytes := 0
	for key := range object {
		keys = append(keys, key)
		bytes += len(key)
	}
	slices.Sort(keys)
	return keys, f.read(bytes)
}

// logarithm returns how often n can be halved.
func logarithm(n int) int { return max(0, bits.Len(uint(n))-1) }

// fromJSON reads a text as one JSON value.
func (f *frame) fromJSON(text string) (any, error) {
	_, values := value.Inspect(text)
	const bytesPerValue = 300 // the worst case: an object of one member
	if err := cmp.Or(f.makeItems(values-1), f.allocate((values-1)*bytesPerValue)); err != nil {
		return nil, err
	}
	const bytesPerDecoder = 1 << 10
	if err := f.makeText(len(text) + bytesPerDecoder); err != nil {
		return nil, err
	}
	decoded, err := value.Decode(text)
	if _, refused := errors.AsType[*value.Error](err); err != nil && !refused {
		return nil, fail("the text is not JSON")
	}
	return decoded, err
}

// timeFunctions has the functions that work on times. Times and durations can be compared,
// added and subtracted; they leave the expression as text.
var timeFunctions = map[string]function{
	"now":      {usage: "now(): the time, in UTC", run: now},
	"date":     {usage: "date(text[, layout[, zone]]): the time in the text; the layout is written as 2006-01-02 15:04:05", kinds: threeTexts, needed: 1, run: date},
	"duration": {usage: "duration(text): such as 1h30m", kinds: oneText, run: duration},
}

const longestTime = 100 // bytes of any text about a time

func now(*frame, []any) (any, error) { return time.Now().UTC().Round(0), nil }

var layouts = []string{time.DateOnly, time.TimeOnly, time.DateTime, time.RFC3339, time.RFC822, time.RFC850, time.RFC1123}

func date(f *frame, args []any) (any, error) {
	if err := shortTexts(f, args); err != nil {
		return nil, err
	}
	s, tried, zone := args[0].(string), layouts, time.UTC
	if len(args) > 1 {
		tried = []string{args[1].(string)}
	}
	if len(args) > 2 {
		// The zone comes from a file.
		if err := f.spend(stepsPerCall); err != nil {
			return nil, err
		}
		found, err := time.LoadLocation(args[2].(string))
		if err != nil {
			return nil, fail("date knows no such time zone; use a name such as Europe/Zurich")
		}
		zone = found
	}
	for _, layout := range tried {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return sensible(t)
		}
	}
	return nil, fail("the text is not a time in the layout of date")
}

func duration(f *frame, args []any) (any, error) {
	if err := shortTexts(f, args); err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(args[0].(string))
	if err != nil {
		return nil, fail("the text is not a duration such as 1h30m")
	}
	return d, nil
}

func shortTexts(f *frame, args []any) error {
	for _, arg := range args {
		if len(arg.(string)) > longestTime {
			return fail("a text about a time has at most %d bytes", longestTime)
		}
	}
	const stepsPerParse = 20
	return f.spend(stepsPerParse)
}

// later moves a time.
func later(t time.Time, by time.Duration) (any, error) { return sensible(t.Add(by)) }

// sensible rejects years that don't have four digits.
func sensible(t time.Time) (any, error) {
	if y := t.Year(); y < 0 || y > 9999 {
		return nil, fail("a time lies outside of the years 0 to 9999")
	}
	return t, nil
}
