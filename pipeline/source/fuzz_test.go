package source_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"

	"sluice/pipeline/pipelinetest"
	"sluice/pipeline/rehearse"
	"sluice/pipeline/run"
	"sluice/pipeline/source"
)

// FuzzParse: a source is a program, or has mistakes with places in it; a program
// that came of it runs its tests without a panic.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/errors/*.[yj][as]*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, "../rehearse/testdata/tests.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	set, lang := commands(), pipelinetest.Language()
	f.Fuzz(func(t *testing.T, text string) {
		program, err := source.Parse(text, set, lang)
		if err == nil {
			rehearse.Test(t.Context(), program, run.Limits{RunTime: 100 * time.Millisecond})
			return
		}
		problems := source.ProblemsOf(err)
		if len(problems) == 0 {
			t.Fatalf("the error has no list of problems: %v", err)
		}
		for _, e := range problems {
			if e.Message == "" || e.Line < 1 || e.Column < 1 || !utf8.ValidString(e.Snippet) && utf8.ValidString(text) {
				t.Fatalf("a problem is %+v", e)
			}
		}
	})
}
