package expression

import (
	"cmp"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"sluice/value"
)

var (
	oneText    = []kind{textKind}
	twoTexts   = []kind{textKind, textKind}
	threeTexts = []kind{textKind, textKind, textKind}
)

// textFunctions has the functions that work on texts.
var textFunctions = map[string]function{
	"trim":        {usage: "trim(text[, characters]): without white space, or these characters, at both ends", kinds: twoTexts, needed: 1, run: trim},
	"trimPrefix":  {usage: "trimPrefix(text[, prefix]): without that prefix, or without a space", kinds: twoTexts, needed: 1, run: trimEnd(strings.TrimPrefix)},
	"trimSuffix":  {usage: "trimSuffix(text[, suffix]): without that suffix, or without a space", kinds: twoTexts, needed: 1, run: trimEnd(strings.TrimSuffix)},
	"upper":       {usage: "upper(text): in capital letters", kinds: oneText, run: changeCase(strings.ToUpper)},
	"lower":       {usage: "lower(text): in small letters", kinds: oneText, run: changeCase(strings.ToLower)},
	"split":       {usage: "split(text, separator[, n]): the parts of the text, at most n", kinds: []kind{textKind, textKind, integerKind}, needed: 2, run: split(strings.SplitN)},
	"splitAfter":  {usage: "splitAfter(text, separator[, n]): the parts with their separators, at most n", kinds: []kind{textKind, textKind, integerKind}, needed: 2, run: split(strings.SplitAfterN)},
	"replace":     {usage: "replace(text, old, new[, n]): with old replaced by new, at most n times", kinds: append(threeTexts[:3:3], integerKind), needed: 3, run: replace},
	"repeat":      {usage: "repeat(text, n): the text n times", kinds: []kind{textKind, integerKind}, run: repeat},
	"join":        {usage: "join(list[, glue]): the texts of the list as one", kinds: []kind{listKind, textKind}, needed: 1, run: join},
	"indexOf":     {usage: "indexOf(text, part): at which character the part starts first, or -1", kinds: twoTexts, run: indexOf(strings.Index)},
	"lastIndexOf": {usage: "lastIndexOf(text, part): at which character the part starts last, or -1", kinds: twoTexts, run: indexOf(strings.LastIndex)},
	"hasPrefix":   {usage: "hasPrefix(text, prefix): whether the text starts with it", kinds: twoTexts, run: has(strings.HasPrefix)},
	"hasSuffix":   {usage: "hasSuffix(text, suffix): whether the text ends with it", kinds: twoTexts, run: has(strings.HasSuffix)},
	"string":      {usage: "string(value): its form within text: null as nothing, lists and objects as JSON", kinds: []kind{anyKind}, run: toText},
	"toJSON":      {usage: "toJSON(value): the value as compact JSON", kinds: []kind{anyKind}, run: toJSON},
	"fromJSON":    {usage: "fromJSON(text): the value that the JSON stands for", kinds: oneText, run: fromJSON},
	"toBase64":    {usage: "toBase64(text): the text in base64", kinds: oneText, run: toBase64},
	"fromBase64":  {usage: "fromBase64(text): the text that the base64 stands for", kinds: oneText, run: fromBase64},
}

func trim(f *frame, args []any) (any, error) {
	s := args[0].(string)
	const dear = 4 // times the price of other reads
	if err := f.read(dear * len(s)); err != nil {
		return nil, err
	}
	if len(args) == 1 {
		return strings.TrimSpace(s), nil
	}
	cutset := args[1].(string)
	const longest = 256 // each character of the text may be looked up in it
	if len(cutset) > longest {
		return nil, fail("trim takes at most %d bytes of characters", longest)
	}
	if err := f.read(len(s) * max(1, len(cutset)/8)); err != nil {
		return nil, err
	}
	return strings.Trim(s, cutset), nil
}

func trimEnd(cut func(s, end string) string) func(f *frame, args []any) (any, error) {
	return func(f *frame, args []any) (any, error) {
		end := " "
		if len(args) == 2 {
			end = args[1].(string)
		}
		return cut(args[0].(string), end), f.read(len(end))
	}
}

// changeCase also pays for characters that are longer in the other case.
func changeCase(change func(s string) string) func(f *frame, args []any) (any, error) {
	return func(f *frame, args []any) (any, error) {
		s := args[0].(string)
		if err := f.makeText(len(s)); err != nil {
			return nil, err
		}
		changed := change(s)
		if len(changed) > value.MaxSize {
			return nil, f.makeText(len(changed))
		}
		return changed, f.allocate(max(0, len(changed)-len(s)))
	}
}

func split(cut func(s, separator string, n int) []string) func(f *frame, args []any) (any, error) {
	return func(f *frame, args []any) (any, error) {
		s, separator, n := args[0].(string), args[1].(string), -1
		if len(args) == 3 {
			n = args[2].(int)
		}
		count := strings.Count(s, separator) + 1
		if n >= 0 {
			count = min(count, n)
		}
		if err := f.makeItems(count); err != nil {
			return nil, err
		}
		const bytesPerText = 32
		if err := cmp.Or(f.allocate(count*bytesPerText), f.read(len(s))); err != nil {
			return nil, err
		}
		parts := cut(s, separator, n)
		list := make([]any, len(parts))
		for i, part := range parts {
			list[i] = part
		}
		return list, nil
	}
}

func replace(f *frame, args []any) (any, error) {
	s, old, replacement, n := args[0].(string), args[1].(string), args[2].(string), -1
	if len(args) == 4 {
		n = args[3].(int)
	}
	count := strings.Count(s, old)
	if n >= 0 {
		count = min(count, n)
	}
	if err := cmp.Or(f.makeText(len(s)+count*max(0, len(replacement)-len(old))), f.spend(count/8+len(s)/bytesPerStep)); err != nil {
		return nil, err
	}
	return strings.Replace(s, old, replacement, n), nil
}

func repeat(f *frame, args []any) (any, error) {
	s, n := args[0].(string), args[1].(int)
	if n < 0 {
		return nil, fail("repeat needs a number that is not negative")
	}
	if len(s) == 0 || n == 0 {
		return "", nil
	}
	if n > value.MaxSize {
		return nil, f.makeText(n)
	}
	if err := f.makeText(len(s) * n); err != nil {
		return nil, err
	}
	return strings.Repeat(s, n), nil
}

func join(f *frame, args []any) (any, error) {
	items, glue := args[0].([]any), ""
	if len(args) == 2 {
		glue = args[1].(string)
	}
	if err := f.makeItems(len(items)); err != nil {
		return nil, err
	}
	length := len(glue) * max(0, len(items)-1)
	parts := make([]string, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok {
			return nil, fail("join needs texts, not %s; use map(list, string(#)) first", describe(item))
		}
		length += len(s)
		parts[i] = s
	}
	if err := f.makeText(length); err != nil {
		return nil, err
	}
	return strings.Join(parts, glue), nil
}

// indexOf counts in characters, as len and [:] do.
func indexOf(index func(s, part string) int) func(f *frame, args []any) (any, error) {
	return func(f *frame, args []any) (any, error) {
		s, part := args[0].(string), args[1].(string)
		at := index(s, part)
		if at > 0 {
			at = utf8.RuneCountInString(s[:at])
		}
		return at, f.read(len(s) + len(part))
	}
}

func has(test func(s, part string) bool) func(f *frame, args []any) (any, error) {
	return func(f *frame, args []any) (any, error) {
		part := args[1].(string)
		return test(args[0].(string), part), f.read(len(part))
	}
}

func toText(f *frame, args []any) (any, error) { return f.text(args[0]) }

func toJSON(f *frame, args []any) (any, error) { return f.json(args[0]) }

func fromJSON(f *frame, args []any) (any, error) { return f.fromJSON(args[0].(string)) }

func toBase64(f *frame, args []any) (any, error) {
	s := args[0].(string)
	if err := f.makeText(base64.StdEncoding.EncodedLen(len(s))); err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString([]byte(s)), nil
}

func fromBase64(f *frame, args []any) (any, error) {
	s := args[0].(string)
	if err := f.makeText(base64.StdEncoding.DecodedLen(len(s))); err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, fail("the text is not base64")
	}
	if !utf8.Valid(b) {
		return nil, fail("the base64 holds bytes that are no text in UTF-8")
	}
	return string(b), nil
}
