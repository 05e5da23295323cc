package step_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice"
	"sluice/step"
	"sluice/value"
)

type object = map[string]any

type list = []any

func TestConversions(t *testing.T) {
	tests := map[string]struct {
		command string
		args    args
		want    any
	}{
		"base64":                      {"convert.fromBase64", args{"input": "aMOkbGxv"}, "hällo"},
		"base64, padded":              {"convert.fromBase64", args{"input": "YQ=="}, "a"},
		"base64, not padded":          {"convert.fromBase64", args{"input": "YQ"}, "a"},
		"base64, URL alphabet":        {"convert.fromBase64", args{"input": "Pz8_Pj4-"}, "???>>>"},
		"base64, standard alphabet":   {"convert.fromBase64", args{"input": "Pz8/Pj4+"}, "???>>>"},
		"base64 in lines":             {"convert.fromBase64", args{"input": "aGVs\r\nbG8\n=\n"}, "hello"},
		"base64 of nothing":           {"convert.fromBase64", args{"input": ""}, ""},
		"to base64":                   {"convert.toBase64", args{"input": "hällo"}, "aMOkbGxv"},
		"to base64, of an object":     {"convert.toBase64", args{"input": object{"a": 1}}, "eyJhIjoxfQ=="},
		"to base64, of null":          {"convert.toBase64", nil, "bnVsbA=="},
		"JSON":                        {"convert.fromJson", args{"input": `{"a":[1,2.5,"x",null,true]}`}, object{"a": list{1, 2.5, "x", nil, true}}},
		"JSON keeps large numbers":    {"convert.fromJson", args{"input": "12345678901234567890123"}, json.Number("12345678901234567890123")},
		"JSON, brackets in text":      {"convert.fromJson", args{"input": `"` + strings.Repeat(`[,\"`, 200) + `"`}, strings.Repeat(`[,"`, 200)},
		"to JSON":                     {"convert.toJson", args{"input": object{"b": "<&>", "a": list{nil, 1.5}}}, `{"a":[null,1.5],"b":"<&>"}`},
		"to JSON, of text":            {"convert.toJson", args{"input": "a\nb"}, `"a\nb"`},
		"YAML":                        {"convert.fromYaml", args{"input": "a: [1, 2.5, x, ~, true]\nb:\n  c: |\n    text\n"}, object{"a": list{1, 2.5, "x", nil, true}, "b": object{"c": "text\n"}}},
		"YAML, nothing":               {"convert.fromYaml", args{"input": "# only this\n"}, nil},
		"YAML, times stay text":       {"convert.fromYaml", args{"input": "[2026-01-02, 2026-01-02T03:04:05Z]"}, list{"2026-01-02", "2026-01-02T03:04:05Z"}},
		"YAML, keys become text":      {"convert.fromYaml", args{"input": "{1: a, true: b, 2026-01-02: c, on: d}"}, object{"1": "a", "true": "b", "2026-01-02": "c", "on": "d"}},
		"YAML, numbers":               {"convert.fromYaml", args{"input": "[0x10, 0o17, 1_000, 18446744073709551615, 12345678901234567890123, -0.5, +3]"}, list{16, 15, 1000, json.Number("18446744073709551615"), json.Number("12345678901234567890123"), -0.5, 3}},
		"YAML, postal codes":          {"convert.fromYaml", args{"input": "[01234, 0]"}, list{"01234", 0}},
		"YAML, a tag for text":        {"convert.fromYaml", args{"input": "!!str 12"}, "12"},
		"YAML, a merge key in quotes": {"convert.fromYaml", args{"input": `{"<<": 1, a: <<}`}, object{"<<": 1, "a": "<<"}},
		"YAML, an anchor nobody uses": {"convert.fromYaml", args{"input": "a: &x 1"}, object{"a": 1}},
		"to YAML":                     {"convert.toYaml", args{"input": object{"b": list{1, "2", nil}, "a": object{"c": true}}}, "a:\n  c: true\nb:\n  - 1\n  - \"2\"\n  - null\n"},
		"to YAML, large numbers":      {"convert.toYaml", args{"input": list{json.Number("12345678901234567890123"), json.Number("18446744073709551615")}}, "- 12345678901234567890123\n- 18446744073709551615\n"},
		"to YAML, a key like a merge": {"convert.toYaml", args{"input": object{"<<": 1, "a": "<<"}}, "a: <<\n\"<<\": 1\n"},
		"to YAML, a tab first":        {"convert.toYaml", args{"input": object{"\ta\nb": "\tc\n", "d": "e\n\tf\n"}}, "d: |\n  e\n  \tf\n? \"\\ta\\nb\"\n: \"\\tc\\n\"\n"},
		"to YAML, text like a time":   {"convert.toYaml", args{"input": "2026-01-02"}, "\"2026-01-02\"\n"},
		"CSV":                         {"convert.fromCsv", args{"input": "\ufeffname,age\r\nAda,36\r\n\"O\"\"Hara, B\",=1+1\r\n"}, list{object{"name": "Ada", "age": "36"}, object{"name": `O"Hara, B`, "age": "=1+1"}}},
		"CSV without a header":        {"convert.fromCsv", args{"input": "a,b\n1\n", "header": false}, list{list{"a", "b"}, list{"1"}}},
		"CSV with a delimiter":        {"convert.fromCsv", args{"input": "a;b\n1;2", "delimiter": ";"}, list{object{"a": "1", "b": "2"}}},
		"CSV, a header alone":         {"convert.fromCsv", args{"input": "a,b\n"}, list{}},
		"CSV, nothing":                {"convert.fromCsv", args{"input": ""}, list{}},
		"to CSV":                      {"convert.toCsv", args{"input": list{object{"b": 1, "a": "x,y"}, object{"c": list{1}, "a": "-2"}}}, "a,b,c\n\"x,y\",1,\n-2,,[1]\n"},
		"to CSV, some columns":        {"convert.toCsv", args{"input": list{object{"b": 1, "a": true}}, "columns": list{"b", "d"}}, "b,d\n1,\n"},
		"to CSV, no header":           {"convert.toCsv", args{"input": list{object{"b": 1, "a": nil}}, "header": false, "delimiter": "\t"}, "\t1\n"},
		"to CSV, of lists":            {"convert.toCsv", args{"input": list{list{"a", 1}, list{"@b"}}}, "a,1\n@b\n"},
		"to CSV, an empty cell alone": {"convert.toCsv", args{"input": list{object{"a": ""}, object{"a": "x"}}}, "a\n\"\"\nx\n"},
		"to CSV, safe": {"convert.toCsv", args{"safe": true, "input": list{object{"=a": "=1+1", "b": "+1", "c": "-1", "d": "@x", "e": -1, "f": "a=b", "g": "\t=1"}}},
			"'=a,b,c,d,e,f,g\n'=1+1,'+1,'-1,'@x,-1,a=b,'\t=1\n"},
		"to CSV, safe, of lists": {"convert.toCsv", args{"safe": true, "input": list{list{"=1", "x"}}}, "'=1,x\n"},
		"to CSV, of nothing":     {"convert.toCsv", args{"input": list{}}, ""},
	}
	set, functions := newSet(step.Options{}), step.Functions()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := call(t.Context(), set, test.command, test.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the command (-want +got):\n%s", diff)
			}
			if len(test.args) > 1 {
				return
			}
			if got, err = functions[test.command](test.args["input"]); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the function (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadInputIsRefused(t *testing.T) {
	const levels = value.MaxDepth + 2
	deep, wide := any("x"), object{}
	for range levels {
		deep = list{deep}
	}
	for i := range 10_000 {
		wide[strconv.Itoa(i)] = i
	}
	indented := any(wide)
	for range 500 {
		indented = object{"a": indented}
	}
	tests := map[string]struct {
		command string
		args    args
		kind    sluice.Kind
		code    string
		says    string
	}{
		"no input":                  {"convert.fromBase64", nil, sluice.Invalid, "parameter-invalid", "not null"},
		"not text":                  {"convert.fromJson", args{"input": list{}}, sluice.Invalid, "parameter-invalid", "not a list"},
		"base64, a wrong character": {"convert.fromBase64", args{"input": "YWJj\nYW?j"}, sluice.Invalid, "base64-invalid", "line 2, column 3"},
		"base64, cut off":           {"convert.fromBase64", args{"input": "YWJjY"}, sluice.Invalid, "base64-invalid", "line 1"},
		"base64, wrong padding":     {"convert.fromBase64", args{"input": "YQ="}, sluice.Invalid, "base64-invalid", "padding"},
		"base64, only padding":      {"convert.fromBase64", args{"input": "===="}, sluice.Invalid, "base64-invalid", "padding"},
		"base64, padding inside":    {"convert.fromBase64", args{"input": "YQ==YQ=="}, sluice.Invalid, "base64-invalid", "column 3"},
		"base64, bytes":             {"convert.fromBase64", args{"input": "/w=="}, sluice.Invalid, "not-text", "base64 they are"},
		"JSON, a slip":              {"convert.fromJson", args{"input": "{\n  \"ä\": x}"}, sluice.Invalid, "json-invalid", "line 2, column 8"},
		"JSON, cut off":             {"convert.fromJson", args{"input": `{"a":`}, sluice.Invalid, "json-invalid", "ends too early"},
		"JSON, nothing":             {"convert.fromJson", args{"input": ""}, sluice.Invalid, "json-invalid", "ends too early"},
		"JSON, two values":          {"convert.fromJson", args{"input": "{} x"}, sluice.Invalid, "json-invalid", "line 1, column 4: something follows"},
		"JSON, deep":                {"convert.fromJson", args{"input": nested(levels)}, sluice.TooLarge, "value-too-deep", "1000"},
		"JSON, a long list":         {"convert.fromJson", args{"input": "[" + strings.Repeat("1,", value.MaxItems) + "1]"}, sluice.TooLarge, "too-many-items", "100000"},
		"JSON, many lists":          {"convert.fromJson", args{"input": "[" + strings.Repeat("["+strings.Repeat("1,", 50_000)+"1],", 20) + "1]"}, sluice.TooLarge, "too-many-items", "1000000"},
		"JSON, long":                {"convert.fromJson", args{"input": `"` + strings.Repeat("x", value.MaxSize) + `"`}, sluice.TooLarge, "value-too-large", "8 MiB"},
		"to JSON, deep":             {"convert.toJson", args{"input": deep}, sluice.TooLarge, "value-too-deep", "1000"},
		"to JSON, long":             {"convert.toJson", args{"input": list{strings.Repeat("x", value.MaxSize/2), strings.Repeat("x", value.MaxSize/2+1)}}, sluice.TooLarge, "value-too-large", "8 MiB"},
		"to JSON, long by escapes":  {"convert.toJson", args{"input": strings.Repeat("\x01", value.MaxSize/2)}, sluice.TooLarge, "value-too-large", "8 MiB"},
		"to JSON, not finite":       {"convert.toJson", args{"input": math.Inf(1)}, sluice.Invalid, "not-json", "finite"},
		"to base64, long":           {"convert.toBase64", args{"input": strings.Repeat("x", value.MaxSize)}, sluice.TooLarge, "value-too-large", "8 MiB"},
		"YAML, a slip":              {"convert.fromYaml", args{"input": "a: b\nc: d: e"}, sluice.Invalid, "yaml-invalid", "line 2"},
		"YAML, an alias":            {"convert.fromYaml", args{"input": "a: &x [1]\nb: *x"}, sluice.Invalid, "yaml-invalid", "line 2, column 4: aliases"},
		"YAML, an alias as a key":   {"convert.fromYaml", args{"input": "a: &x k\n*x : 1"}, sluice.Invalid, "yaml-invalid", "line 2, column 1"},
		"YAML, a bomb":              {"convert.fromYaml", args{"input": "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]"}, sluice.Invalid, "yaml-invalid", "aliases"},
		"YAML, a merge":             {"convert.fromYaml", args{"input": "<<: {a: 1}"}, sluice.Invalid, "yaml-invalid", "line 1, column 1"},
		"YAML, a key twice":         {"convert.fromYaml", args{"input": "a: 1\na: 2"}, sluice.Invalid, "yaml-invalid", "line 2, column 1"},
		"YAML, a list as a key":     {"convert.fromYaml", args{"input": "? [a]\n: 1"}, sluice.Invalid, "yaml-invalid", "key"},
		"YAML, a tag":               {"convert.fromYaml", args{"input": "a: !!binary aGk="}, sluice.Invalid, "yaml-invalid", "!!binary"},
		"YAML, a tag of its own":    {"convert.fromYaml", args{"input": "!python/object:os.system {}"}, sluice.Invalid, "yaml-invalid", "tag"},
		"YAML, a set":               {"convert.fromYaml", args{"input": "!!set {a, b}"}, sluice.Invalid, "yaml-invalid", "!!set"},
		"YAML, two documents":       {"convert.fromYaml", args{"input": "a\n---\nb"}, sluice.Invalid, "yaml-invalid", "second document"},
		"YAML, infinite":            {"convert.fromYaml", args{"input": ".inf"}, sluice.Invalid, "yaml-invalid", "finite"},
		"YAML, deep":                {"convert.fromYaml", args{"input": nested(levels)}, sluice.TooLarge, "value-too-deep", "1000"},
		"YAML, a long list":         {"convert.fromYaml", args{"input": strings.Repeat("- 1\n", value.MaxItems+1)}, sluice.TooLarge, "too-many-items", "100000"},
		"YAML, long":                {"convert.fromYaml", args{"input": strings.Repeat("x", step.MaxYAML+1)}, sluice.TooLarge, "value-too-large", "1 MiB"},
		"to YAML, deep":             {"convert.toYaml", args{"input": deep}, sluice.TooLarge, "value-too-deep", "1000"},
		"to YAML, long by indents":  {"convert.toYaml", args{"input": indented}, sluice.TooLarge, "value-too-large", "8 MiB"},
		"to YAML, a long list":      {"convert.toYaml", args{"input": make(list, value.MaxItems+1)}, sluice.TooLarge, "too-many-items", "100000"},
		"to YAML, not finite":       {"convert.toYaml", args{"input": list{math.NaN()}}, sluice.Invalid, "not-json", "finite"},
		"CSV, a quote":              {"convert.fromCsv", args{"input": "a,b\nx,y\"z\n"}, sluice.Invalid, "csv-invalid", "line 2, column 4"},
		"CSV, a cell missing":       {"convert.fromCsv", args{"input": "a,b\n1,2\n3\n"}, sluice.Invalid, "csv-invalid", "line 3"},
		"CSV, a name twice":         {"convert.fromCsv", args{"input": "a,b,a\n"}, sluice.Invalid, "csv-invalid", "column 3"},
		"CSV, a long list":          {"convert.fromCsv", args{"input": strings.Repeat("x\n", value.MaxItems+2)}, sluice.TooLarge, "too-many-items", "100000"},
		"CSV, many cells":           {"convert.fromCsv", args{"input": strings.Repeat(",", value.MaxValues+1)}, sluice.TooLarge, "too-many-items", "1000000"},
		"CSV, a bad delimiter":      {"convert.fromCsv", args{"input": "a", "delimiter": "\""}, sluice.Invalid, "parameter-invalid", "delimiter"},
		"CSV, two delimiters":       {"convert.fromCsv", args{"input": "a", "delimiter": "||"}, sluice.Invalid, "parameter-invalid", "delimiter"},
		"to CSV, not a list":        {"convert.toCsv", args{"input": object{}}, sluice.Invalid, "parameter-invalid", "not an object"},
		"to CSV, of text":           {"convert.toCsv", args{"input": list{"x"}}, sluice.Invalid, "parameter-invalid", "item 1 is text"},
		"to CSV, of both":           {"convert.toCsv", args{"input": list{list{}, object{}}}, sluice.Invalid, "parameter-invalid", "item 2 is an object"},
		"to CSV, columns of lists":  {"convert.toCsv", args{"input": list{list{}}, "columns": "a"}, sluice.Invalid, "parameter-invalid", "columns"},
	}
	set := newSet(step.Options{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := call(t.Context(), set, test.command, test.args)
			refuses(t, err, test.kind, test.code, test.says)
		})
	}
}

func TestFunctionsTakeOneArgument(t *testing.T) {
	functions := step.Functions()
	if len(functions) != 8 {
		t.Errorf("there are %d functions", len(functions))
	}
	for name, function := range functions {
		for _, arguments := range [][]any{nil, {"a", "b"}} {
			_, err := function(arguments...)
			refuses(t, err, sluice.Invalid, "arguments-invalid", name)
		}
	}
}

func TestTheDeepestValueIsTaken(t *testing.T) {
	text := nested(value.MaxDepth + 1)
	set := newSet(step.Options{})
	for _, format := range []string{"Json", "Yaml"} {
		value, err := call(t.Context(), set, "convert.from"+format, args{"input": text})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := call(t.Context(), set, "convert.to"+format, args{"input": value}); err != nil {
			t.Error(err)
		}
	}
}
