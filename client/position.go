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

// A Position says how far the events of a server were forwarded.
type Position struct {
	URL     string `json:"url"`
	Pattern string `json:"eventKey"`
	Type    string `json:"type,omitempty"` // of the events; "": any
	Forward string `json:"forward"`
	After   string `json:"after"` // cursor
}

func (p *Profiles) positionFile(position Position) string {
	events := position.URL + "\n" + position.Pattern + "\n"
	if position.Type != "" {
		events += position.Type + "\n"
	}
	hash := sha256.Sum256([]byte(events + position.Forward))
	return filepath.Join(p.dir, "cursors", hex.EncodeToString(hash[:12])+".json")
}

// Resume returns a position with the cursor that was kept for it, "" if none was. A
// new URL starts where the same events were last forwarded to any other.
func (p *Profiles) Resume(position Position) (Position, error) {
	kept, err := readPosition(p.positionFile(position))
	if err != nil {
		return position, storage(err)
	}
	if kept.After == "" {
		kept = p.latest(position)
	}
	position.After = kept.After
	return position, nil
}

// readPosition returns the position in a file, an empty one if there is none.
func readPosition(name string) (position Position, err error) {
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return position, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &position)
	}
	return position, err
}

// latest returns the position that was kept last for the same events, whichever URL
// they were forwarded to.
func (p *Profiles) latest(wanted Position) (found Position) {
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
		position, err := readPosition(name)
		if err == nil && position.URL == wanted.URL && position.Pattern == wanted.Pattern &&
			position.Type == wanted.Type {
			found, at = position, info.ModTime()
		}
	}
	return found
}

// Keep stores a position, so that it survives a power cut.
func (p *Profiles) Keep(position Position) error {
	return writeJSON(p.positionFile(position), position)
}
