package sluice_test

import (
	"bytes"
	"encoding/json"
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

// TestErrorCodesAreDocumented: the reference of error codes is made of error_codes.json, where each
// word stands once, with a kind that there is and a sentence.
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
		t.Errorf("%s is not what error_codes.json says; UPDATE_GOLDEN=1 go test . writes it anew", errorsPage)
	}
}

// TestEveryErrorCodeHasAKind: the codes of error_codes.go are those of error_codes.json, apart from
// those that only package value makes.
func TestEveryErrorCodeHasAKind(t *testing.T) {
	missing := map[string]bool{}
	for _, group := range codeGroups(t) {
		for _, row := range group.Codes {
			missing[row.Code] = true
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "error_codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok {
			return true
		}
		if word, _ := strconv.Unquote(literal.Value); !missing[word] {
			t.Errorf("the code %s is not in error_codes.json, or stands in error_codes.go twice", word)
		} else {
			delete(missing, word)
		}
		return false
	})
	for _, word := range []string{"not-json", "value-too-deep", "value-too-large"} {
		delete(missing, word)
	}
	for word := range missing {
		t.Errorf("the code %s is not in error_codes.go", word)
	}
}

type codeGroup struct {
	About string
	Codes []struct {
		Code  string
		Kind  sluice.Kind
		Means string
	}
}

func codeGroups(t *testing.T) (groups []codeGroup) {
	t.Helper()
	text, err := os.ReadFile("error_codes.json")
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&groups); err != nil {
		t.Fatal(err)
	}
	return groups
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
	for _, group := range codeGroups(t) {
		fmt.Fprintf(&page, "\n## %s\n\n| Code | Status | Meaning |\n|---|---|---|\n", group.About)
		for _, row := range group.Codes {
			status := problem.Status(&sluice.Error{Kind: row.Kind})
			switch {
			case seen[row.Code]:
				t.Errorf("the code %s stands in error_codes.json twice", row.Code)
			case status == 0:
				t.Errorf("the code %s has the kind %s, which there is not", row.Code, row.Kind)
			case !strings.HasSuffix(row.Means, "."):
				t.Errorf("the meaning of the code %s is no sentence: %s", row.Code, row.Means)
			}
			seen[row.Code] = true
			fmt.Fprintf(&page, "| `%s` | %d %s | %s |\n", row.Code, status, http.StatusText(status), row.Means)
		}
	}
	return page.Bytes()
}
