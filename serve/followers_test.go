package serve_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestFollowersReachTheResult: programs that nobody here wrote follow redirects
// from the call to the result of a task of 12 seconds, as they come; so does who
// does what the example says. All follow at the same time.
func TestFollowersReachTheResult(t *testing.T) {
	t.Parallel()
	s := start(t)
	hook := s.create("webhook.long", "payloadType", "raw")
	s.store("long", `pipeline: [event.listen: {eventKey: webhook.long}, wait: {duration: 12s}, set: {value: '#{body.payload}'}]`)
	target := s.base() + receivePath + "?pollingRedirectEnabled=true&token=" + hook.UUID
	followers := map[string]func() error{"Go": func() error { return followWithGo(t, target) }}
	if installed("bash") && installed("curl") {
		source := s.replacer().Replace(readExample(t, "long-task"))
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "examples", "long-task.yaml"), source)
		list := instructions(t, source)
		followers["the example"] = func() error { return do(t, dir, list) }
	}
	for program, args := range map[string][]string{
		"curl":    {"-s", "-L", "-d", "curl", target},
		"wget":    {"-q", "-O-", "--post-data=wget", target},
		"python3": {"-c", "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], data=b'python3').read().decode())", target},
		"node":    {"-e", "fetch(process.argv[1], {method: 'POST', body: 'node'}).then(r => r.text()).then(console.log)", target},
	} {
		if !installed(program) {
			t.Logf("%s is not installed here", program)
			continue
		}
		followers[program] = func() error {
			out, err := exec.CommandContext(t.Context(), program, args...).Output()
			if err != nil {
				return err
			}
			return followed(out, program)
		}
	}
	var all sync.WaitGroup
	for name, follow := range followers {
		all.Go(func() {
			if err := follow(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
}

// followed checks where a follower has come to.
func followed(body []byte, value string) error {
	var got result
	if err := json.Unmarshal(body, &got); err != nil {
		return err
	}
	if got.Status != "ok" || got.Value != value || !got.PollingRedirectEnabled {
		return fmt.Errorf("came to %s", body)
	}
	return nil
}

// followWithGo follows with a client as it comes, and checks that no URL is seen
// twice: some clients stop there.
func followWithGo(t *testing.T, target string) error {
	var seen []string
	client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if slices.Contains(seen, r.URL.String()) {
			return fmt.Errorf("%s comes twice", r.URL)
		}
		seen = append(seen, r.URL.String())
		if len(via) >= 10 { // as net/http does by itself
			return fmt.Errorf("there are more than %d redirects", len(via))
		}
		return nil
	}
	request, err := http.NewRequestWithContext(t.Context(), "POST", target, strings.NewReader("Go"))
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if len(seen) < 3 {
		return fmt.Errorf("the redirects are %v only: the task was not a long one", seen)
	}
	return followed(content, "Go")
}
