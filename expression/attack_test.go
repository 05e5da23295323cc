package expression_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice"
	"sluice/expression"
	"sluice/value"
)

// hostile is a payload made to hurt: a long text, long lists, wide and deep
// structures.
var hostile = sync.OnceValue(func() map[string]any {
	numbers, words, same, pairs := make([]any, 100_000), make([]any, 100_000), make([]any, 100_000), make([]any, 100_000)
	wide := make(map[string]any, 100_000)
	long := strings.Repeat("a", value.MaxSize)
	for i := range numbers {
		numbers[i] = (i * 7919) % 100_003
		words[i] = fmt.Sprintf("word-%060d", i)
		same[i] = long[:len(long)-1] // equal texts of equal length are the dearest to compare
		pairs[i] = []any{words[i], i}
		wide[words[i].(string)] = i
	}
	deep, deepObject, path := any([]any{}), any(map[string]any{}), strings.Repeat("[", 500_000)
	for range 10_000 {
		deep = []any{deep}
		deepObject = map[string]any{"a": deepObject}
	}
	longer, wider := make([]any, 1_000_000), make(map[string]any, 500_000)
	for i := range 500_000 {
		wider[strconv.Itoa(i)] = nil
	}
	return map[string]any{
		"s": long, "t": long[:len(long)-1] + "b", "numbers": numbers, "words": words, "same": same, "wide": wide,
		"deep": deep, "deeper": []any{deep}, "deepObject": deepObject, "pairs": pairs, "longer": longer, "brackets": path,
		"commas": "[" + strings.Repeat("1,", 3_000_000) + "1]", "empties": "[" + strings.Repeat("[],", 2_000_000) + "1]",
		"special": strings.Repeat("ɐ", value.MaxSize/2), "control": strings.Repeat("\x01", value.MaxSize),
		"objects": "[" + strings.Repeat(`{"a":{}},`, 40_000) + "1]", "spaces": strings.Repeat("\u2003", value.MaxSize/3), "wider": wider,
		"tiny": "x", "zone": strings.Repeat("x", 1000),
	}
})

// attacks must each end soon, with an error or a value within the limits.
var attacks = []string{
	// Texts that grow.
	`body.s + body.s`,
	`let a = body.s[:4000000] + body.s[:4000000]; [a + "", a + "", a + "", a + "", a + "", a + "", a + "", a + "", a + "", a + ""]`,
	`repeat(body.s, 2)`, `repeat("a", 9223372036854775807)`, `repeat("ab", 8388608)`, `repeat("x", 8388608)`,
	`map(1..100000, repeat("x", 1000000))`, `map(body.numbers, body.tiny + body.s[:1000000])`,
	`map(body.numbers, upper(body.s))`, `map(body.numbers, lower(body.words[#index]))`, `upper(body.special)`,
	`reduce(body.words, #acc + #, "")`, `reduce(body.words, #acc + #acc)`, `reduce(1..60, #acc + #acc, "x")`,
	`join(body.words, body.s)`, `join(body.same)`, `join(body.words, "")`,
	`replace(body.s, "a", body.s)`, `replace(body.s, "", "bb")`, `replace(body.s, "a", "b")`, `map(body.numbers, replace(body.s, "a", ""))`,
	`split(body.s, "")`, `split(body.s, "a")`, `split(body.s, "a", 1000000)`, `splitAfter(body.s, "a")`, `map(1..1000, split(body.s[:50000], ""))`,
	`toBase64(body.s)`, `fromBase64(body.s)`, `map(body.words, toBase64(body.s[:100000]))`,
	`toJSON(body.control)`, `toJSON([body.words, body.words])`, `map(body.numbers, toJSON(body.words))`, `string(body.longer)`, `toJSON(body.deep)`, `toJSON(body.deepObject)`,
	`fromJSON(body.brackets)`, `fromJSON(body.commas)`, `fromJSON(body.empties)`, `fromJSON(body.s)`, `map(body.numbers, fromJSON('[1,2,3,4,5,6,7,8]'))`,
	`trim(body.s, "ba")`, `trim(body.s, body.s)`, `map(body.numbers, trim(body.s, "abcdefghijklmnopqrstuvwxyzäöü"))`,
	`trimPrefix(body.s, body.s)`, `map(body.numbers, trimSuffix(body.s, body.s))`, `map(body.numbers, hasPrefix(body.s, body.s))`,
	`map(body.numbers, indexOf(body.s, "ab"))`, `indexOf(body.s, body.s[:4000000] + "b")`, `lastIndexOf(body.s, "b" + body.s[:4000000])`,
	`map(body.numbers, len(body.s))`, `map(body.numbers, body.s[#index])`, `map(body.numbers, body.s[-5:])`,
	// Lists that grow.
	`1..100001`, `1..9223372036854775807`, `(-9223372036854775807)..9223372036854775807`, `map(1..100000, 1..100000)`,
	`concat(body.numbers, body.numbers)`, `reduce(body.numbers, concat(#acc, [#]), [])`, `reduce(1..40, concat(#acc, #acc), [1])`,
	`reduce(1..40, [#acc, #acc], [1])`, `toJSON(reduce(1..40, [#acc, #acc], [1]))`, `flatten(reduce(1..40, [#acc, #acc], [1]))`, `flatten(reduce(1..40, [#acc, #acc], []))`,
	`let a = reduce(1..40, [#acc, #acc], [1]); let b = reduce(1..40, [#acc, #acc], [1]); a == b`,
	`max(reduce(1..40, [#acc, #acc], [1]))`, `uniq([reduce(1..40, [#acc, #acc], [1])])`, `convert.fromBase64(reduce(1..40, [#acc, #acc], [1]))`,
	`"" + string(reduce(1..40, ({"a": #acc, "b": #acc}), 1))`, `reduce(1..40, ({"a": #acc, "b": #acc}), 1)`,
	`map(body.numbers, body.numbers)`, `map(body.numbers, reverse(body.numbers))`, `map(body.numbers, body.longer)`,
	`flatten(body.deep)`, `flatten(map(1..100, body.words))`, `max(body.deep)`, `map(body.numbers, max(body.numbers))`, `map(body.numbers, median(body.numbers))`,
	`sort(body.numbers)`, `sort(body.words)`, `sort(body.same)`, `sortBy(body.same, #)`, `map(body.numbers, sort(body.numbers))`, `sortBy(body.numbers, -#, "desc")`,
	`uniq(body.numbers)`, `uniq(body.words)`, `uniq(body.same)`, `uniq(map(body.numbers, [#]))`, `map(body.numbers, uniq(body.numbers))`,
	`toPairs(body.wide)`, `keys(body.wide)`, `map(body.numbers, keys(body.wide))`, `map(body.numbers, values(body.wide))`, `fromPairs(body.pairs)`, `map(body.numbers, fromPairs(body.pairs))`,
	`groupBy(body.words, #)`, `groupBy(body.numbers, body.wide)`, `groupBy(body.same, #)`, `map(body.numbers, take(body.numbers, 99999))`,
	`map(body.longer, 1)`, `filter(body.longer, true)`, `count(body.longer, # == nil)`, `count(concat(body.numbers), body.s == body.t)`,
	// Predicates within predicates.
	`map(body.numbers, count(body.numbers, # > 1))`, `any(body.numbers, any(body.numbers, any(body.numbers, # < 0)))`, `sum(map(1..3000, sum(map(1..3000, #))))`,
	`map(body.numbers, # in body.words)`, `filter(body.words, # in body.wide)`, `filter(body.numbers, body.s contains "ab")`, `filter(body.numbers, body.s == body.t)`,
	`filter(body.numbers, body.s < body.t)`, `filter(body.numbers, body.words == body.words)`, `filter(body.numbers, body.wide == body.wide)`,
	`let a = map(body.words, #); let b = map(body.words, #); filter(body.numbers, a == b)`,
	// Structures that are deep.
	`body.deep`, `body.deep == body.deeper[0]`, `body.deep == [body.deep]`, `body.deepObject == body.deepObject`, `body.deep in [body.deep]`, `uniq([body.deep, body.deep])`, `convert.fromBase64(body.deep)`,
	// Patterns.
	`body.s matches "(a*)*b"`, `body.s matches "a{500}b"`, `body.s matches "(a?){100}(a){100}$"`, `body.s[:300000] matches "(x+x+)+y"`, `body.words[0] matches "^(([a-z])+.)+[A-Z]([a-z])+$"`,
	`filter(body.numbers, body.s matches "b$")`, `count(body.words, # matches "(a|b|c|d|e|f|g|h|[0-9]+)*$")`,
	// Numbers and times.
	`reduce(1..100000, #acc * 2, 1)`, `reduce(1..100000, #acc ** 2, 2)`, `reduce(1..100000, #acc + duration("2000h"), duration("1h"))`, `bitshl(1, 9223372036854775807)`,
	`map(1..100000, date("2026-01-02", "2006-01-02", "Europe/Zurich"))`, `date(body.s)`, `date(body.words[0], body.s)`, `date("2026-01-02", "2006-01-02", body.zone)`, `duration(body.s)`,
	`map(body.numbers, now())`, `map(body.numbers, date("2026-01-02"))`, `int(body.s)`, `float(body.s)`, `float(repeat("1", 8000000))`,
	// Functions of the caller.
	`map(body.numbers, convert.fromBase64(body.words))`, `map(body.numbers, convert.fromBase64(#))`, `map(body.numbers, secret("key"))`, `convert.fromBase64(body.longer)`,
	// Many small things.
	`map(1..100000, ({"a": #}))`, `map(1..100000, [[[[#]]]])`, `map(1..100000, "a" + "b")`, `map(1..100000, map(1..20, ({"a": ({"b": 1})})))`,
	`map(1..100000, {let a = [#]; let b = [a, a]; [b, b]})`, `reduce(1..100000, [#acc], [])`, `reduce(1..999, [#acc], [])`, `reduce(body.words, ({"a": #acc, (#): 1}), nil)`,
	`fromJSON(body.objects)`, `map(1..100, fromJSON(body.objects[:19999] + "1]"))`, `trim(body.spaces)`, `map(body.numbers, trim(body.spaces))`, `map(body.numbers, upper(body.special[:1000]))`,
	`groupBy(body.numbers, [#, body.words[#index]])`, `map(body.numbers, "a" + string(#))`, `map(body.numbers, split("a b c d e f g h", " "))`, `keys(body.wider)`, `toJSON(body.wider)`, `body.wider == body.wider`,
	// What is given away.
	`[body.s, body.t]`, `map(1..100000, body.words)`, `body.wide`, `body.words`,
}

// TestAttacksAreBounded keeps which limit stops each attack: a limit that went
// missing shows, however fast the machine is.
func TestAttacksAreBounded(t *testing.T) {
	payload := hostile()
	var outcomes strings.Builder
	for _, code := range attacks {
		t.Run(code, func(t *testing.T) {
			template, err := language.CompileExpression(code)
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			started := time.Now()
			got, err := within(t, func() (any, error) {
				return template.Eval(&expression.Scope{Body: payload, Secret: func(string) (string, error) { return "x", nil }})
			})
			took := time.Since(started)
			runtime.ReadMemStats(&after)
			made := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%v, %d MiB, %s", took.Round(time.Millisecond), made, outcome(got, err))
			fmt.Fprintf(&outcomes, "%s\n\t%s\n", code, outcome(got, err))
			// What patterns work in comes from a pool, which the race detector empties
			// at random.
			if made > 3*expression.MaxMemory>>20 && !strings.Contains(code, " matches ") {
				t.Errorf("made %d MiB", made)
			}
			checkOutcome(t, got, err)
		})
	}
	expression.CheckGolden(t, "testdata/attacks.golden", outcomes.String())
}

// A template with many expressions has one budget for them all.
func TestManyExpressionsAreBounded(t *testing.T) {
	template, err := language.Compile(strings.Repeat(`#{count(body.numbers, # > 1)}`, 1_000))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = within(t, func() (any, error) { return template.Eval(&expression.Scope{Body: hostile()}) }); err == nil {
		t.Error("a thousand loops ran")
	}
	template, err = language.Compile(strings.Repeat(`#{body.s}`, 1_000))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = within(t, func() (any, error) { return template.Eval(&expression.Scope{Body: hostile()}) }); err == nil {
		t.Error("the text became 8 GiB long")
	}
}

// within fails the test if the work doesn't end.
func within(t *testing.T, work func() (any, error)) (v any, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		v, err = work()
	}()
	select {
	case <-done:
		return v, err
	case <-time.After(2 * time.Minute):
		t.Fatal("it doesn't end")
		return nil, nil
	}
}

func checkOutcome(t *testing.T, v any, err error) {
	t.Helper()
	if err != nil {
		failure := sluice.AsError(err)
		if failure.Code != "expression-failed" || len(failure.Message) > 400 {
			t.Errorf("got %s: %.500s", failure.Code, failure.Message)
		}
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	// Each byte takes six at most in JSON.
	if len(b) > 6*value.MaxSize+value.MaxItems*8 {
		t.Errorf("the value is %d MiB long", len(b)>>20)
	}
}

func outcome(v any, err error) string {
	if err != nil {
		_, reason, _ := strings.Cut(err.Error(), " failed: ")
		return reason
	}
	return fmt.Sprintf("gives %T", v)
}
