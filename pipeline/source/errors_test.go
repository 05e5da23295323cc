package source_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice"
	"sluice/command"
	"sluice/pipeline/pipelinetest"
	"sluice/pipeline/source"
)

// parse parses a source that may use the commands of the tests.
func parse(text string) (*source.Program, error) {
	return source.Parse(text, commands(), pipelinetest.Language())
}

func commands() command.Set {
	receive := command.NewEndpoint[pipelinetest.NoParams]("webhook.receive", "Call a webhook.", func(http.ResponseWriter, *http.Request) error { return nil })
	return command.NewSet(func(context.Context, sluice.AuditEntry) {}, new(pipelinetest.World).Commands(), []command.Command{receive})
}

// TestErrors: what authors are told about their mistakes, and where. Each file
// of testdata/errors has its mistakes in a file *.golden beside it; write these
// anew with UPDATE_GOLDEN=1.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.[yj][as]*")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = parse(string(text))
			if err == nil {
				t.Fatal("there is no mistake")
			}
			got := "The error: " + sluice.AsError(err).Message + "\n"
			for _, e := range source.ProblemsOf(err) {
				got += "\n" + describe(e)
			}
			pipelinetest.Golden(t, strings.TrimSuffix(file, filepath.Ext(file))+".golden", got)
		})
	}
}

// describe shows a mistake as an editor would.
func describe(e sluice.Finding) string {
	where := fmt.Sprintf("%d:%d", e.Line, e.Column)
	if e.Step != "" {
		where += " in " + e.Step
	}
	text := fmt.Sprintf("%s: %s\n", where, e.Message)
	if e.Snippet != "" {
		pad := strings.Map(func(r rune) rune {
			if r == '\t' {
				return r
			}
			return ' '
		}, string([]rune(e.Snippet)[:min(e.Column-1, len([]rune(e.Snippet)))]))
		text += "    " + e.Snippet + "\n    " + pad + "^\n"
	}
	return text
}
