package expression_test

import (
	"testing"

	"sluice/expression"
)

func BenchmarkEval(b *testing.B) {
	scope := &expression.Scope{Body: map[string]any{"payload": map[string]any{"name": "x", "items": []any{1, 2, 3}}}}
	for _, text := range []string{
		`#{body.payload.name == "x"}`,
		`Hello #{body.payload.name}`,
		`#{sum(filter(body.payload.items, # > 1))}`,
	} {
		b.Run(text, func(b *testing.B) {
			template, err := expression.NewLanguage(nil).Compile(text)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := template.Eval(scope); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	language := expression.NewLanguage(nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := language.Compile(`#{body.payload.name == "x"}`); err != nil {
			b.Fatal(err)
		}
	}
}
