package serve_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestVersionsOverHTTP: a pipeline is stored on condition that it is as the caller
// knows it, and a broken edit is rolled back, also after a restart.
func TestVersionsOverHTTP(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/api/v3/pipeline/edited"
	const first, second = "pipeline: [set: {value: 1}]", "pipeline: [set: {value: 2}]"
	ifMatch := func(tag string) func(*http.Request) { return header("If-Match", tag) }
	for _, tag := range []string{"*", `"1-abc"`} {
		if problem := s.put("edited", first, asAdmin, ifMatch(tag)).wantProblem(t, 412, "changed-meanwhile"); problem["parameter"] != "ifMatch" {
			t.Errorf("the problem is %v", problem)
		}
	}
	stored := s.put("edited", first, asAdmin).wantStatus(t, 200)
	tag := stored.header.Get("ETag")
	if tag == "" || tag != s.send("GET", path, nil, asAdmin).wantStatus(t, 200).header.Get("ETag") {
		t.Errorf("the tags are %q and another", tag)
	}
	if changed := s.put("edited", second, asAdmin, ifMatch(tag)).wantStatus(t, 200).header.Get("ETag"); changed == tag {
		t.Errorf("the tag is still %s", tag)
	}
	s.put("edited", "pipeline: [fail: {message: lost}]", asAdmin, ifMatch(tag)).wantProblem(t, 412, "changed-meanwhile")
	s.send("DELETE", path, nil, asAdmin, ifMatch(tag)).wantProblem(t, 412, "changed-meanwhile")
	if got := s.send("GET", path+"?version=1", nil, asAdmin).wantStatus(t, 200); string(got.body) != first || got.header.Get("ETag") != tag {
		t.Errorf("version 1 is %s, tagged %s", got, got.header.Get("ETag"))
	}
	for _, version := range []int{3, 999_999_999} {
		s.send("GET", path+fmt.Sprint("?version=", version), nil, asAdmin).wantProblem(t, 404, "version-unknown")
		s.command("pipeline.rollback", map[string]any{"name": "edited", "version": version}).wantProblem(t, 404, "version-unknown")
	}
	for _, version := range []string{"0", "-1", "x", "1.5", "99999999999999999999"} {
		s.send("GET", path+"?version="+version, nil, asAdmin).wantProblem(t, 400, "parameter-invalid")
	}
	s.stop()
	s.resume()
	if got := s.command("pipeline.rollback", map[string]any{"name": "edited", "version": 1}).wantStatus(t, 200).object(t); got["version"] != 3.0 {
		t.Errorf("the answer is %v", got)
	}
	if got := s.send("GET", path, nil, asAdmin).wantStatus(t, 200); string(got.body) != first {
		t.Errorf("the source is %s", got)
	}
	var list []struct{ Version int }
	s.send("GET", "/api/v3/command/pipeline.versions?name=edited", nil, asAdmin).wantStatus(t, 200).into(t, &list)
	if len(list) != 3 || list[0].Version != 3 || list[2].Version != 1 {
		t.Errorf("the versions are %v", list)
	}
}

// TestOneOfManyEditors: of many who have read the same version, one stores theirs.
func TestOneOfManyEditors(t *testing.T) {
	t.Parallel()
	s := start(t)
	tag := s.put("edited", "pipeline: [set: {value: 0}]", asAdmin).wantStatus(t, 200).header.Get("ETag")
	var stored, refused atomic.Int32
	var editors sync.WaitGroup
	for i := range 20 {
		editors.Go(func() {
			source := "pipeline: [set: {value: " + strings.Repeat("1", i+1) + "}]"
			switch got := s.put("edited", source, asAdmin, header("If-Match", tag)); got.status {
			case 200:
				stored.Add(1)
			case 412:
				refused.Add(1)
			default:
				t.Errorf("answered %s", got)
			}
		})
	}
	editors.Wait()
	if stored.Load() != 1 || refused.Load() != 19 {
		t.Errorf("%d were stored, %d refused", stored.Load(), refused.Load())
	}
}

// TestWhoSeesVersions: whoever may read pipelines, but they don't store any.
func TestWhoSeesVersions(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.put("p", "pipeline: [set: {value: 1}]", asAdmin).wantStatus(t, 200)
	asViewer := s.user("looks", "read")
	s.send("GET", "/api/v3/command/pipeline.versions?name=p", nil, asViewer).wantStatus(t, 200)
	s.send("POST", "/api/v3/command/pipeline.rollback?name=p&version=1", nil, asViewer).wantProblem(t, 403, "forbidden")
	s.send("GET", "/api/v3/command/pipeline.rollback?name=p&version=1", nil, asAdmin).wantProblem(t, 405, "method-not-allowed")
}

// TestVersionsOfTwoNodes: what nodes store at the same time is a version each, and
// is found on both.
func TestVersionsOfTwoNodes(t *testing.T) {
	t.Parallel()
	nats, stop := runEngine(t, engineOptions(t.TempDir()))
	t.Cleanup(stop)
	settings := []string{"nats=" + nats.ClientURL(), "secret-key=" + strings.Repeat("0f", 32)}
	nodes := []*service{start(t, settings...), start(t, settings...)}
	nodes[0].put("shared", "pipeline: [set: {value: first}]", asAdmin).wantStatus(t, 200)
	const edits = 6 // of each
	var editors sync.WaitGroup
	for i, node := range nodes {
		editors.Go(func() {
			for n := range edits {
				source := fmt.Sprintf("pipeline: [set: {value: %d}]", i*edits+n)
				if got := node.put("shared", source, asAdmin); got.status != 200 {
					t.Errorf("answered %s", got)
				}
			}
		})
	}
	editors.Wait()
	for _, node := range nodes {
		sources := make(map[string]bool)
		for version := 1; version <= 1+2*edits; version++ {
			var got answer
			eventually(t, "the version", func() bool {
				got = node.send("GET", fmt.Sprint("/api/v3/pipeline/shared?version=", version), nil, asAdmin)
				return got.status == 200
			})
			sources[string(got.body)] = true
		}
		if len(sources) != 1+2*edits {
			t.Errorf("there are %d sources: %v", len(sources), sources)
		}
		node.put("shared", "pipeline: [fail: {message: lost}]", asAdmin, header("If-Match", `"1-abc"`)).wantProblem(t, 412, "changed-meanwhile")
	}
}
