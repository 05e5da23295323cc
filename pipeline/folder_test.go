package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sluice/pipeline"
	"sluice/pipeline/pipelinetest"
	"sluice/pipeline/source"
)

// write puts a file into a folder.
func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// names returns the stored pipelines, in order.
func (f *fixture) names() string {
	var names []string
	for _, p := range f.store.All() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// TestFolder: files become pipelines that only the folder changes.
func TestFolder(t *testing.T) {
	f := newFixture()
	dir := t.TempDir()
	write(t, dir, "a.yaml", listening+"- set: {value: \"#{len(secret('key'))}\"}")
	write(t, dir, "b.json", `{"pipeline": ["pass"]}`)
	write(t, dir, "c.yml", "pipeline: [pass]")
	write(t, dir, "d.txt", "not a pipeline")
	write(t, dir, ".hidden", "not a pipeline")
	if err := os.Mkdir(filepath.Join(dir, "e.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.SyncFolder(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if got := f.names(); got != "a b c" {
		t.Fatalf("the pipelines are %s", got)
	}
	if bound := f.queue.bound(); len(bound) != 1 {
		t.Errorf("bound are %v", bound)
	}
	answer, err := f.call(t.Context(), "pipeline.get", arg("name", "a"))
	if got := object(t, answer, err); got["folder"] != true || got["owner"] != "admin" {
		t.Errorf("the pipeline is %v", got)
	}
	if out, err := f.call(t.Context(), "pipeline.run", arg("name", "a")); err != nil || out != 6 {
		t.Errorf("the answer is %v, %v", out, err)
	}
	_, err = f.call(t.Context(), "pipeline.put", arg("name", "a"), arg("source", "pipeline: [pass]"))
	pipelinetest.Refused(t, err, "pipeline-read-only", "operator's folder")
	_, err = f.call(t.Context(), "pipeline.delete", arg("name", "a"))
	pipelinetest.Refused(t, err, "pipeline-read-only", "operator's folder")

	f.put(t, "mine", "pipeline: [pass]")
	if err := os.Remove(filepath.Join(dir, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := f.SyncFolder(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if got := f.names(); got != "b c mine" {
		t.Errorf("the pipelines are %s", got)
	}
	if bound := f.queue.bound(); len(bound) != 0 {
		t.Errorf("bound are %v", bound)
	}
}

// TestFolderRefuses: one line says what is wrong and where.
func TestFolderRefuses(t *testing.T) {
	tests := []struct{ name, file, content, want string }{
		{"a mistake", "a.yaml", "pipeline:\n- passs", `a.yaml:2:3: There is no command "passs"; did you mean pass?`},
		{"a name", "A b.yaml", "pipeline: [pass]", "A b.yaml: The name of a pipeline must be"},
		{"taken", "mine.yaml", "pipeline: [pass]", "mine.yaml: there is a pipeline of that name"},
		{"twice", "good.json", `{"pipeline": ["pass"]}`, "good.yaml: good.json is a pipeline of the same name"},
		{"too large", "a.yaml", strings.Repeat("#", source.MaxSource+1), "a.yaml:1:1: The source has"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture()
			f.put(t, "mine", "pipeline: [pass]")
			dir := t.TempDir()
			write(t, dir, "good.yaml", "pipeline: [pass]")
			write(t, dir, test.file, test.content)
			err := f.SyncFolder(t.Context(), dir)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
			if got := f.names(); got != "good mine" {
				t.Errorf("the pipelines are %s", got)
			}
		})
	}
	f := newFixture()
	dir := t.TempDir()
	write(t, dir, "a.yaml", "pipeline: [passs]")
	write(t, dir, "b.yaml", "pipeline: [passs]")
	if err := f.SyncFolder(t.Context(), dir); err == nil || !strings.HasSuffix(err.Error(), "(and 1 more files can't be loaded)") {
		t.Errorf("the error is %v", err)
	}
	if err := f.SyncFolder(t.Context(), filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that does not exist was taken")
	}
}

// TestFolderStaysInside: links lead nowhere outside, and pipes hold nobody up.
func TestFolderStaysInside(t *testing.T) {
	f := newFixture()
	outside, dir := t.TempDir(), t.TempDir()
	write(t, outside, "secret.yaml", "pipeline: [pass]")
	if err := os.Symlink(filepath.Join(outside, "secret.yaml"), filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Skip("there are no pipes here:", err)
	}
	if err := f.SyncFolder(t.Context(), dir); err == nil {
		t.Error("it was taken")
	}
	if got := f.names(); got != "" {
		t.Errorf("the pipelines are %s", got)
	}
}

// TestWatchFolder: changes are taken over, mistakes logged once, and the last
// good version stays.
func TestWatchFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := newFixture(func(r *pipeline.RunnerOptions) { r.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		dir := t.TempDir()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			f.WatchFolder(ctx, dir)
			close(ended)
		}()
		look := func(want string) {
			t.Helper()
			time.Sleep(2 * time.Second) // of the bubble's clock
			synctest.Wait()
			if got := f.names(); got != want {
				t.Fatalf("the pipelines are %q, want %q", got, want)
			}
		}
		write(t, dir, "a.yaml", "pipeline: [pass]")
		look("a")
		write(t, dir, "a.yaml", "pipeline: [passs]")
		look("a")
		look("a")
		if got := strings.Count(log.String(), "did you mean pass?"); got != 1 {
			t.Errorf("the mistake was logged %d times: %s", got, log.String())
		}
		write(t, dir, "a.yaml", "pipeline: [pass, pass, pass]")
		write(t, dir, "b.yaml", "pipeline: [pass]")
		look("a b")
		if p, _ := f.store.Get(ctx, "a"); p.Source != "pipeline: [pass, pass, pass]" {
			t.Errorf("the source is %s", p.Source)
		}
		f.store.fail(errors.New("the store is away"))
		if err := os.Remove(filepath.Join(dir, "a.yaml")); err != nil {
			t.Fatal(err)
		}
		look("a b")
		f.store.fail(nil)
		look("b")
		f.store.fail(errors.New("the store is away"))
		if err := os.Remove(filepath.Join(dir, "b.yaml")); err != nil {
			t.Fatal(err)
		}
		look("b")
		f.store.fail(nil)
		look("")
		stop()
		<-ended
	})
}
