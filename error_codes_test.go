package sluice_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"sluice"
	"sluice/problem"
)

const errorsPage = "docs/reference/errors.md"

// TestErrorCodesAreDocumented: the reference of error codes is made of error_codes.go and its
// neighbours, and each word stands there once.
func TestErrorCodesAreDocumented(t *testing.T) {
	page := referenceOfCodes(t)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(errorsPage, page, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(errorsPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, page) {
		t.Errorf("%s is not what error_codes.go says; UPDATE_GOLDEN=1 go test . writes it anew", errorsPage)
	}
}

var kinds = map[string]sluice.Kind{
	"Internal": sluice.Internal, "Invalid": sluice.Invalid, "Unauthenticated": sluice.Unauthenticated,
	"Forbidden": sluice.Forbidden, "NotFound": sluice.NotFound, "MethodNotAllowed": sluice.MethodNotAllowed,
	"Timeout": sluice.Timeout, "Conflict": sluice.Conflict, "Gone": sluice.Gone, "TooLarge": sluice.TooLarge,
	"Unsupported": sluice.Unsupported, "Throttled": sluice.Throttled, "Unavailable": sluice.Unavailable,
	"Loop": sluice.Loop, "Unprocessable": sluice.Unprocessable, "Outdated": sluice.Outdated, "HeadTooLarge": sluice.HeadTooLarge, "Full": sluice.Full,
}

func referenceOfCodes(t *testing.T) []byte {
	t.Helper()
	var page bytes.Buffer
	page.WriteString("# Error codes\n\n" +
		"Every error outside the OAuth endpoints is a problem document (RFC 9457) whose `code` is one of these words. " +
		"The status is the usual one; `statusCode` of the document says which one was answered. " +
		"The command line knows two more forms: `<resource>-unknown` for a name that is not there, and `status-<number>` for an answer that is no problem document. " +
		"The portal also uses `<resource>-taken`.\n")
	seen := map[string]bool{}
	describe := func(n ast.Node) bool {
		if group, ok := n.(*ast.GenDecl); ok && group.Tok == token.VAR {
			fmt.Fprintf(&page, "\n## %s\n\n| Code | Status | Meaning |\n|---|---|---|\n", strings.TrimSuffix(strings.TrimSpace(group.Doc.Text()), "."))
		}
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		fields := spec.Values[0].(*ast.CompositeLit).Elts
		word, kind := text(t, fields[0]), fields[1].(*ast.Ident).Name
		meaning := strings.Join(strings.Fields(spec.Doc.Text()), " ")
		of, known := kinds[kind]
		switch {
		case seen[word]:
			t.Errorf("the code %s stands in error_codes.go twice", word)
		case !known:
			t.Errorf("the code %s has the kind %s, which this test does not know", word, kind)
		case !strings.HasSuffix(meaning, "."):
			t.Errorf("the meaning of the code %s is no sentence: %s", word, meaning)
		}
		seen[word] = true
		status := problem.Status(&sluice.Error{Kind: of})
		fmt.Fprintf(&page, "| `%s` | %d %s | %s |\n", word, status, http.StatusText(status), meaning)
		return false
	}
	for _, name := range []string{"error_codes.go", "error_codes_run.go", "error_codes_server.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, describe)
	}
	return page.Bytes()
}

func text(t *testing.T, expression ast.Expr) string {
	t.Helper()
	text, err := strconv.Unquote(expression.(*ast.BasicLit).Value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
