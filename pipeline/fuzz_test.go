package pipeline_test

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"sluice/pipeline"
)

// FuzzParse: a source is a program, or has mistakes with places in it; a program
// that came of it runs its tests without a panic.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/errors/*.[yj][as]*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, "testdata/tests.yaml") {
		source, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(source))
	}
	set, lang := newFixture().set, language()
	f.Fuzz(func(t *testing.T, source string) {
		program, err := pipeline.Parse(source, set, lang)
		if err == nil {
			pipeline.Test(t.Context(), program, pipeline.Limits{Steps: 100, Items: 100})
			return
		}
		problems := pipeline.ProblemsOf(err)
		if len(problems) == 0 {
			t.Fatalf("the error has no list of problems: %v", err)
		}
		for _, e := range problems {
			if e.Message == "" || e.Place.Line < 1 || e.Place.Column < 1 || !utf8.ValidString(e.Place.Snippet) && utf8.ValidString(source) {
				t.Fatalf("a problem is %+v", e)
			}
		}
	})
}
