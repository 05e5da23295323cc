package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"path"
	"strings"
	"sync"

	"sluice"
)

//go:embed static
var static embed.FS

// files are what pages load. Their public names have a hash of the content, so that
// browsers may cache them for ever.
type files struct {
	names    map[string]string        // public names by file names
	contents map[string][]byte        // by public name
	packed   map[string]func() []byte // the same, compressed at the first request
	brotli   map[string][]byte        // likewise, packed by brotli when it was built
}

// assets are read for the first page, so that starting is quick.
var assets = sync.OnceValue(func() files {
	a := files{
		make(map[string]string), make(map[string][]byte), make(map[string]func() []byte), make(map[string][]byte),
	}
	entries, err := static.ReadDir("static")
	if err != nil {
		panic(err)
	}
	for _, file := range entries {
		content, err := static.ReadFile("static/" + file.Name())
		if err != nil {
			panic(err)
		}
		if name, is := strings.CutSuffix(file.Name(), ".br"); is { // it has the hash of what was packed
			a.brotli[name] = content
			continue
		}
		sum := sha256.Sum256(content)
		ending := path.Ext(file.Name())
		name := strings.TrimSuffix(file.Name(), ending) + "." + hex.EncodeToString(sum[:6]) + ending
		a.names[file.Name()] = name
		a.contents[name], a.packed[name] = content, sync.OnceValue(func() []byte { return packed(content) })
	}
	return a
})

// packed compresses a file.
func packed(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails only if the level is unknown
	_, _ = w.Write(content)                               // a buffer takes it all
	_ = w.Close()
	return b.Bytes()
}

// path returns the path that a file is loaded from.
func (a files) path(name string) string { return "/static/" + a.names[name] }

// sendAsset sends a file that pages load.
func sendAsset(v *Visit) error {
	name := v.Named("file")
	content, ok := assets().contents[name]
	if !ok {
		return sluice.CodeNotFound.Errorf("There is no such file.")
	}
	header := v.W.Header()
	header.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("Vary", "Accept-Encoding")
	taken := v.R.Header.Get("Accept-Encoding")
	if smallest := assets().brotli[name]; smallest != nil && strings.Contains(taken, "br") {
		header.Set("Content-Encoding", "br")
		content = smallest
	} else if strings.Contains(taken, "gzip") {
		header.Set("Content-Encoding", "gzip")
		content = assets().packed[name]()
	}
	_, _ = v.W.Write(content) // an error means that the browser has gone
	return nil
}
