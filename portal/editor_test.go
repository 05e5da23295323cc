package portal_test

import (
	"regexp"
	"testing"
)

// TestASecondEditor: whoever saves what was changed meanwhile is told by whom, and
// keeps what they wrote.
func TestASecondEditor(t *testing.T) {
	s := start(t)
	v := s.signedIn("admin", adminPassword)
	v.post("/pipelines/new", "name", "p", "source", "pipeline: [log]").wants(t, 303)
	page := v.get("/pipelines/p/edit").wants(t, 200)
	tag := regexp.MustCompile(`name="tag" value="([^"]+)"`).FindStringSubmatch(page.body)
	if tag == nil {
		t.Fatal("the page has no tag")
	}
	v.post("/pipelines/p/edit", "source", "pipeline: [log, log]", "tag", tag[1]).wants(t, 303)
	v.post("/pipelines/p/edit", "source", "pipeline: [wait: {duration: 1s}]", "tag", tag[1]).
		wants(t, 412, "changed meanwhile", "admin stored version 2", "wait: {duration: 1s}", tag[1])
}
