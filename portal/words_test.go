package portal_test

import (
	"html"
	"regexp"
	"testing"
)

// TestApostrophes: pages have those of typography, except in what people or
// machines wrote.
func TestApostrophes(t *testing.T) {
	t.Parallel()
	s := start(t, "http-allow=127.0.0.0/8")
	live := furnish(t, s)
	v := s.signedIn("admin", adminPassword)
	written := regexp.MustCompile(`(?s)<(pre|code|textarea|title)\b.*?</(?:pre|code|textarea|title)>`)
	tags := regexp.MustCompile(`<[^>]*>`)
	typed := regexp.MustCompile(`.{0,40}\pL'\pL.{0,40}`)
	for _, path := range kindsOfPages(live) {
		text := html.UnescapeString(tags.ReplaceAllString(written.ReplaceAllString(v.get(path).body, " "), " "))
		for _, found := range typed.FindAllString(text, 5) {
			t.Errorf("%s: %s", path, found)
		}
	}
}
