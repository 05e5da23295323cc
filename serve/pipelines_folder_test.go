package serve_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPipelinesOfAFolder: the operator's files are pipelines from the start,
// follow changes, and can't be changed elsewhere.
func TestPipelinesOfAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "folder.yaml")
	answering := func(value string) string {
		return "pipeline: [event.listen: {eventKey: webhook.folder}, iam.run.as: {username: admin}, server.info, set: {value: " + value + "}]"
	}
	writeFile(t, file, answering("first"))
	writeFile(t, filepath.Join(dir, "notes.txt"), "no pipeline")
	writeFile(t, filepath.Join(dir, "inner", "deep.yaml"), "no pipeline either")
	s := start(t, "pipelines="+dir, untilDone)
	hook := s.create("webhook.folder")
	if got := s.call(hook, "text/plain", "").result(t); got.Value != "first" {
		t.Fatalf("it came to %+v", got)
	}
	view := s.command("pipeline.get", map[string]any{"name": "folder"}).wantStatus(t, 200).object(t)
	if view["folder"] != true || view["owner"] != "admin" {
		t.Errorf("pipeline.get gives %v", view)
	}
	problem := s.put("folder", answering("other"), asAdmin).wantProblem(t, 409, "pipeline-read-only")
	if strings.Contains(problem["detail"].(string), dir) {
		t.Errorf("the refusal shows the path: %v", problem["detail"])
	}
	s.send("DELETE", "/api/v3/pipeline/folder", nil, asAdmin).wantProblem(t, 409, "pipeline-read-only")

	// Changes are noticed once a second, so several are made at a time.
	s.store("mine", "pipeline: [set: {value: mine}]")
	writeFile(t, filepath.Join(dir, "mine.yaml"), "pipeline: [set: {value: theirs}]")
	writeFile(t, filepath.Join(dir, "more.json"), `{"pipeline": [{"set": {"value": "more"}}]}`)
	writeFile(t, file, "pipeline: [nothing.such]")
	eventually(t, "a new file to be taken over", func() bool { return s.send("POST", "/api/v3/pipeline/more", nil, asAdmin).status == 200 })
	eventually(t, "the mistakes to be logged", func() bool {
		log := s.log.String()
		return strings.Contains(log, "folder.yaml:1:12: There is no command") && strings.Contains(log, "mine.yaml: there is a pipeline of that name")
	})
	if got := s.call(hook, "text/plain", "").result(t); got.Value != "first" {
		t.Errorf("with a mistake in the file it came to %+v, want as before", got)
	}
	if got := s.send("POST", "/api/v3/pipeline/mine", nil, asAdmin).wantStatus(t, 200); !strings.Contains(string(got.body), "mine") {
		t.Errorf("a file has taken the place of a stored pipeline: %s", got.body)
	}

	writeFile(t, file, answering("second"))
	if err := os.Remove(filepath.Join(dir, "mine.yaml")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the change to be taken over", func() bool { return s.call(hook, "text/plain", "").result(t).Value == "second" })
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pipeline to go with its file", func() bool { return s.send("GET", "/api/v3/pipeline/folder", nil, asAdmin).status == 404 })
	s.send("GET", "/api/v3/pipeline/mine", nil, asAdmin).wantStatus(t, 200)

	s.stop()
	s.resume()
	s.send("POST", "/api/v3/pipeline/more", nil, asAdmin).wantStatus(t, 200)
	s.send("GET", "/api/v3/pipeline/mine", nil, asAdmin).wantStatus(t, 200)
}

// TestFolderWithAMistakeAtTheStart: the operator is there, so the start stops,
// with one line that says where.
func TestFolderWithAMistakeAtTheStart(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.stop()
	s.config.Pipelines = t.TempDir()
	writeFile(t, filepath.Join(s.config.Pipelines, "bad.yaml"), "pipeline:\n- nothing.such\n")
	wantRefusedStart(t, s, "pipelines: bad.yaml:2:3: There is no command")
	s.config.Pipelines += "/nowhere"
	wantRefusedStart(t, s, "folder of pipelines")
	s.config.Pipelines = ""
	s.resume()
}
