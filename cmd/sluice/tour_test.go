package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"sluice/oidc/oidctest"
)

// The blocks of the documents are executed in their order, in one shell. A
// block of output behind a block of commands is what they must print; … stands
// for anything.
var documents = []string{"README.md", "docs/receiving.md", "docs/proofs.md", "docs/quarantine.md", "docs/pipelines.md", "docs/tracing.md", "docs/authenticating.md", "docs/operating.md", "docs/alerts.md", "docs/command-line.md", "docs/install.md", "docs/proxies.md", "docs/tutorial.md", "docs/troubleshooting.md", "docs/sizing.md", "docs/backup.md", "docs/upgrading.md"}

func TestTheDocumentsWork(t *testing.T) {
	t.Parallel()
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some wait for slow pipelines
			content, err := os.ReadFile(filepath.Join("..", "..", name))
			if err != nil {
				t.Fatal(err)
			}
			wait := "30s" // a busy machine may need longer than it is by default
			if strings.Contains(string(content), `"status":"processing"`) {
				wait = "2s" // one of its pipelines takes longer
			}
			cmd := program(t, "serve", "--listen", "127.0.0.1:0")
			cmd.Env = append(cmd.Env, "SLUICE_ADMIN_PASSWORD=a-short-tour", "SLUICE_RESULT_WAIT="+wait)
			r := start(t, cmd)
			defer r.stop(t, syscall.SIGTERM)
			walk(t, string(content), "http://127.0.0.1:8080", r.url)
		})
	}
}

var fence = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")

// usesClient finds blocks with a line that begins with a verb of the client: any
// but serve.
var usesClient = regexp.MustCompile(`(?m)^(?:[A-Z_]+=\S+ )*(?:[a-z]+=\$\()?sluice (?:[a-rt-z]|s[a-df-z]|secret)`)

// asksForLogin finds logins for which a person would be asked.
var asksForLogin = regexp.MustCompile(`(?m)^sluice login [\d.:]+`)

// TestTheDocumentedProviderWorks: what the document says of an external provider
// is executed with a real one.
func TestTheDocumentedProviderWorks(t *testing.T) {
	t.Parallel()
	issuer := oidctest.StartDex(t)
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "authenticating.md"))
	if err != nil {
		t.Fatal(err)
	}
	document := strings.ReplaceAll(string(content), "http://127.0.0.1:5556/dex", issuer)
	flags := regexp.MustCompile(`(SLUICE_\S+) sluice (serve --listen 127\.0\.0\.1):8081 ([^` + "`" + `]*)`).FindStringSubmatch(document)
	if flags == nil {
		t.Fatal("the document does not say how to start the server")
	}
	cmd := program(t, strings.Fields(flags[2]+":0 "+strings.ReplaceAll(flags[3], "\\\n", " "))...)
	cmd.Env = append(cmd.Env, flags[1])
	r := start(t, cmd)
	defer r.stop(t, syscall.SIGTERM)
	walk(t, document, "http://127.0.0.1:8081", r.url)
}

// walk runs the blocks of a document that use the client, or talk to the server at address; here
// it is at url.
func walk(t *testing.T, document, address, url string) {
	t.Helper()
	script, dir, ran := "", t.TempDir(), 0
	environ := append(os.Environ(), "SLUICE_CLIENT_DIR="+t.TempDir())
	blocks := fence.FindAllStringSubmatch(document, -1)
	for i, block := range blocks {
		if block[1] != "sh" || !strings.Contains(block[2], address) && !usesClient.MatchString(block[2]) {
			continue
		}
		ran++
		const mark = "----\n"
		step := strings.ReplaceAll(block[2], address, url)
		step = asksForLogin.ReplaceAllString(step, "SLUICE_PASSWORD=a-short-tour $0 --username admin")
		step = strings.ReplaceAll(step, strings.TrimPrefix(address, "http://"), strings.TrimPrefix(url, "http://"))
		sh := exec.Command("bash", "-euc", script+"printf -- '"+mark[:4]+"\\n'\n"+step)
		sh.Dir, sh.Env = dir, environ
		out, err := sh.CombinedOutput()
		if err != nil {
			t.Fatalf("%s%v\n%s", step, err, out)
		}
		// Later blocks need the variables of this one, not its effects.
		script += variables(step)
		if i+1 < len(blocks) && (blocks[i+1][1] == "json" || blocks[i+1][1] == "text") {
			_, got, _ := strings.Cut(string(out), mark)
			wantOutput(t, step, strings.ReplaceAll(got, url, address), blocks[i+1][2])
		}
	}
	if ran == 0 {
		t.Fatal("the document has no block to run")
	}
}

// variables returns the lines of a block that set a variable.
func variables(block string) string {
	lines := ""
	for line := range strings.Lines(block) {
		if regexp.MustCompile(`^[a-z]+=`).MatchString(line) {
			lines += line
		}
	}
	return lines
}

func wantOutput(t *testing.T, step, got, want string) {
	t.Helper()
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), "…", ".*?")
	if !regexp.MustCompile(`(?s)^` + pattern + `$`).MatchString(strings.TrimSpace(got)) {
		t.Errorf("%sprinted\n%s\nwant\n%s", step, got, want)
	}
}
