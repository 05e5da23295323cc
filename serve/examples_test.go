package serve_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// exampleNames are the pipelines of the folder examples.
func exampleNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "examples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no examples: %v", err)
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(filepath.Base(file), ".yaml")
	}
	return names
}

func readExample(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "examples", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestExamplesPassTheirTests: each example is without mistakes, says what it is,
// and carries tests that pass.
func TestExamplesPassTheirTests(t *testing.T) {
	t.Parallel()
	s := start(t)
	const secrets = "chat-token shop-key aws-key google-key api-client search-user orders-db orders-kafka"
	for name := range strings.FieldsSeq(secrets) {
		s.command("secret.put", map[string]any{"name": name, "value": "a secret of others"}).wantStatus(t, 200)
	}
	s.user("registrar", "webhook.*", "set")
	targets, err := filepath.Glob(filepath.Join("..", "examples", "targets", "*.yaml"))
	if err != nil || len(targets) < 10 {
		t.Fatalf("there are %d examples of targets, %v", len(targets), err)
	}
	names := exampleNames(t)
	for _, file := range targets {
		names = append(names, "targets/"+strings.TrimSuffix(filepath.Base(file), ".yaml"))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			source := readExample(t, name)
			asYAML := header("Content-Type", "application/yaml")
			lint := s.send("POST", "/api/v3/command/pipeline.lint", strings.NewReader(source), asAdmin, asYAML).wantStatus(t, 200)
			if lint.object(t)["valid"] != true {
				t.Fatalf("it has mistakes: %s", lint.body)
			}
			var report struct{ Passed, Failed int }
			tested := s.send("POST", "/api/v3/command/pipeline.test", strings.NewReader(source), asAdmin, asYAML).wantStatus(t, 200)
			tested.into(t, &report)
			if report.Passed == 0 || report.Failed > 0 {
				t.Errorf("its tests don't pass: %s", tested.body)
			}
			stored := s.store(filepath.Base(name), source).object(t)
			if stored["description"] == nil {
				t.Error("it has no description")
			}
		})
	}
}

// named is the sample that an example names, and the webhook that it is for.
var named = regexp.MustCompile(`# Try it: sluice webhook test (\S+) --sample (\S+)\n`)

// TestExamplesTakeTheirSamples: an example makes something of the sample that it names.
func TestExamplesTakeTheirSamples(t *testing.T) {
	t.Parallel()
	s := start(t, untilDone)
	provider := regexp.MustCompile(`-d provider=(\S+)`)
	tried := 0
	for _, name := range exampleNames(t) {
		source := readExample(t, name)
		names, of := named.FindStringSubmatch(source), provider.FindStringSubmatch(source)
		if names == nil {
			if of != nil {
				t.Errorf("%s has a provider and names no sample", name)
			}
			continue
		}
		tried++
		t.Run(name, func(t *testing.T) {
			s.create(names[1], "provider", of[1], "signingSecret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "payloadType", "raw", "answer", "result", "split", "auto")
			s.store(name, source)
			var made struct {
				URL, Body string
				Headers   map[string]string
			}
			s.send("POST", "/api/v3/command/webhook.sign?eventKey="+names[1]+"&sample="+names[2], nil, asAdmin).wantStatus(t, 200).into(t, &made)
			_, query, _ := strings.Cut(made.URL, "?")
			answered := s.send("POST", receivePath+"?"+query, strings.NewReader(made.Body), func(r *http.Request) {
				for name, value := range made.Headers {
					r.Header.Set(name, value)
				}
			}).wantStatus(t, 200).object(t)
			if answered["status"] != "ok" || answered["value"] == nil || answered["value"] == "ignored" {
				t.Errorf("its sample gives %v", answered)
			}
		})
	}
	if tried < 6 {
		t.Errorf("only %d examples name a sample", tried)
	}
}

// comment is the block of comment at the top of an example.
var comment = regexp.MustCompile(`^(?:#.*\n)+`)

// An instruction is a command of an example, and what it must print, if that is
// said: … stands for anything.
type instruction struct{ command, output string }

// instructions returns what the first lines of an example say, in their order.
func instructions(t *testing.T, source string) (list []instruction) {
	t.Helper()
	for line := range strings.Lines(comment.FindString(source)) {
		text, indented := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "#   ")
		switch {
		case !indented:
		case strings.HasPrefix(text, "{"):
			list[len(list)-1].output = text
		default:
			list = append(list, instruction{command: text})
		}
	}
	if len(list) == 0 {
		t.Fatal("the first lines don't say how to run it")
	}
	return list
}

// replacer fills in where the server of a test is, and who calls it.
func (s *service) replacer(more ...string) *strings.Replacer {
	s.t.Helper()
	s.command("iam.user.put", map[string]any{"username": "tour", "password": "a-short-tour", "roles": "admin"}).wantStatus(s.t, 200)
	return strings.NewReplacer(append(more, "http://127.0.0.1:8080", s.base(), "-u admin:a-short-tour", "-u tour:a-short-tour")...)
}

// TestExamplesRunAsTheySay: the commands in the first lines of each example do
// what these say, with a real server. Only the warehouse of one of them, which is
// nowhere, is a system of ours, so that no name has to be looked up.
func TestExamplesRunAsTheySay(t *testing.T) {
	t.Parallel()
	if !installed("bash") || !installed("curl") || !installed("openssl") {
		t.Skip("The examples need bash, curl and openssl, which are not installed here.")
	}
	down := newOutside(t)
	down.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	s := start(t, "http-allow=127.0.0.0/8", untilDone)
	here := s.replacer("https://warehouse.example.com", down.url)
	var ledger struct {
		Items []struct{ Payload struct{ Payment int } }
		Next  string
	}
	s.command("event.get", map[string]any{"eventKey": "webhook.ledger"}).wantStatus(t, 200).into(t, &ledger)
	dir := t.TempDir()
	for _, name := range exampleNames(t) {
		writeFile(t, filepath.Join(dir, "examples", name+".yaml"), here.Replace(readExample(t, name)))
	}
	for _, name := range exampleNames(t) {
		if name == "long-task" {
			continue // it runs among the followers, since it is long
		}
		t.Run(name, func(t *testing.T) {
			if err := do(t, dir, instructions(t, here.Replace(readExample(t, name)))); err != nil {
				t.Error(err)
			}
		})
	}
	s.command("event.get", map[string]any{"eventKey": "webhook.ledger", "after": ledger.Next}).wantStatus(t, 200).into(t, &ledger)
	if got := toText(t, ledger.Items); got != `[{"Payload":{"Payment":1}},{"Payload":{"Payment":2}},{"Payload":{"Payment":3}}]` {
		t.Errorf("the ledger was told %s", got)
	}
	if tries := len(down.all()); tries < 3 {
		t.Errorf("the warehouse was tried %d times, want 3 at least", tries)
	}
	eventually(t, "what the examples write to the log", func() bool {
		log := s.log.String()
		return strings.Contains(log, "webhook.shop.opened from 127.0.0.1") && strings.Contains(log, "order 1: cups is picked")
	})
}

// do does as instructed, in one shell.
func do(t *testing.T, dir string, list []instruction) error {
	t.Helper()
	const mark = "\n----\n"
	var script strings.Builder
	for _, i := range list {
		script.WriteString(i.command + "\nprintf '\\n----\\n'\n")
	}
	sh := exec.CommandContext(t.Context(), "bash", "-euc", script.String())
	sh.Dir = dir
	out, err := sh.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	printed := strings.Split(string(out), mark)
	for n, i := range list {
		got := strings.TrimSpace(printed[n])
		pattern := strings.ReplaceAll(regexp.QuoteMeta(i.output), "…", ".*")
		if i.output != "" && !regexp.MustCompile(`(?s)^`+pattern+`$`).MatchString(got) {
			return fmt.Errorf("%s\nprinted %s\nwant    %s", i.command, got, i.output)
		}
		if i.output == "" && strings.Contains(got, "urn:sluice:problem") {
			return fmt.Errorf("%s\nprinted %s", i.command, got)
		}
	}
	return nil
}

// installed reports whether the machine has a program.
func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDevelopersStoreExamples: with their own name in them, without being
// administrators.
func TestDevelopersStoreExamples(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.command("secret.put", map[string]any{"name": "chat-token", "value": "a token of the chat"}).wantStatus(t, 200)
	s.command("secret.put", map[string]any{"name": "shop-key", "value": "a key of the shop"}).wantStatus(t, 200)
	s.user("registrar", "webhook.*", "set")
	s.user("dev", "run.as:registrar")
	s.command("iam.user.put", map[string]any{"username": "dev", "roles": []string{"developer", "dev"}}).wantStatus(t, 200)
	asDev := func(r *http.Request) { r.SetBasicAuth("dev", "dev's password") }
	for _, name := range exampleNames(t) {
		source := strings.ReplaceAll(readExample(t, name), "{username: admin}", "{username: dev}")
		if got := s.put(name, source, asDev); got.status != 200 {
			t.Errorf("%s: %s", name, got)
		}
	}
}
