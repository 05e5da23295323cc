package main

import (
	"os"
	"path/filepath"
	"strings"

	"sluice/cmd/sluice/exit"
	"sluice/manifest"
)

// eachFile does something with the source in each file that the arguments name.
func eachFile[T any](t *cli, do func(file, source string) (T, error)) (found []T, err error) {
	files, err := filesIn(t.Args)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		source, err := t.Read(file)
		if err != nil {
			return nil, err
		}
		done, err := do(file, string(source))
		if err != nil {
			return nil, err
		}
		found = append(found, done)
	}
	return found, nil
}

// filesIn returns the files that arguments name, and all pipelines in the folders that
// they name.
func filesIn(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		if arg == "-" { // standard input
			files = append(files, arg)
			continue
		}
		info, err := os.Stat(arg)
		if err != nil {
			return nil, exit.Usage("%v", err)
		}
		if !info.IsDir() {
			files = append(files, arg)
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, exit.Usage("%v", err)
		}
		found := len(files)
		for _, entry := range entries {
			if !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") &&
				manifest.NameOf(entry.Name()) != entry.Name() {
				files = append(files, filepath.Join(arg, entry.Name()))
			}
		}
		if len(files) == found {
			return nil, exit.Usage("The folder %s has no files that end in .yaml, .yml or .json.", arg)
		}
	}
	return files, nil
}
