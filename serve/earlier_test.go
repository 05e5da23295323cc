package serve_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestFoldersOfEarlierVersions: a server on the data folder of an earlier version
// has all that was in it, goes on with it, and leaves no token in clear.
// testdata/README.md says how the
// folders were made.
func TestFoldersOfEarlierVersions(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/folder-*.tar.gz")
	if err != nil || len(folders) == 0 {
		t.Fatalf("there are no folders: %v", err)
	}
	for _, archive := range folders {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".tar.gz"), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			unpack(t, archive, folder)
			made, texts := make(map[string]madeBefore), make(map[string]string)
			eachLine(t, filepath.Join(folder, "made.jsonl"), func(m exchange[madeBefore]) {
				made[m.Name], texts[m.Name] = m.Answer, m.Answer.UUID+m.Answer.Secret
			})
			s := &service{t: t, config: load(t, filepath.Join(folder, "data"), "public-url=https://sluice.example"), log: new(transcript), client: newClient()}
			s.resume()
			t.Cleanup(s.stop)
			ids := make(map[string]string)
			ask := func(asked exchange[any]) {
				got := s.send("GET", "/api/v3/"+asked.Path, nil, asAdmin).wantStatus(t, http.StatusOK)
				toldLess(asked.Answer)
				if missing := lacks(decode(t, got.body), asked.Answer, ids); missing != "" {
					t.Errorf("%s: %s in %s", asked.Path, missing, got.body)
				}
			}
			for _, first := range []bool{true, false} { // to read payloads makes new entries
				eachLine(t, filepath.Join(folder, "asked.jsonl"), func(asked exchange[any]) {
					if strings.HasPrefix(asked.Path, "command/audit.get") == first {
						ask(asked)
					}
				})
			}
			for before, now := range ids {
				old, current := s.send("GET", resultPath+"?correlationId="+before, nil), s.send("GET", resultPath+"?correlationId="+now, nil)
				if old.status == http.StatusGone || old.status != current.status || string(old.body) != strings.ReplaceAll(string(current.body), now, before) {
					t.Errorf("the id %s, now %s, leads to %d %s and %d %s", before, now, old.status, old.body, current.status, current.body)
				}
			}
			goesOn(t, s, made)
			s.stop()
			for _, found := range inFiles(t, s.config.Data, texts) {
				t.Error(found)
			}
		})
	}
}

// toldLess removes the errors in the results of calls from an answer: callers
// are not told any more what failed inside.
func toldLess(answer any) {
	switch answer := answer.(type) {
	case []any:
		for _, item := range answer {
			toldLess(item)
		}
	case map[string]any:
		if result, ok := answer["result"].(map[string]any); ok {
			delete(result, "error")
			if result["status"] == "error" {
				delete(result, "statusCode")
			}
		}
		for _, member := range answer {
			toldLess(member)
		}
	}
}

// An exchange is a request to an earlier server, or the name of a thing it made, with its answer.
type exchange[T any] struct {
	Path   string `json:"path"`
	Name   string `json:"name"`
	Answer T      `json:"answer"`
}

// madeBefore is a webhook or a client that an earlier server has made.
type madeBefore struct {
	hook

	Secret string `json:"secret"`
}

// goesOn checks that what is in a folder still works. Spans of time come first:
// they count on clocks that don't go back, as that of the folder's server does.
func goesOn(t *testing.T, s *service, made map[string]madeBefore) {
	t.Helper()
	s.command("event.replay", map[string]any{"eventKey": "webhook.ignore", "from": "2050-01-01T00:00:00Z", "to": "2060-01-01T00:00:00Z"}).wantStatus(t, http.StatusOK)
	greeted := s.call(made["webhook.raw"].hook, "application/json", `{"name":"Grace"}`).wantStatus(t, http.StatusOK).object(t)
	if missing := lacks(greeted["value"], map[string]any{"name": "Grace", "secret": true}, nil); missing != "" {
		t.Errorf("the pipeline greet: %s", missing)
	}
	found := s.trace(greeted["traceId"].(string))
	if found.Status != "ok" || len(found.Runs) != 1 || len(found.Runs[0].Steps) != 2 || found.Runs[0].Pipeline != "greet" {
		t.Errorf("a new call is found as %+v", found)
	}
	for _, name := range []string{"webhook.base64", "webhook.ignore", "webhook.files"} {
		s.call(made[name].hook, "text/plain", "more").wantStatus(t, http.StatusOK)
	}
	doubled := s.send("POST", "/api/v3/pipeline/double", strings.NewReader(`{"payload":{"n":4}}`), asAdmin, header("Content-Type", "application/json")).wantStatus(t, http.StatusOK)
	if got := strings.TrimSpace(string(doubled.body)); got != "8" {
		t.Errorf("the pipeline double gives %s", got)
	}
	s.command("deadletter.replay", map[string]any{"letter": "1"}).wantStatus(t, http.StatusOK)
	s.send("GET", "/api/v3/command/webhook.get", nil, func(r *http.Request) { r.SetBasicAuth("rita", "rita reads with pleasure") }).wantStatus(t, http.StatusOK)
	s.token(url.Values{"grant_type": {"client_credentials"}, "client_id": {"robot"}, "client_secret": {made["robot"].Secret}}).wantStatus(t, http.StatusOK)
}

// unpack writes the files of an archive to a folder.
func unpack(t *testing.T, archive, folder string) {
	t.Helper()
	content, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(packed); ; {
		file, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(folder, filepath.Clean("/"+file.Name))
		if file.Typeflag == tar.TypeDir {
			err = os.MkdirAll(name, 0o700)
		} else if content, err = io.ReadAll(files); err == nil {
			err = os.WriteFile(name, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// eachLine hands over every line of a file of JSON.
func eachLine[T any](t *testing.T, name string, visit func(T)) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, len(content)+1)
	for lines.Scan() {
		var line T
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		dec.UseNumber()
		if err := dec.Decode(&line); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		visit(line)
	}
}

// lacks says what an answer lacks of an earlier one; "" if that is nothing. A
// newer program may tell more, but not less or otherwise. Correlation ids may have
// another form: ids gets the present ones by the earlier ones.
func lacks(now, before any, ids map[string]string) string {
	switch before := before.(type) {
	case map[string]any:
		object, _ := now.(map[string]any)
		for name, value := range before {
			member, ok := object[name]
			if !ok {
				return "there is no " + name
			}
			if id, ok := member.(string); ok && name == "correlationId" {
				ids[value.(string)] = id
				continue
			}
			if missing := lacks(member, value, ids); missing != "" {
				return name + ": " + missing
			}
		}
	case []any:
		list, _ := now.([]any)
		if len(list) != len(before) {
			return fmt.Sprintf("%d items instead of %d", len(list), len(before))
		}
		for i := range before {
			if missing := lacks(list[i], before[i], ids); missing != "" {
				return fmt.Sprintf("item %d: %s", i, missing)
			}
		}
	default:
		if !reflect.DeepEqual(now, before) {
			return fmt.Sprintf("%v instead of %v", now, before)
		}
	}
	return ""
}
