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
