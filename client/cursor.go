package client

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
func (p *Profiles) Resume(place Place) (Place, error) {
	content, err := os.ReadFile(p.placeFile(place))
	if errors.Is(err, fs.ErrNotExist) {
		return place, nil
	}
	if err != nil {
		return place, storage(err)
	}
	var kept Place
	if err := json.Unmarshal(content, &kept); err != nil {
		return place, storage(err)
	}
	place.After = kept.After
	return place, nil
}

// Keep stores a place, so that it survives a power cut.
func (p *Profiles) Keep(place Place) error {
	content, err := json.MarshalIndent(place, "", "  ")
	if err != nil {
		return err
	}
	return storage(writeDurably(p.placeFile(place), append(content, '\n')))
}
