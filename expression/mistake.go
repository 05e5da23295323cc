package expression

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

const (
	longestSnippet = 60
	longestMessage = 300
)

// SyntaxError is a mistake in a text, found before it runs.
type SyntaxError struct {
	Offset  int    // where in the text, in bytes
	Message string // one line for the author
}

// Error returns the message with its offset.
func (e *SyntaxError) Error() string { return "at " + strconv.Itoa(e.Offset) + ": " + e.Message }

// shifted moves the offset of a mistake from the code to the text around it.
func shifted(err error, by int) error {
	if found, ok := errors.AsType[*SyntaxError](err); ok {
		found.Offset += by
	}
	return err
}

// byteOffset converts the library's offset in characters to one in bytes.
func byteOffset(source string, location file.Location) int {
	return len(part(source, 0, location.From))
}

// unreadable means that the library's parser has failed in a way of its own.
func unreadable() error { return &SyntaxError{Message: "The expression can't be read."} }

// parseError explains an error of the library.
func parseError(source string, err error) error {
	found, ok := errors.AsType[*file.Error](err)
	if !ok {
		return unreadable()
	}
	message := oneLine(strings.TrimSuffix(found.Message, "."), longestMessage)
	offset := byteOffset(source, found.Location)
	switch {
	case strings.TrimSpace(source) == "":
		message = "the expression is empty"
	case message == "unexpected token EOF":
		message, offset = "the expression ends too early", len(source)
	case unexpected.MatchString(message):
		message = misplaced(unexpected.FindStringSubmatch(message)[1], source, min(offset, len(source)))
	case strings.HasSuffix(message, "value out of range"):
		message = "the number is too large"
	case strings.HasPrefix(message, "compilation failed: "):
		message = "the expression has more than " + strconv.Itoa(MaxNodes) + " parts; do it in several steps"
	}
	return &SyntaxError{Offset: offset, Message: strings.ToUpper(message[:1]) + message[1:] + "."}
}

// unexpected matches the library's message about a misplaced token.
var unexpected = regexp.MustCompile(`^unexpected token \w+\((".*")\)`)

// misplaced returns the message about a misplaced token of the source, with a hint.
func misplaced(token, source string, offset int) string {
	message := token + " is not expected here"
	switch {
	case token == `"="` && strings.HasPrefix(source[offset:], "=>"):
		return message + "; a function of each item is written without =>, as in map(items, .price) or " +
			"map(items, # * 2)"
	case token == `"="`:
		return message + "; to compare, write =="
	case token == `"then"`, token == `"else"`:
		return message + "; a choice is written condition ? one : other"
	case token == `"."` && strings.HasPrefix(strings.TrimSpace(source), "{"):
		return message + "; write #{…}, with one pair of braces"
	case token == `"#"`, token == `"."`:
		return message + "; # and .name stand for the item within filter, map and the like"
	}
	return message
}

// oneLine escapes control characters in a text and cuts it to a number of characters.
func oneLine(text string, longest int) string {
	text = strings.TrimSpace(text)
	if cut := part(text, 0, longest+1); len(cut) < len(text) || utf8.RuneCountInString(cut) > longest {
		text = part(text, 0, longest-1) + "…"
	}
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// label names a part of an expression in messages, such as body.order.items[0].
func label(node ast.Node) string {
	if name := path(node, 0); name != "" && len(name) <= longestSnippet {
		return name
	}
	return "a part of it"
}

func path(node ast.Node, depth int) string {
	if depth > 10 {
		return ""
	}
	switch node := node.(type) {
	case *ast.IdentifierNode:
		return node.Value
	case *ast.PointerNode:
		return "#" + node.Name
	case *ast.ChainNode:
		return path(node.Node, depth+1)
	case *ast.MemberNode:
		owner := path(node.Node, depth+1)
		if owner == "" {
			return ""
		}
		switch property := node.Property.(type) {
		case *ast.StringNode:
			return owner + "." + property.Value
		case *ast.IntegerNode:
			return owner + "[" + property.String() + "]"
		}
	}
	return ""
}

// dotted returns the name a.b.c that a node spells, or "". The name has at most so many
// dots.
func dotted(node ast.Node, dots int) string {
	switch node := node.(type) {
	case *ast.IdentifierNode:
		return node.Value
	case *ast.MemberNode:
		property, ok := node.Property.(*ast.StringNode)
		if !ok || dots == 0 {
			return ""
		}
		if owner := dotted(node.Node, dots-1); owner != "" {
			return owner + "." + property.Value
		}
	}
	return ""
}
