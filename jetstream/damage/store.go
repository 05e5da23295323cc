// Package damage reads the files of the embedded engine without the engine, to find what a
// disk has lost: records that can't be read (block.go, report.go), states of consumers
// (consumers.go), and files that have changed since a clean stop (stop.go). The engine would
// cut off too much at its start, so the damage is set aside and cut out more carefully
// (contain.go).
//
// It knows the layout of the engine's store, but not the meaning of events and records: package
// jetstream compares the rest with what there was.
package damage

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Store is the folder that the embedded engine keeps its streams in.
type Store struct {
	Dir string

	// Cuts says that what can't be read is cut out, with a copy of each damaged file set aside, and that what
	// was to be overwritten is.
	Cuts bool

	// Contiguous says of which streams messages that are missing between two blocks are lost as
	// well; nil: of all.
	Contiguous func(stream string) bool

	// Progress, if set, is called with the bytes that were read so far, one call at a time.
	Progress func(done, total int64)

	// Reads says which streams are read, by their names and the bytes of their
	// messages; nil: all.
	Reads func(stream string, size int64) bool

	aside string // folder for copies of what is damaged
}

// copies is the folder of an engine for copies of what is damaged.
const copies = "damaged"

// Of returns the store of an engine in a folder.
func Of(dir string) Store {
	return Store{
		Dir:   filepath.Join(dir, "jetstream", "$G", "streams"),
		aside: filepath.Join(dir, copies, time.Now().UTC().Format("20060102T150405")),
	}
}

// DropCopies removes what was set aside of the store of an engine.
func DropCopies(dir string) error { return os.RemoveAll(filepath.Join(dir, copies)) }

// Streams returns the names of the streams that have a folder.
func (s Store) Streams() (names []string, err error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// A blockFile is one file of messages of a stream.
type blockFile struct {
	stream string
	number int
	name   string // below the folder of the streams
	size   int64
}

// blocks returns the files of the streams that are read, in order, and their bytes.
func (s Store) blocks() (files []blockFile, size int64, err error) {
	folder := os.DirFS(s.Dir)
	names, err := fs.Glob(folder, "*/msgs/*.blk")
	if err != nil {
		return nil, 0, err
	}
	sizes := make(map[string]int64) // of streams
	for _, name := range names {
		stream, _, _ := strings.Cut(name, "/")
		number, err := strconv.Atoi(strings.TrimSuffix(path.Base(name), ".blk"))
		if err != nil {
			continue
		}
		info, err := fs.Stat(folder, name)
		if err != nil {
			return nil, 0, err
		}
		files = append(files, blockFile{stream, number, name, info.Size()})
		sizes[stream] += info.Size()
	}
	if s.Reads != nil {
		files = slices.DeleteFunc(files, func(f blockFile) bool { return !s.Reads(f.stream, sizes[f.stream]) })
	}
	for _, f := range files {
		size += f.size
	}
	slices.SortFunc(files, func(a, b blockFile) int {
		return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(a.number, b.number))
	})
	return files, size, nil
}
