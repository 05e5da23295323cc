package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/config"
)

// pages returns the documents that users read, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(names) == 0 {
		t.Fatal("there are no documents", err)
	}
	all := make(map[string]string)
	for _, name := range append(names, "../../README.md") {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.ToSlash(strings.TrimPrefix(name, "../../"))] = string(content)
	}
	return all
}

// TestEveryDocumentIsExecuted: one with commands for a server is in the list of
// those that a test runs.
func TestEveryDocumentIsExecuted(t *testing.T) {
	t.Parallel()
	for name, text := range pages(t) {
		if name == "docs/providers.md" {
			continue // its commands ask for a secret; docs/tutorial.md has them for a script
		}
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			isRun := strings.Contains(block[2], "127.0.0.1:8080") || usesClient.MatchString(block[2])
			if block[1] == "sh" && isRun && !slices.Contains(documents, name) {
				t.Errorf("%s has commands that no test runs:\n%s", name, block[2])
			}
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinksLeadSomewhere: links within the documents name a file, and a heading
// of it.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for name, text := range all {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			file, heading, _ := strings.Cut(found[1], "#")
			target := name
			if file != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), file))
			}
			if _, err := os.Stat(filepath.Join("../..", target)); err != nil {
				t.Errorf("%s leads to %s, which is not there", name, found[1])
				continue
			}
			if content, isPage := all[target]; heading != "" && isPage && !slices.Contains(headings(content), heading) {
				t.Errorf("%s leads to %s, and there is no such heading", name, found[1])
			}
		}
	}
}

// TestNamedSourcesExist: readers of a document find the source that it names.
func TestNamedSourcesExist(t *testing.T) {
	t.Parallel()
	source := regexp.MustCompile("`([a-z]+(?:/[a-z_0-9]+)+\\.go)`")
	for name, text := range pages(t) {
		for _, found := range source.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("../..", found[1])); err != nil {
				t.Errorf("%s names %s, which is not there", name, found[1])
			}
		}
	}
}

// headings returns the names by which links find the headings of a document.
func headings(text string) (names []string) {
	for _, line := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(line[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// TestDocumentedLimits: the table of limits names settings that there are, with
// their defaults.
func TestDocumentedLimits(t *testing.T) {
	t.Parallel()
	defaults := make(map[string]string)
	for _, s := range config.Settings() {
		defaults[s.Name] = s.Default
	}
	for row := range strings.Lines(pages(t)["docs/limits.md"]) {
		cells := strings.Split(row, " | ")
		if len(cells) < 5 {
			continue
		}
		for _, flag := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(cells[2], -1) {
			value, known := defaults[flag[1]]
			if !known {
				t.Errorf("there is no setting %s", flag[1])
			}
			if written := asWritten(value); value != "0" && !strings.Contains(cells[3], written) {
				t.Errorf("%s is %s by default, and the table says %s", flag[1], written, cells[3])
			}
		}
	}
}

// asWritten returns a default as the documents write it.
func asWritten(value string) string {
	if number, err := strconv.Atoi(value); err == nil {
		text := strconv.Itoa(number)
		for i := len(text) - 3; i > 0; i -= 3 {
			text = text[:i] + "," + text[i:]
		}
		return text
	}
	return regexp.MustCompile(`^(\d+)([KMG]iB)$`).ReplaceAllString(value, "$1 $2")
}
