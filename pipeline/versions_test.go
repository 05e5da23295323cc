package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sluice"
	"sluice/pipeline"
	"sluice/pipeline/pipelinetest"
	"sluice/pipeline/source"
)

type version struct {
	Version int    `json:"version"`
	Owner   string `json:"owner"`
	Time    string `json:"time"`
	Current bool   `json:"current"`
}

// versions returns the versions of the pipeline p, newest first.
func (f *fixture) versions(t *testing.T) (list []version) {
	t.Helper()
	answer, err := f.call(t.Context(), "pipeline.versions", arg("name", "p"))
	if err := json.Unmarshal([]byte(show(t, answer, err)), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// sourceOf returns the source of a version of p.
func (f *fixture) sourceOf(t *testing.T, number int) any {
	t.Helper()
	answer, err := f.call(t.Context(), "pipeline.get", arg("name", "p"), arg("version", number))
	got := object(t, answer, err)
	if got["version"] != float64(number) {
		t.Errorf("version %d says that it is %v", number, got["version"])
	}
	return got["source"]
}

// TestVersions: the latest 20 sources are kept, each with who stored it and when.
func TestVersions(t *testing.T) {
	f := newFixture()
	source := func(n int) string { return fmt.Sprintf("pipeline: [set: {value: %d}]", n) }
	for n := 1; n <= 25; n++ {
		owner := "ada"
		if n%2 == 0 {
			owner = "bob"
		}
		if _, err := f.callAs(t.Context(), owner, "pipeline.put", arg("name", "p"), arg("source", source(n))); err != nil {
			t.Fatal(err)
		}
		list := f.versions(t)
		if len(list) != min(n, 20) || list[0].Version != n || !list[0].Current || list[0].Owner != owner {
			t.Fatalf("the versions are %v", list)
		}
	}
	for i, v := range f.versions(t) {
		if v.Version != 25-i || v.Current != (i == 0) || v.Owner != []string{"ada", "bob"}[i%2] || v.Time == "" {
			t.Errorf("version %d is %v", 25-i, v)
		}
		if got := f.sourceOf(t, v.Version); got != source(v.Version) {
			t.Errorf("version %d is %v", v.Version, got)
		}
	}
	for _, missing := range []int{5, 26} {
		_, err := f.call(t.Context(), "pipeline.get", arg("name", "p"), arg("version", missing))
		pipelinetest.Refused(t, err, "version-unknown", "not kept any more")
		_, err = f.call(t.Context(), "pipeline.rollback", arg("name", "p"), arg("version", missing))
		pipelinetest.Refused(t, err, "version-unknown", "pipeline.versions")
	}
	_, err := f.call(t.Context(), "pipeline.get", arg("version", 1))
	pipelinetest.Refused(t, err, "parameter-invalid", "name")
	_, err = f.call(t.Context(), "pipeline.versions", arg("name", "q"))
	pipelinetest.Refused(t, err, "pipeline-unknown", "")
	_, err = f.call(t.Context(), "pipeline.rollback", arg("name", "q"), arg("version", 1))
	pipelinetest.Refused(t, err, "pipeline-unknown", "")
}

// TestVersionsOfTheSame: storing what is stored already makes no version, unless
// it belongs to another user then.
func TestVersionsOfTheSame(t *testing.T) {
	f := newFixture()
	for range 3 {
		f.put(t, "p", "pipeline: [pass]")
	}
	before := f.versions(t)
	if len(before) != 1 {
		t.Fatalf("the versions are %v", before)
	}
	if _, err := f.callAs(t.Context(), "ada", "pipeline.put", arg("name", "p"), arg("source", "pipeline: [pass]")); err != nil {
		t.Fatal(err)
	}
	if list := f.versions(t); len(list) != 2 || list[0].Owner != "ada" || list[1] != (version{1, "admin", before[0].Time, false}) {
		t.Errorf("the versions are %v", list)
	}
}

// TestVersionsOfAnother: a pipeline that is deleted takes its sources along.
func TestVersionsOfAnother(t *testing.T) {
	f := newFixture()
	f.put(t, "p", "pipeline: [pass]")
	f.put(t, "p", "pipeline: [pass, pass]")
	if _, err := f.call(t.Context(), "pipeline.delete", arg("name", "p")); err != nil {
		t.Fatal(err)
	}
	f.put(t, "p", "pipeline: [set: {value: 1}]")
	f.put(t, "p", "pipeline: [set: {value: 2}]")
	f.put(t, "p", "pipeline: [set: {value: 3}]")
	if list := f.versions(t); len(list) != 3 || f.sourceOf(t, 1) != "pipeline: [set: {value: 1}]" {
		t.Errorf("the versions are %v", list)
	}
}

// TestRollback: a former source is stored again, as a version of whoever does it,
// and what it does is checked again.
func TestRollback(t *testing.T) {
	f := newFixture()
	switching := listening + "- iam.run.as: {username: admin}\n- event.send: {key: a}"
	f.put(t, "p", switching)
	f.put(t, "p", "pipeline: [pass]")
	_, err := f.callAs(t.Context(), "poor", "pipeline.rollback", arg("name", "p"), arg("version", 1))
	pipelinetest.Refused(t, err, "forbidden", "pipeline.rollback")
	answer, err := f.callAs(t.Context(), "ada", "pipeline.rollback", arg("name", "p"), arg("version", 1))
	got := object(t, answer, err)
	if got["version"] != 3.0 || got["owner"] != "ada" || got["listens"] != "svc.event.webhook.a" {
		t.Errorf("the answer is %v", got)
	}
	if got := f.sourceOf(t, 3); got != switching {
		t.Errorf("the source is %v", got)
	}
	if bound := f.queue.bound(); len(bound) != 1 {
		t.Errorf("bound are %v", bound)
	}
}

// TestRollbackWithoutRights: whoever rolls back needs the rights that the source
// needs now.
func TestRollbackWithoutRights(t *testing.T) {
	f := newFixture(func(o *pipeline.RunnerOptions) {
		all := o.User
		o.User = func(ctx context.Context, name string) (sluice.User, error) {
			user, err := all(ctx, name)
			if name == "dev" {
				user.Permissions = []string{"pipeline.*", "event.*", "pass"}
			}
			return user, err
		}
	})
	f.put(t, "p", listening+"- iam.run.as: {username: admin}\n- pass")
	f.put(t, "p", "pipeline: [pass]")
	_, err := f.callAs(t.Context(), "dev", "pipeline.rollback", arg("name", "p"), arg("version", 1))
	pipelinetest.Refused(t, err, "pipeline-not-permitted", "may not let it run as admin")
	if list := f.versions(t); len(list) != 2 {
		t.Errorf("the versions are %v", list)
	}
	answer, err := f.callAs(t.Context(), "dev", "pipeline.rollback", arg("name", "p"), arg("version", 1), arg("force", true))
	if got := object(t, answer, err); got["warnings"] == nil || got["version"] != 3.0 {
		t.Errorf("the answer is %v", got)
	}
}

// TestIfMatch: what was changed meanwhile is not overwritten.
func TestIfMatch(t *testing.T) {
	f := newFixture()
	put := func(source, tags string) (map[string]any, error) {
		answer, err := f.call(t.Context(), "pipeline.put", arg("name", "p"), arg("source", source), arg("ifMatch", tags))
		if err != nil {
			return nil, err
		}
		return object(t, answer, err), nil
	}
	for _, tags := range []string{"*", `"1-abc"`} {
		_, err := put("pipeline: [pass]", tags)
		if e := pipelinetest.Refused(t, err, "changed-meanwhile", "There is no pipeline"); e.Kind != sluice.Outdated || e.Parameter != "ifMatch" {
			t.Errorf("the error is %+v", e)
		}
	}
	f.put(t, "p", "pipeline: [pass]")
	answer, err := f.call(t.Context(), "pipeline.get", arg("name", "p"))
	first, _ := object(t, answer, err)["etag"].(string)
	second, err := put("pipeline: [pass, pass]", `"other", "`+first+`"`)
	if err != nil {
		t.Fatal(err)
	}
	for _, tags := range []string{first, `"` + first + `"`, `W/"` + second["etag"].(string) + `"`, "garbage", ",", `""`} {
		_, err = put("pipeline: [fail: {message: lost}]", tags)
		pipelinetest.Refused(t, err, "changed-meanwhile", "admin stored version 2")
		_, err = f.call(t.Context(), "pipeline.delete", arg("name", "p"), arg("ifMatch", tags))
		pipelinetest.Refused(t, err, "changed-meanwhile", "")
		_, err = f.call(t.Context(), "pipeline.rollback", arg("name", "p"), arg("version", 1), arg("ifMatch", tags))
		pipelinetest.Refused(t, err, "changed-meanwhile", "")
	}
	if _, err = put("pipeline: [set: {value: 3}]", "*"); err != nil {
		t.Error(err)
	}
	f.store.meanwhile = func() {
		f.store.meanwhile = nil
		f.put(t, "p", "pipeline: [set: {value: 5}]")
	}
	answer, err = f.call(t.Context(), "pipeline.get", arg("name", "p"))
	_, err = put("pipeline: [set: {value: 4}]", object(t, answer, err)["etag"].(string))
	pipelinetest.Refused(t, err, "changed-meanwhile", "version 4")
}

// TestVersionsOfConcurrentChanges: of changes at the same moment each is a version.
func TestVersionsOfConcurrentChanges(t *testing.T) {
	f := newFixture()
	f.put(t, "p", "pipeline: [pass]")
	f.store.meanwhile = func() {
		f.store.meanwhile = nil
		f.put(t, "p", "pipeline: [set: {value: 2}]")
	}
	f.put(t, "p", "pipeline: [set: {value: 3}]")
	for n, want := range []string{"pipeline: [pass]", "pipeline: [set: {value: 2}]", "pipeline: [set: {value: 3}]"} {
		if got := f.sourceOf(t, n+1); got != want {
			t.Errorf("version %d is %v", n+1, got)
		}
	}
}

// TestVersionsOfALateWriter: who has read the pipeline long ago drives out nothing
// that was stored since.
func TestVersionsOfALateWriter(t *testing.T) {
	f := newFixture()
	source := func(n int) string { return fmt.Sprintf("pipeline: [set: {value: %d}]", n) }
	f.put(t, "p", source(1))
	f.history.meanwhile = func() {
		f.history.meanwhile = nil
		for n := 2; n <= 4; n++ {
			f.put(t, "p", source(n))
		}
	}
	f.put(t, "p", source(5))
	if list := f.versions(t); len(list) != 5 {
		t.Fatalf("the versions are %v", list)
	}
	for n := 1; n <= 5; n++ {
		if got := f.sourceOf(t, n); got != source(n) {
			t.Errorf("version %d is %v", n, got)
		}
	}
}

// TestVersionsOfLargeSources: sources that can't be compressed come back as well,
// up to the largest.
func TestVersionsOfLargeSources(t *testing.T) {
	f := newFixture()
	noise := make([]byte, source.MaxSource-100)
	for i := range noise {
		noise[i] = byte('!' + rand.N(90))
	}
	large := "pipeline: [pass] # " + strings.ReplaceAll(string(noise), "#", "x")
	f.put(t, "p", large)
	f.put(t, "p", "pipeline: [pass]")
	if got := f.sourceOf(t, 1); got != large {
		t.Error("the source is another one")
	}
}
