package expression_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice"
)

func run(t *testing.T, code string) (any, error) {
	t.Helper()
	template, err := language.CompileExpression(code)
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return template.Eval(scope())
}

// values has expressions and what they give.
var values = map[string]any{
	// Members.
	`body.missing`: nil, `body["name"]`: "Ada", `body?.missing?.x.y`: nil, `body.missing?.x`: nil,
	`body?.name`: "Ada", `body.missing?.["x"]`: nil, `body.items[0].price`: 10, `body.items[-1].tag`: "a",
	`headers["content-type"]`: "application/json", `user.name`: "admin", `request.size`: 5,
	`request.list`: []any{"a", "b"}, `body.missing ?? "other"`: "other", `body.name ?? "other"`: "Ada",
	`get(body, "missing")`: nil, `get(body.list, 9)`: nil, `get(nil, "x")`: nil, `get(body.list, -1)`: 2,
	`body.list[1:]`: []any{1, 2}, `body.list[:-1]`: []any{3, 1}, `body.list[5:9]`: []any{}, `body.list[2:1]`: []any{},
	`body.wörter[1]`: "ö", `body.wörter[1:]`: "öü", `body.wörter[-1]`: "ü", `body.name[:99]`: "Ada",
	// Operators.
	`1 + 2`: 3, `1 + 0.5`: 1.5, `"a" + "b"`: "ab", `3 - 5`: -2, `2 * 3`: 6, `7 / 2`: 3.5, `7 % 4`: 3, `-7 % 4`: -3,
	`2 ** 3`: 8.0, `2 ^ 3`: 8.0, `1..3`: []any{1, 2, 3}, `3..1`: []any{}, `-body.n`: -7, `+body.f`: 1.5,
	`1 == 1.0`: true, `1 == "1"`: false, `nil == nil`: true, `[1, {"a": 2}] == [1.0, {"a": 2}]`: true,
	`{"a": 1} == {"b": 1}`: false, `"a" != "b"`: true, `1 < 2 < 3`: true, `"a" < "b"`: true, `2 >= 2`: true,
	`body.large == body.large`: true, `body.large == 1`: false,
	`1 in body.list`: true, `"name" in body`: true, `"x" in nil`: false, `9 not in body.list`: true,
	`"abc" contains "b"`: true, `"abc" startsWith "a"`: true, `"abc" endsWith "b"`: false, `nil contains "a"`: false,
	`"abc" matches "^a.c$"`: true, `nil matches "a"`: false, `"a1" not matches "[0-9]"`: false,
	`not body.yes`: false, `!false && (true or body.nothing.x)`: true, `false and body.nothing.x`: false,
	`body.list[0]?.price ?? body.list[0]`: 3, `body.yes?.a.b`: nil, `null ?? 1`: 1, `null == nil`: true,
	`body.yes ? 1 : 2`: 1, `1; 2; 3`: 3, `[1, "a", nil]`: []any{1, "a", nil}, `{a: 1, "b c": 2, ("d" + "e"): 3}`: map[string]any{"a": 1, "b c": 2, "de": 3},
	// Predicates.
	`all(body.list, # > 0)`: true, `none(body.list, # > 5)`: true, `any(body.list, # > 2)`: true, `one(body.list, # > 2)`: true,
	`all([], false)`: true, `any([], true)`: false,
	`filter(body.items, .tag == "a") | map(.price)`: []any{10, 4}, `map(body.list, #index)`: []any{0, 1, 2},
	`find(body.list, # < 3)`: 1, `findIndex(body.list, # < 3)`: 1, `findLast(body.list, # < 3)`: 2, `findLastIndex(body.list, # == 3)`: 0,
	`find(body.list, # > 9)`: nil, `findIndex([], true)`: nil, `count(body.list, # > 1)`: 2, `count([true, false])`: 1,
	`sum(body.list)`: 6, `sum(body.items, .price)`: 16.5, `sum([])`: 0,
	`groupBy(body.list, # > 1)`:                     map[string]any{"true": []any{3, 2}, "false": []any{1}},
	`sortBy(body.items, .price, "desc")[0].tag`:     "a",
	`sortBy(body.items, .price) | map(.price)`:      []any{2.5, 4, 10},
	`reduce(body.list, #acc * 10 + #)`:              312,
	`reduce(body.list, #acc + #, 100)`:              106,
	`reduce([], #acc + #, nil)`:                     nil,
	`map(body.items, any(body.list, # == 3))`:       []any{true, true, true},
	`map(body.items, ({"p": .price, "i": #index}))`: []any{map[string]any{"p": 10, "i": 0}, map[string]any{"p": 2.5, "i": 1}, map[string]any{"p": 4, "i": 2}},
	`map([[1, 2], [3]], sum(#))`:                    []any{3, 3},
	// Texts.
	`trim("  a ")`: "a", `trim("xax", "x")`: "a", `trimPrefix("abc", "a")`: "bc", `trimSuffix("a ")`: "a",
	`upper("äb")`: "ÄB", `lower("ÄB")`: "äb", `split("a,b,c", ",")`: []any{"a", "b", "c"}, `split("a,b,c", ",", 2)`: []any{"a", "b,c"},
	`splitAfter("a,b", ",")`: []any{"a,", "b"}, `split("äö", "")`: []any{"ä", "ö"}, `replace("aaa", "a", "b")`: "bbb", `replace("aaa", "a", "b", 2)`: "bba",
	`repeat("ab", 2)`: "abab", `repeat("", 99999999999)`: "", `join(["a", "b"], "-")`: "a-b", `join(["a", "b"])`: "ab", `join([])`: "",
	`indexOf("äöü", "ü")`: 2, `indexOf("a", "b")`: -1, `lastIndexOf("aäa", "a")`: 2, `hasPrefix("ab", "a")`: true, `hasSuffix("ab", "a")`: false,
	`string(nil)`: "", `string(1.0)`: "1", `string([1, "a"])`: `[1,"a"]`, `string("a")`: "a", `toJSON("ä<\n")`: `"ä<\n"`,
	`fromJSON('{"a": [1, 2.5, 1e400, 123456789012345678901]}')`: map[string]any{"a": []any{1, 2.5, json.Number("1e400"), json.Number("123456789012345678901")}},
	`toJSON(nil)`: "null", `toBase64("a?")`: "YT8=", `fromBase64("YT8=")`: "a?",
	// Lists and objects.
	`len("äöü")`: 3, `len(body.list)`: 3, `len({})`: 0, `first(body.list)`: 3, `last(body.list)`: 2, `first([])`: nil, `first(nil)`: nil,
	`take(body.list, 2)`: []any{3, 1}, `take(body.list, 9)`: []any{3, 1, 2}, `keys({"b": 1, "a": 2})`: []any{"a", "b"}, `values({"b": 1, "a": 2})`: []any{2, 1},
	`toPairs({"b": 1, "a": 2})`: []any{[]any{"a", 2}, []any{"b", 1}}, `fromPairs([["a", 1]])`: map[string]any{"a": 1}, `reverse(body.list)`: []any{2, 1, 3},
	`uniq([1, 1.0, "1", "a", "a", [1], [1.0], {"a": 1}, {"a": 1}, "[1]", nil, nil])`: []any{1, "1", "a", []any{1}, map[string]any{"a": 1}, "[1]", nil},
	`concat([1], [2, 3], [])`: []any{1, 2, 3}, `flatten([1, [2, [3, []]]])`: []any{1, 2, 3}, `sort([2, 1.5, 3])`: []any{1.5, 2, 3}, `sort(["b", "a"], "desc")`: []any{"b", "a"},
	`map([nil, true, 1, 1.5, "", [], {}, now(), duration("1s"), body.large], type(#))`: []any{"nil", "bool", "int", "float", "string", "array", "map", "time", "duration", "number"},
	// Numbers.
	`abs(-3)`: 3, `abs(-1.5)`: 1.5, `ceil(1.2)`: 2.0, `floor(1.8)`: 1.0, `round(2)`: 2.0, `int("12")`: 12, `int(1.9)`: 1, `float("1.5")`: 1.5, `float(1)`: 1.0,
	`max(1, [2, [3.5]])`: 3.5, `min(body.list)`: 1, `max([])`: nil, `mean([1, 2])`: 1.5, `mean([])`: 0.0, `median([3, 1, 2])`: 2.0, `median(1, 2)`: 1.5,
	`bitand(6, 3)`: 2, `bitor(6, 3)`: 7, `bitxor(6, 3)`: 5, `bitnand(6, 3)`: 4, `bitnot(0)`: -1, `bitshl(1, 4)`: 16, `bitshl(1, 99)`: 0, `bitshr(-16, 2)`: -4, `bitushr(-1, 63)`: 1,
	// Times.
	`date("2026-01-02")`: "2026-01-02T00:00:00Z", `date("2026-01-02T03:04:05+01:00")`: "2026-01-02T03:04:05+01:00",
	`date("02.01.2026", "02.01.2006")`: "2026-01-02T00:00:00Z", `date("2026-01-02") + duration("36h")`: "2026-01-03T12:00:00Z",
	`date("2026-01-03") - date("2026-01-02")`: "24h0m0s", `date("2026-01-02") < now()`: true, `now() - duration("1h") < now()`: true,
	`[duration("90s"), {"a": date("2026-01-02")}]`: []any{"1m30s", map[string]any{"a": "2026-01-02T00:00:00Z"}},
	`toJSON([duration("90s")])`:                    `["1m30s"]`, `"" + string(duration("90s"))`: "1m30s",
	// Functions.
	`convert.fromBase64("x")`: "x", `convert.fromBase64(duration("1s"))`: "1s", `convert.toNumbers()`: []any{1, 2}, `deep.er.count(1, 2)`: 2, `secret("key")`: "s3cret",
}

func TestValues(t *testing.T) {
	for code, want := range values {
		got, err := run(t, code)
		if err != nil {
			t.Errorf("%s: %v", code, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", code, diff)
		}
	}
}

func TestFailures(t *testing.T) {
	for code, want := range map[string]string{
		`body.nothing.x`:                "body.nothing is null",
		`body.missing.x.y`:              "body.missing is null",
		`body.items[0].tag.x`:           "body.items[0].tag is text and has no members",
		`{"a": "{}"}.a.b`:               "a part of it is text and has no members; if it is JSON, convert.fromJson reads it",
		`body.n.x`:                      "body.n is a number and has no members",
		`body.list.x`:                   "body.list is a list, whose items have numbers, not text",
		`body[1]`:                       "body is an object, whose members have texts as names, not a number",
		`body.list[7]`:                  "body.list has 3 items and none at that place",
		`body.name["Len"]`:              "body.name is text and has no members",
		`now().Year`:                    "a part of it is a time and has no members",
		`1 + "a"`:                       "+ needs two numbers, two texts (string(x) makes one), or times and durations, not a number and text",
		`body.large + 1`:                "+ needs two numbers, two texts (string(x) makes one), or times and durations, not a number too large to compute with and a number",
		`body.large > 1`:                "> needs two numbers, texts, times or durations, not a number too large to compute with and a number",
		`9223372036854775807 + 1`:       "a number becomes too large",
		`-9223372036854775807 - 2`:      "a number becomes too large",
		`9223372036854775807 * 2`:       "a number becomes too large",
		`-(-9223372036854775807 - 1)`:   "a number becomes too large",
		`abs(-9223372036854775807 - 1)`: "a number becomes too large",
		`int(1e300)`:                    "a number becomes too large",
		`1e308 * 10`:                    "a number becomes too large",
		`10 ** 400`:                     "a number becomes too large",
		`(-8) ** 0.5`:                   "a number becomes too large",
		`1 / 0`:                         "it divides by zero",
		`1 % 0`:                         "it divides by zero",
		`body.n && true`:                "body.n is a number, not true or false",
		`body.nothing ? 1 : 2`:          "body.nothing is null, not true or false",
		`not body.name`:                 "body.name is text, not true or false",
		`filter(body.nothing, true)`:    "filter needs a list; body.nothing is null",
		`filter(body.list, #)`:          "filter needs true or false for each item, not a number",
		`map(body.items, .price.x)`:     "#.price is a number and has no members",
		`reduce([], #)`:                 "reduce needs a start value for an empty list",
		`sort([1, "a"])`:                "text and a number have no order",
		`sort([1], "up")`:               `the order is "asc" or "desc"`,
		`upper(nil)`:                    "upper needs text, not null",
		`repeat("a", 1.5)`:              "repeat needs a whole number, not a number",
		`join([1])`:                     "join needs texts, not a number; use map(list, string(#)) first",
		`fromJSON("{")`:                 "the text is not JSON",
		`fromJSON("1 2")`:               "the text is not JSON",
		`fromBase64("/w==")`:            "the base64 holds bytes that are no text in UTF-8",
		`float("NaN")`:                  "the text is not a number",
		`int(secret("key"))`:            "the text is not a whole number",
		`"a" in "abc"`:                  "in needs a value and a list, or text and an object, not text and text",
		`1 in body`:                     "in needs a value and a list, or text and an object, not a number and an object",
		`{(1): 2}`:                      "the names in an object are texts, not a number",
		`date("x")`:                     "the text is not a time in the layout of date",
		`date("2026-01-02", "2006-01-02", "../../etc/passwd")`: "date knows no such time zone; use a name such as Europe/Zurich",
		`duration("x")`:   "the text is not a duration such as 1h30m",
		`secret("other")`: "secret: There is no secret other",
		`test.fail()`:     "test.fail failed",
		`test.refuse()`:   "test.refuse: Try again later",
		`test.panic()`:    "it can't be computed",
		`test.struct()`:   "there is a value of an unknown type",
	} {
		_, err := run(t, code)
		failure := sluice.AsError(err)
		if err == nil || failure.Code != "expression-failed" {
			t.Errorf("%s: got %v", code, err)
			continue
		}
		snippet := code
		if runes := []rune(code); len(runes) > 60 {
			snippet = string(runes[:59]) + "…"
		}
		if full := "The expression " + snippet + " failed: " + want + "."; failure.Message != full {
			t.Errorf("%s: got %q, want %q", code, failure.Message, full)
		}
		if wantKind := map[string]sluice.Kind{`test.refuse()`: sluice.Unavailable}[code]; wantKind == "" && failure.Kind != sluice.Invalid || wantKind != "" && failure.Kind != wantKind {
			t.Errorf("%s: kind is %v", code, failure.Kind)
		}
	}
}

func TestFailuresAreOneShortLine(t *testing.T) {
	_, err := run(t, "body.nothing.x\n\t+ \"\u202e"+strings.Repeat("long ", 100)+"\"")
	message := sluice.AsError(err).Message
	if strings.ContainsAny(message, "\n\t\u202e") || len(message) > 200 {
		t.Errorf("got %q", message)
	}
}
