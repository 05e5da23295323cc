package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/pipeline/source"
	"sluice/wait"
)

// A folder stores the pipelines in a folder of the operator: each file *.yaml,
// *.yml or *.json is one, named as the file without its extension.
type folder struct {
	runner *Runner
	dir    string
	seen   map[string]stamp // the files that were loaded
}

// A stamp tells whether a file has changed.
type stamp struct {
	size     int64
	modified time.Time
}

// folderPoll is how often a folder is checked for changes.
const folderPoll = time.Second

// SyncFolder stores the pipelines of a folder, and deletes those whose files are gone. If
// files can't be loaded, its error is one line with the position of the first mistake.
func (r *Runner) SyncFolder(ctx context.Context, dir string) error {
	failures := (&folder{runner: r, dir: dir}).sync(ctx)
	switch len(failures) {
	case 0:
		return nil
	case 1:
		return failures[0]
	}
	return fmt.Errorf("%w (and %d more files can't be loaded)", failures[0], len(failures)-1)
}

// WatchFolder does the same at each change, until ctx ends. A file that can't be loaded
// is logged once, and its pipeline stays as it was.
func (r *Runner) WatchFolder(ctx context.Context, dir string) {
	f := &folder{runner: r, dir: dir}
	var logged map[string]bool
	for wait.For(ctx, folderPoll) == nil {
		failures := map[string]bool{}
		for _, err := range f.sync(ctx) {
			failures[err.Error()] = true
			if !logged[err.Error()] && ctx.Err() == nil {
				r.Log.Error("A pipeline of the folder was not taken over.", "error", err.Error())
			}
		}
		logged = failures
	}
}

// sync reads the folder once. The next sync retries what fails.
func (f *folder) sync(ctx context.Context) (failures []error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return []error{fmt.Errorf("the folder of pipelines can't be opened: %w", err)}
	}
	defer func() { _ = root.Close() }()
	stamps, err := look(root)
	if err != nil {
		return []error{fmt.Errorf("the folder of pipelines can't be read: %w", err)}
	}
	if f.seen != nil && maps.Equal(stamps, f.seen) {
		return nil
	}
	f.seen = maps.Clone(stamps)
	files := map[string]string{} // by the names of their pipelines
	for _, file := range slices.Sorted(maps.Keys(stamps)) {
		name := strings.TrimSuffix(file, path.Ext(file))
		err := fmt.Errorf("%s is a pipeline of the same name; keep one of them", files[name])
		if files[name] == "" {
			files[name] = file
			err = f.load(ctx, root, name, file)
		}
		if err != nil {
			failures = append(failures, inFile(file, err))
			delete(f.seen, file)
		}
	}
	if left := f.drop(ctx, files); len(left) > 0 {
		f.seen = nil
		failures = append(failures, left...)
	}
	return failures
}

// look returns the stamps of the files that are pipelines.
func look(root *os.Root) (map[string]stamp, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	stamps := map[string]stamp{}
	for _, entry := range entries {
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(entry.Name())) {
			continue
		}
		stamps[entry.Name()] = stamp{} // if it can't be read
		if info, err := root.Stat(entry.Name()); err == nil {
			stamps[entry.Name()] = stamp{info.Size(), info.ModTime()}
		}
	}
	return stamps, nil
}

// load stores the pipeline of a file, unless the same is stored already.
func (f *folder) load(ctx context.Context, root *os.Root, name, file string) error {
	if err := checkName(name); err != nil {
		return err
	}
	source, err := readSource(root, file)
	if err != nil {
		return err
	}
	before, err := f.runner.Store.Get(ctx, name)
	if err != nil || before != nil && before.Folder && before.Source == source {
		return err
	}
	if before != nil && !before.Folder {
		return errors.New("there is a pipeline of that name that is not from the folder; delete it, or rename the file")
	}
	program, err := f.runner.Parse(source)
	if err != nil {
		return err
	}
	found, err := f.runner.refusals(ctx, program, folderOwner())
	if err != nil {
		return err
	}
	for _, finding := range append(found, f.runner.unknownKey(ctx, program)...) {
		f.runner.Log.Warn("A pipeline of the folder will not run as it is.", "file", file, "line", finding.Line,
			"column", finding.Column, "problem", finding.Message, "hint", finding.Hint)
	}
	_, _, err = f.runner.save(ctx, program, sluice.Pipeline{
		Name: name, Source: source, Owner: sluice.AdminName, Folder: true,
	}, "")
	if err == nil {
		f.runner.Log.Info("A pipeline of the folder was taken over.", "pipeline", name)
	}
	return err
}

// drop deletes the pipelines whose files are gone.
func (f *folder) drop(ctx context.Context, files map[string]string) (failures []error) {
	for _, p := range f.runner.Store.All() {
		if !p.Folder || files[p.Name] != "" {
			continue
		}
		if err := f.runner.remove(ctx, p.Name, true, ""); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", p.Name, err))
		}
	}
	return failures
}

// inFile returns an error with its file. The first mistake of a source is written as compilers do.
func inFile(file string, err error) error {
	if mistakes := source.ProblemsOf(err); len(mistakes) > 0 {
		first := mistakes[0]
		return fmt.Errorf("%s:%d:%d: %s", file, first.Line, first.Column, first.Message)
	}
	return fmt.Errorf("%s: %w", file, err)
}

func readSource(root *os.Root, name string) (string, error) {
	// Opening a pipe or the like could block for ever.
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return "", cmp.Or(err, errors.New("this is not a file"))
	}
	file, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, source.MaxSource+1))
	return string(content), err
}
