package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// The blocks of the documents are executed in their order, in one shell. A
// block of output behind a block of commands is what they must print; … stands
// for anything.
var documents = []string{"README.md", "docs/receiving.md", "docs/authenticating.md", "docs/operating.md"}

func TestTheDocumentsWork(t *testing.T) {
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join("..", "..", name))
			if err != nil {
				t.Fatal(err)
			}
			cmd := sluice(t, "serve", "--listen", "127.0.0.1:0")
			cmd.Env = append(cmd.Env, "SLUICE_ADMIN_PASSWORD=tour")
			r := start(t, cmd)
			defer r.stop(t, syscall.SIGTERM)
			walk(t, string(content), r.url)
		})
	}
}

var fence = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")

// walk runs the blocks of a document that talk to a server.
func walk(t *testing.T, document, url string) {
	t.Helper()
	const address = "http://127.0.0.1:8080"
	script, dir, ran := "", t.TempDir(), 0
	blocks := fence.FindAllStringSubmatch(document, -1)
	for i, block := range blocks {
		if block[1] != "sh" || !strings.Contains(block[2], address) {
			continue
		}
		ran++
		const mark = "----\n"
		step := strings.ReplaceAll(block[2], address, url)
		sh := exec.Command("bash", "-euc", script+"printf -- '"+mark[:4]+"\\n'\n"+step)
		sh.Dir = dir
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

// variables gives the lines of a block that set a variable.
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
