package step_test

import (
	"encoding/base64"
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
		"CSV in Latin-1":              {"convert.fromCsv", args{"input": "bmFtZSxjaXR5Ck38bGxlcixCZXJsaW4K", "charset": "iso-8859-1"}, list{object{"name": "Müller", "city": "Berlin"}}},
		"CSV in UTF-16":               {"convert.fromCsv", args{"input": "//5hAAoA/AAKAA==", "charset": "utf-16le"}, list{object{"a": "ü"}}},
		"CSV, words like base64":      {"convert.fromCsv", args{"input": "name"}, list{}},
		"CSV, a word like base64":     {"convert.fromCsv", args{"input": "customer", "header": false}, list{list{"customer"}}},
		"base64 in a charset":         {"convert.fromBase64", args{"input": "gqA=", "charset": "Shift_JIS"}, "あ"},
		"base64 with its order":       {"convert.fromBase64", args{"input": "77u/YQ==", "charset": "utf-8"}, "a"},
		"form":                        {"convert.fromForm", args{"input": "a=1&b=x+y%26%C3%A4&a=2&c&=e&&a="}, object{"a": list{"1", "2", ""}, "b": "x y&ä", "c": "", "": "e"}},
		"form, nothing":               {"convert.fromForm", args{"input": ""}, object{}},
		"form, GitHub's":              {"convert.fromForm", args{"input": "payload=%7B%22a%22%3A1%7D"}, object{"payload": `{"a":1}`}},
		"to form":                     {"convert.toForm", args{"input": object{"b": list{1, "x y"}, "a&": true, "n": nil, "o": object{"p": 1}, "none": list{}}}, "a%26=true&b=1&b=x+y&n=&o=%7B%22p%22%3A1%7D"},
		"XML":                         {"convert.fromXml", args{"input": "\ufeff<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<!-- c --><a x=\"1\" s:y='&lt;&#228;'>\n <b>t</b><b/> u <s:c><![CDATA[<&]]></s:c>\n</a>"}, object{"a": object{"@x": "1", "@s:y": "<ä", "b": list{"t", ""}, "s:c": "<&", "#text": "u"}}},
		"XML, one item":               {"convert.fromXml", args{"input": "<o><i>A</i><p><i>B</i></p></o>", "lists": list{"i"}}, object{"o": object{"i": list{"A"}, "p": object{"i": list{"B"}}}}},
		"XML, two items":              {"convert.fromXml", args{"input": "<o><i>A</i><i x='1'/></o>", "lists": list{"i"}}, object{"o": object{"i": list{"A", object{"@x": "1"}}}}},
		"XML, an item by its path":    {"convert.fromXml", args{"input": "<o><i>A</i><p><i>B</i></p></o>", "lists": list{"o.i", "p"}}, object{"o": object{"i": list{"A"}, "p": list{object{"i": "B"}}}}},
		"XML, a name with dots":       {"convert.fromXml", args{"input": "<a.b/>", "lists": list{"a.b", "c", ""}}, object{"a.b": list{""}}},
		"XML, no item":                {"convert.fromXml", args{"input": "<o/>", "lists": list{"i"}}, object{"o": ""}},
		"XML, text alone":             {"convert.fromXml", args{"input": "<a> b </a>"}, object{"a": " b "}},
		"XML, text and attribute":     {"convert.fromXml", args{"input": "<a b='1'> c </a>"}, object{"a": object{"@b": "1", "#text": " c "}}},
		"to XML":                      {"convert.toXml", args{"input": object{"a": object{"@x": 1, "b": list{"t", nil, object{"c": true}}, "#text": "<ä>"}}}, `<a x="1">&lt;ä&gt;<b>t</b><b></b><b><c>true</c></b></a>`},
		"to XML, text alone":          {"convert.toXml", args{"input": object{"a:b": "x"}}, "<a:b>x</a:b>"},
		"to XML, lines":               {"convert.toXml", args{"input": object{"a": object{"@b": "\"x\r\ny"}}}, `<a b="&#34;x&#xD;&#xA;y"></a>`},
		"gzip":                        {"convert.fromGzip", args{"input": "H4sIAAAAAAACA8s4vBIAS9xY9gMAAAA="}, "hé"},
		"gzip of bytes":               {"convert.fromGzip", args{"input": "H4sIAAAAAAACA/vPAACN7/3SAgAAAA=="}, "/wA="},
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
		"YAML, a tag":               {"convert.fromYaml", args{"input": "a: !!binary aGk="}, sluice.Invalid, "yaml-invalid", "this tag is refused"},
		"YAML, a tag of its own":    {"convert.fromYaml", args{"input": "!python/object:os.system {}"}, sluice.Invalid, "yaml-invalid", "tag"},
		"YAML, a set":               {"convert.fromYaml", args{"input": "!!set {a, b}"}, sluice.Invalid, "yaml-invalid", "this tag is refused"},
		"YAML, two documents":       {"convert.fromYaml", args{"input": "a\n---\nb"}, sluice.Invalid, "yaml-invalid", "second document"},
		"YAML, infinite":            {"convert.fromYaml", args{"input": ".inf"}, sluice.Invalid, "yaml-invalid", "finite"},
		"YAML, deep":                {"convert.fromYaml", args{"input": nested(levels)}, sluice.TooLarge, "value-too-deep", "1000"},
		"YAML, a long list":         {"convert.fromYaml", args{"input": strings.Repeat("- 1\n", value.MaxItems+1)}, sluice.TooLarge, "too-many-items", "100000"},
		"YAML, long":                {"convert.fromYaml", args{"input": strings.Repeat("x", 1<<20+1)}, sluice.TooLarge, "value-too-large", "1 MiB"},
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
		"CSV, base64":               {"convert.fromCsv", args{"input": "bmFtZSxjaXR5Ck38bGxlcixCZXJsaW4K"}, sluice.Invalid, "base64-given", "convert.fromBase64"},
		"CSV, base64 of a line":     {"convert.fromCsv", args{"input": "bmFtZSxjaXR5", "header": false}, sluice.Invalid, "base64-given", "CSV"},
		"CSV, a charset, no base64": {"convert.fromCsv", args{"input": "a,b\n", "charset": "utf-8"}, sluice.Invalid, "base64-invalid", "line 1"},
		"CSV, no charset":           {"convert.fromCsv", args{"input": "YQ==", "charset": "latin"}, sluice.Invalid, "parameter-invalid", "windows-1252"},
		"base64, a charset refused": {"convert.fromBase64", args{"input": "YQ==", "charset": "iso-2022-kr"}, sluice.Invalid, "parameter-invalid", "charset"},
		"base64, another charset":   {"convert.fromBase64", args{"input": "/w==", "charset": "UTF-8"}, sluice.Invalid, "not-text", "utf-8"},
		"base64, half a character":  {"convert.fromBase64", args{"input": "AGEA", "charset": "utf-16be"}, sluice.Invalid, "not-text", "another"},
		"base64, long by charset":   {"convert.fromBase64", args{"input": strings.Repeat("////", value.MaxSize/4), "charset": "windows-1252"}, sluice.TooLarge, "value-too-large", "8 MiB"},
		"JSON, base64":              {"convert.fromJson", args{"input": "eyJhIjoxfQ=="}, sluice.Invalid, "base64-given", "JSON"},
		"YAML, base64":              {"convert.fromYaml", args{"input": "YTogMQo="}, sluice.Invalid, "base64-given", "YAML"},
		"form, base64":              {"convert.fromForm", args{"input": "YT0xJmI9Mg=="}, sluice.Invalid, "base64-given", "a form"},
		"form, a bad escape":        {"convert.fromForm", args{"input": "a=1&b=%zz"}, sluice.Invalid, "form-invalid", "behind character 4"},
		"form, bytes":               {"convert.fromForm", args{"input": "a=%ff"}, sluice.Invalid, "form-invalid", "UTF-8"},
		"form, many fields":         {"convert.fromForm", args{"input": strings.Repeat("a&", value.MaxItems+1)}, sluice.TooLarge, "too-many-items", "100000"},
		"to form, a list":           {"convert.toForm", args{"input": list{}}, sluice.Invalid, "parameter-invalid", "not a list"},
		"to form, long":             {"convert.toForm", args{"input": object{"a": strings.Repeat("&", value.MaxSize/2)}}, sluice.TooLarge, "value-too-large", "8 MiB"},
		"XML, base64":               {"convert.fromXml", args{"input": "PGE+MTwvYT54"}, sluice.Invalid, "base64-given", "XML"},
		"XML, nothing":              {"convert.fromXml", args{"input": " "}, sluice.Invalid, "xml-invalid", "no element"},
		"XML, text":                 {"convert.fromXml", args{"input": "hello"}, sluice.Invalid, "xml-invalid", "outside"},
		"XML, cut off":              {"convert.fromXml", args{"input": "<a>\n<b>"}, sluice.Invalid, "xml-invalid", "line 2, column 4: it ends too early"},
		"XML, the wrong end":        {"convert.fromXml", args{"input": "<a></b>"}, sluice.Invalid, "xml-invalid", "ends"},
		"XML, an end alone":         {"convert.fromXml", args{"input": "<a/></a>"}, sluice.Invalid, "xml-invalid", "ends"},
		"XML, two elements":         {"convert.fromXml", args{"input": "<a/><a/>"}, sluice.Invalid, "xml-invalid", "one outermost"},
		"XML, an attribute twice":   {"convert.fromXml", args{"input": "<a b='1' b='2'/>"}, sluice.Invalid, "xml-invalid", "twice"},
		"XML, an entity":            {"convert.fromXml", args{"input": "<a>&b;</a>"}, sluice.Invalid, "xml-invalid", "entity"},
		"XML, a file":               {"convert.fromXml", args{"input": "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>"}, sluice.Invalid, "xml-invalid", "not taken"},
		"XML, a bomb":               {"convert.fromXml", args{"input": "<!DOCTYPE a [<!ENTITY b \"bbb\"><!ENTITY c \"&b;&b;&b;\">]><a>&c;</a>"}, sluice.Invalid, "xml-invalid", "entities"},
		"XML, another version":      {"convert.fromXml", args{"input": "<?xml version='1.1'?><a/>"}, sluice.Invalid, "xml-invalid", ""},
		"XML, deep":                 {"convert.fromXml", args{"input": strings.Repeat("<a>", levels) + strings.Repeat("</a>", levels)}, sluice.TooLarge, "value-too-deep", "1000"},
		"XML, many elements":        {"convert.fromXml", args{"input": "<a>" + strings.Repeat("<b/>", value.MaxItems+1) + "</a>"}, sluice.TooLarge, "too-many-items", "100000"},
		"to XML, two elements":      {"convert.toXml", args{"input": object{"a": 1, "b": 2}}, sluice.Invalid, "parameter-invalid", "one field"},
		"to XML, a list":            {"convert.toXml", args{"input": object{"a": list{1}}}, sluice.Invalid, "parameter-invalid", "not a list"},
		"to XML, a list in a list":  {"convert.toXml", args{"input": object{"a": object{"b": list{list{}}}}}, sluice.Invalid, "parameter-invalid", "list in a list"},
		"to XML, a bad name":        {"convert.toXml", args{"input": object{"a b": 1}}, sluice.Invalid, "parameter-invalid", "none for an element"},
		"to XML, a bad attribute":   {"convert.toXml", args{"input": object{"a": object{"@": 1}}}, sluice.Invalid, "parameter-invalid", "none for an attribute"},
		"to XML, an object in it":   {"convert.toXml", args{"input": object{"a": object{"@b": object{}}}}, sluice.Invalid, "parameter-invalid", "an object"},
		"to XML, a control":         {"convert.toXml", args{"input": object{"a": "\x01"}}, sluice.Invalid, "parameter-invalid", "control"},
		"to XML, long":              {"convert.toXml", args{"input": object{"a": strings.Repeat("&", value.MaxSize/2)}}, sluice.TooLarge, "value-too-large", "8 MiB"},
		"gzip, no base64":           {"convert.fromGzip", args{"input": "?"}, sluice.Invalid, "base64-invalid", ""},
		"gzip, no gzip":             {"convert.fromGzip", args{"input": "YWJjZGVmZ2hpams="}, sluice.Invalid, "gzip-invalid", "damaged"},
		"gzip, nothing":             {"convert.fromGzip", args{"input": ""}, sluice.Invalid, "gzip-invalid", "too early"},
		"gzip, cut off":             {"convert.fromGzip", args{"input": "H4sIAAAAAAACA8s4vBIA"}, sluice.Invalid, "gzip-invalid", "too early"},
		"gzip, a wrong checksum":    {"convert.fromGzip", args{"input": "H4sIAAAAAAACA8s4vBIAS9xY9wMAAAA="}, sluice.Invalid, "gzip-invalid", "checksum"},
		"gzip, a bomb":              {"convert.fromGzip", args{"input": base64.StdEncoding.EncodeToString(gzipped(50 << 20))}, sluice.TooLarge, "value-too-large", "8 MiB"},
		"to gzip, long":             {"convert.toGzip", args{"input": strings.Repeat("x", value.MaxSize+1)}, sluice.TooLarge, "value-too-large", "8 MiB"},
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

func TestFunctionsCountTheirArguments(t *testing.T) {
	most := map[string]int{"convert.fromBase64": 2, "convert.fromCsv": 2, "convert.fromXml": 2, "crypto.hash": 3, "crypto.hmac": 4, "crypto.equal": 2}
	functions := step.Functions()
	if len(functions) != 17 {
		t.Errorf("there are %d functions", len(functions))
	}
	for name, function := range functions {
		for _, arguments := range [][]any{nil, make([]any, max(most[name], 1)+1)} {
			_, err := function(arguments...)
			refuses(t, err, sluice.Invalid, "arguments-invalid", name)
		}
	}
}

func TestFunctionsTakeACharset(t *testing.T) {
	functions := step.Functions()
	text, err := functions["convert.fromBase64"]("/A==", "windows-1252")
	if err != nil || text != "ü" {
		t.Errorf("got %v, %v", text, err)
	}
	rows, err := functions["convert.fromCsv"]("YQr8Cg==", "iso-8859-1")
	if diff := cmp.Diff(list{object{"a": "ü"}}, rows); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	_, err = functions["convert.fromCsv"]("YQ==", 1)
	refuses(t, err, sluice.Invalid, "parameter-invalid", "charset must be text")
}

func TestFunctionsTakeLists(t *testing.T) {
	read := step.Functions()["convert.fromXml"]
	order, err := read("<order><item>ABCDEF</item></order>", list{"item"})
	if diff := cmp.Diff(object{"order": object{"item": list{"ABCDEF"}}}, order); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, lists := range []any{"item", list{1}, nil, object{}} {
		_, err := read("<a/>", lists)
		refuses(t, err, sluice.Invalid, "parameter-invalid", "lists must be a list of names")
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
