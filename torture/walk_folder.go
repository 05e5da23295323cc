package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

var (
	plainMark  = regexp.MustCompile(fmt.Sprintf("%s[0-9a-f]{%d}", markBegins, markLength))
	base64Mark = []byte(base64.StdEncoding.EncodeToString([]byte(` {"mark":"` + markBegins)))
	cardNumber = regexp.MustCompile(fmt.Sprintf("pan-[0-9a-f]{%d}", markLength))
)

// checkFolder: what was erased, and what is never stored, is in no file, soon after the last run has
// ended.
func (w *walk) checkFolder(ctx context.Context) {
	var left []string
	for until := time.Now().Add(agreeTime); time.Now().Before(until); sleep(ctx, 200*time.Millisecond) {
		if left = w.leftInFolder(); len(left) == 0 || ctx.Err() != nil {
			return
		}
	}
	for _, what := range left {
		w.blamef("%s", what)
	}
}

// leftInFolder returns what is in files and must not be there.
func (w *walk) leftInFolder() (left []string) {
	erased, redacted := make(map[string]bool), make(map[string]bool)
	missed := make(map[string]bool) // erased while a server of the engine was away, which then overwrites nothing
	for _, c := range w.calls {
		for _, mark := range c.marks() {
			erased[mark], missed[mark] = c.erased, c.erased && w.wasAwayIn(c.erasing)
		}
		if c.kind == "redacted" {
			redacted["pan-"+strings.TrimPrefix(c.mark, markBegins)] = true
		}
	}
	for _, folder := range w.folders() {
		gone := maps.Clone(erased)
		if w.engine != nil && filepath.Base(folder) == engineAccount {
			maps.DeleteFunc(gone, func(mark string, _ bool) bool { return missed[mark] })
		}
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // files come and go
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return nil //nolint:nilerr // likewise
			}
			name, _ := filepath.Rel(w.dir, path)
			left = append(left, leftIn(name, content, gone, redacted)...)
			return nil
		})
		if err != nil {
			left = append(left, fmt.Sprintf("the folder can't be read: %s", err))
		}
	}
	return left
}

// leftIn returns what is in a file and must not be there, each once.
func leftIn(name string, content []byte, erased, redacted map[string]bool) (left []string) {
	for _, mark := range marksIn(content) {
		if erased[mark] {
			left = append(left, fmt.Sprintf("the erased text %s is in %s, behind %q", mark, name, before(content, mark)))
			delete(erased, mark)
		}
	}
	for _, number := range cardNumber.FindAll(content, -1) {
		if redacted[string(number)] {
			left = append(left, fmt.Sprintf("the redacted text %s is in %s", number, name))
			delete(redacted, string(number))
		}
	}
	return left
}

// before returns what stands before a mark in a file, which tells of what it is; "" if the mark is in base64.
func before(content []byte, mark string) []byte {
	at := max(0, bytes.Index(content, []byte(mark)))
	return content[max(0, at-300):at]
}

// marksIn returns the marks of calls in a file, as they are and as base64.
func marksIn(content []byte) (marks []string) {
	for _, mark := range plainMark.FindAll(content, -1) {
		marks = append(marks, string(mark))
	}
	for rest := content; ; {
		at := bytes.Index(rest, base64Mark)
		if at < 0 {
			return marks
		}
		rest = rest[at+len(base64Mark):]
		const encoded = (markLength + 2) / 3 * 4
		if len(rest) < encoded {
			return marks
		}
		decoded, err := base64.StdEncoding.DecodeString(string(rest[:encoded]))
		if err == nil && len(decoded) >= markLength {
			marks = append(marks, markBegins+string(decoded[:markLength]))
		}
	}
}

// plantedFaults are what negative controls do behind the ledger's back.
var plantedFaults = []struct {
	name  string
	alone bool // of one server with an engine of its own
	plant func(context.Context, *walk) error
}{
	{"an older copy of the folder", true, func(ctx context.Context, w *walk) error {
		n := w.nodes[0]
		if err := n.stop(); err != nil {
			return err
		}
		older := n.data + ".older"
		if err := os.CopyFS(older, os.DirFS(n.data)); err != nil {
			return err
		}
		if err := n.start(ctx); err != nil {
			return err
		}
		w.burst(ctx, 30)
		if err := n.stop(); err != nil {
			return err
		}
		if err := os.RemoveAll(n.data); err != nil {
			return err
		}
		if err := os.Rename(older, n.data); err != nil {
			return err
		}
		return n.start(ctx)
	}},
	{"a call that nobody made", false, func(ctx context.Context, w *walk) error {
		before := len(w.calls)
		for len(w.calls) == before && ctx.Err() == nil { // a server may be full
			w.burst(ctx, 30)
		}
		w.calls, w.unknown = w.calls[:before], nil // the latter could be the ones that are too many
		return nil
	}},
	{"a call of which an event is missing", true, func(ctx context.Context, w *walk) error {
		var last string
		for last == "" && ctx.Err() == nil { // a server may be full
			c := w.newCall("batched")
			if w.make(ctx, c); len(c.items) > 1 && c.traceID != "" {
				last = c.items[len(c.items)-1]
			}
		}
		n := w.nodes[0]
		if err := n.stop(); err != nil {
			return err
		}
		remove, err := partCommand(removePart, n.data, last)
		if err != nil {
			return err
		}
		if out, err := remove.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return n.start(ctx)
	}},
	{"erased text that is still there", false, func(ctx context.Context, w *walk) error {
		w.burst(ctx, 30)
		for range 3 {
			if err := eraseCalls(ctx, w); err != nil {
				return err
			}
		}
		for _, c := range w.calls {
			if c.erased {
				return os.WriteFile(filepath.Join(w.nodes[0].data, "left-over"), c.body, 0o600)
			}
		}
		return nil
	}},
}
