package expression

import (
	"strings"
	"unicode/utf8"

	"sluice/value"
)

// textFunctions has the functions that work on texts.
var textFunctions = []declaration{
	{"trim(text[, characters]): without white space, or these characters, at both ends", "text text?", trim},
	{
		"trimPrefix(text[, prefix]): without that prefix, or without a space",
		"text text?", trimEnd(strings.TrimPrefix),
	},
	{
		"trimSuffix(text[, suffix]): without that suffix, or without a space",
		"text text?", trimEnd(strings.TrimSuffix),
	},
	{"upper(text): in capital letters", "text", changeCase(strings.ToUpper)},
	{"lower(text): in small letters", "text", changeCase(strings.ToLower)},
	{"split(text, separator[, n]): the parts of the text, at most n", "text text whole?", split(strings.SplitN)},
	{
		"splitAfter(text, separator[, n]): the parts with their separators, at most n",
		"text text whole?", split(strings.SplitAfterN),
	},
	{"replace(text, old, new[, n]): with old replaced by new, at most n times", "text text text whole?", replace},
	{"repeat(text, n): the text n times", "text whole", repeat},
	{"join(list[, glue]): the texts of the list as one", "list text?", join},
	{"indexOf(text, part): at which character the part starts first, or -1", "text text", indexOf(strings.Index)},
	{
		"lastIndexOf(text, part): at which character the part starts last, or -1",
		"text text", indexOf(strings.LastIndex),
	},
	{"hasPrefix(text, prefix): whether the text starts with it", "text text", testEnd(strings.HasPrefix)},
	{"hasSuffix(text, suffix): whether the text ends with it", "text text", testEnd(strings.HasSuffix)},
}

func trim(f *frame, args []any) any {
	s := args[0].(string)
	const dear = 4 // times the price of other reads
	f.read(dear * len(s))
	if len(args) == 1 {
		return strings.TrimSpace(s)
	}
	cutset := args[1].(string)
	const longest = 256 // each character of the text may be looked up in it
	if len(cutset) > longest {
		fail("trim takes at most %d bytes of characters", longest)
	}
	f.read(len(s) * max(1, len(cutset)/8))
	return strings.Trim(s, cutset)
}

func trimEnd(cut func(s, end string) string) operation {
	return func(f *frame, args []any) any {
		end := optional(args, 1, " ")
		f.read(len(end))
		return cut(args[0].(string), end)
	}
}

// changeCase also pays for characters that are longer in the other case.
func changeCase(change func(s string) string) operation {
	return func(f *frame, args []any) any {
		s := args[0].(string)
		f.makeText(len(s))
		changed := change(s)
		if len(changed) > value.MaxSize {
			f.makeText(len(changed))
		}
		f.allocate(max(0, len(changed)-len(s)))
		return changed
	}
}

func split(cut func(s, separator string, n int) []string) operation {
	return func(f *frame, args []any) any {
		s, separator, n := args[0].(string), args[1].(string), optional(args, 2, -1)
		count := strings.Count(s, separator) + 1
		if n >= 0 {
			count = min(count, n)
		}
		f.makeItems(count)
		const bytesPerText = 32
		f.allocate(count * bytesPerText)
		f.read(len(s))
		return value.Texts(cut(s, separator, n))
	}
}

func replace(f *frame, args []any) any {
	s, old, replacement, n := args[0].(string), args[1].(string), args[2].(string), optional(args, 3, -1)
	count := strings.Count(s, old)
	if n >= 0 {
		count = min(count, n)
	}
	f.makeText(len(s) + count*max(0, len(replacement)-len(old)))
	f.spend(count/8 + len(s)/bytesPerStep)
	return strings.Replace(s, old, replacement, n)
}

func repeat(f *frame, args []any) any {
	s, n := args[0].(string), args[1].(int)
	if n < 0 {
		fail("repeat needs a number that is not negative")
	}
	if len(s) == 0 {
		return ""
	}
	f.makeText(len(s) * min(n, value.MaxSize+1))
	return strings.Repeat(s, n)
}

func join(f *frame, args []any) any {
	items, glue := args[0].([]any), optional(args, 1, "")
	f.makeItems(len(items))
	length := len(glue) * max(0, len(items)-1)
	parts := make([]string, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok {
			fail("join needs texts, not %s; use map(list, string(#)) first", describe(item))
		}
		length += len(s)
		parts[i] = s
	}
	f.makeText(length)
	return strings.Join(parts, glue)
}

// indexOf counts in characters, as len and [:] do.
func indexOf(index func(s, part string) int) operation {
	return func(f *frame, args []any) any {
		s, part := args[0].(string), args[1].(string)
		f.read(len(s) + len(part))
		at := index(s, part)
		if at > 0 {
			at = utf8.RuneCountInString(s[:at])
		}
		return at
	}
}

// testEnd makes a function from a test on the end of a text.
func testEnd(test func(s, part string) bool) operation {
	return func(f *frame, args []any) any {
		part := args[1].(string)
		f.read(len(part))
		return test(args[0].(string), part)
	}
}
