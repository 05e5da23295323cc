package client

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Place is how far the events of a server were forwarded.
type Place struct {
	URL     string `json:"url"`
	Pattern string `json:"eventKey"`
	Forward string `json:"forward"`
	After   string `json:"after"` // cursor
}

// file gives the file that keeps a place.
func (p *Profiles) placeFile(place Place) string {
	hash := sha256.Sum256([]byte(place.URL + "\n" + place.Pattern + "\n" + place.Forward))
	return filepath.Join(p.dir, "cursors", hex.EncodeToString(hash[:12])+".json")
}

// Resume gives a place with the cursor that was kept for it, "" if none was.
// Whoever forwards to another URL than before goes on where the same events were
// delivered last.
func (p *Profiles) Resume(place Place) (Place, error) {
	kept, err := readPlace(p.placeFile(place))
	if err != nil {
		return place, storage(err)
	}
	if kept.After == "" {
		kept = p.latest(place)
	}
	place.After = kept.After
	return place, nil
}

// readPlace gives the place in a file, an empty one if there is none.
func readPlace(name string) (place Place, err error) {
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return place, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &place)
	}
	return place, err
}

// latest gives the place of the same events that was kept last, wherever they
// were forwarded to.
func (p *Profiles) latest(wanted Place) (found Place) {
	files, err := filepath.Glob(filepath.Join(p.dir, "cursors", "*.json"))
	if err != nil {
		return found
	}
	var at time.Time
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil || info.ModTime().Before(at) {
			continue
		}
		place, err := readPlace(name)
		if err == nil && place.URL == wanted.URL && place.Pattern == wanted.Pattern {
			found, at = place, info.ModTime()
		}
	}
	return found
}

// Keep stores a place, so that it survives a power cut.
func (p *Profiles) Keep(place Place) error {
	content, err := json.MarshalIndent(place, "", "  ")
	if err != nil {
		return err
	}
	return storage(writeDurably(p.placeFile(place), append(content, '\n')))
}
