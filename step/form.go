package step

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice"
	"sluice/value"
)

// fromForm reads the body of a form, or a query, as an object. A repeated field becomes a
// list.
func fromForm(input any) (any, error) {
	text, err := textIn(input, value.MaxSize, "a form", "=")
	if err != nil {
		return nil, err
	}
	if strings.Count(text, "&") >= value.MaxItems {
		return nil, value.TooManyItems()
	}
	fields := map[string]any{}
	at := 0
	for pair := range strings.SplitSeq(text, "&") {
		if pair != "" {
			name, content, _ := strings.Cut(pair, "=")
			if name, err = unescapeForm(name, at); err != nil {
				return nil, err
			}
			if content, err = unescapeForm(content, at); err != nil {
				return nil, err
			}
			addField(fields, name, content)
		}
		at += len(pair) + 1
	}
	return fields, weigh(fields)
}

// addField adds a value to a field: the second one turns it into a list.
func addField(fields map[string]any, name string, added any) {
	switch before := fields[name].(type) {
	case nil:
		fields[name] = added
	case []any:
		fields[name] = append(before, added)
	default:
		fields[name] = []any{before, added}
	}
}

// unescapeForm decodes a name or value. The offset is for messages.
func unescapeForm(text string, offset int) (string, error) {
	plain, err := url.QueryUnescape(text)
	if err != nil {
		return "", sluice.CodeFormInvalid.Errorf(
			"This is not a form: behind character %d a %% is not followed by two hexadecimal digits.", offset)
	}
	if !utf8.ValidString(plain) {
		return "", sluice.CodeFormInvalid.Errorf(
			"This form can't be read: behind character %d it has bytes that are not UTF-8.", offset)
	}
	return plain, nil
}

// toForm writes an object as the body of a form.
func toForm(input any) (any, error) {
	object, ok := input.(map[string]any)
	if !ok {
		return nil, invalid("input", "must be an object, not %s", value.Describe(input))
	}
	var form strings.Builder
	err := eachField(object, func(name, text string) error {
		if form.Len() > 0 {
			form.WriteByte('&')
		}
		form.WriteString(url.QueryEscape(name) + "=" + url.QueryEscape(text))
		if form.Len() > value.MaxSize {
			return value.TooLarge(value.MaxSize)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return form.String(), nil
}

// eachField visits the fields of an object as those of a form, in the order of their
// names. A list becomes a repeated field.
func eachField(object map[string]any, visit func(name, text string) error) error {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		items, isList := object[name].([]any)
		if !isList {
			items = []any{object[name]}
		}
		for _, item := range items {
			text, err := cellOf(item)
			if err != nil {
				return err
			}
			if err := visit(name, text); err != nil {
				return err
			}
		}
	}
	return nil
}
