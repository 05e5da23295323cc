package calls

import (
	"fmt"
	"net/http"
	"strings"

	"sluice"
	"sluice/portal/page"
)

// curlOfCall returns a curl command that repeats a call, with TOKEN for its token.
func curlOfCall(receive string, c sluice.CallView) string {
	body, whole := sentBody(c)
	if !whole {
		return ""
	}
	first := "curl " + shellQuoted(receive)
	if c.Method != http.MethodPost {
		first += " -X " + c.Method
	}
	lines := []string{first, "-H 'token: TOKEN'"}
	if c.ContentType != "" {
		lines = append(lines, "-H "+shellQuoted("content-type: "+c.ContentType))
	}
	for _, h := range page.Headers(c.Headers) {
		if !page.IsConnection(h.Name) || strings.Contains(h.Name, "signature") {
			lines = append(lines, "-H "+shellQuoted(h.Name+": "+h.Value))
		}
	}
	if body != "" {
		lines = append(lines, "--data-binary "+shellQuoted(body))
	}
	return strings.Join(lines, " \\\n  ")
}

func shellQuoted(text string) string {
	return fmt.Sprintf("'%s'", strings.ReplaceAll(text, "'", `'\''`))
}

// A CurlLine is a way to call the webhook.
type CurlLine struct {
	Title string
	Text  string // as shown
	Copy  string // with the token
}

// CurlLines returns ways to call a webhook. A header comes first, because fewer places
// log it than a URL.
func CurlLines(receive, token string, revealed bool) []CurlLine {
	lines := []CurlLine{
		{Title: "Token in a header (best)", Text: "curl " + receive +
			" \\\n  -H 'token: TOKEN' \\\n  -H 'content-type: application/json' \\\n  -d '{\"name\": \"Ada\"}'"},
		{Title: "Token in the URL", Text: "curl '" + receive +
			"?token=TOKEN' \\\n  -H 'content-type: application/json' \\\n  -d '{\"name\": \"Ada\"}'"},
		{Title: "With files", Text: "curl " + receive + " \\\n  -H 'token: TOKEN' \\\n  -F 'file=@report.pdf'"},
	}
	visible := page.HiddenToken(token)
	if revealed {
		visible = token
	}
	for i := range lines {
		lines[i].Copy = strings.ReplaceAll(lines[i].Text, "TOKEN", token)
		lines[i].Text = strings.ReplaceAll(lines[i].Text, "TOKEN", visible)
	}
	return lines
}
