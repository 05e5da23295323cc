package client

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/value"
)

// The server waits for an event for listenWait. If its answer takes longer than
// answerMargin after that, the connection counts as broken.
const (
	listenWait   = 30 * time.Second
	answerMargin = 15 * time.Second
)

// A Received is a stored event: the server's document, and what it says.
type Received struct {
	Document json.RawMessage
	sluice.Event
}

// Events returns the stored events after a cursor, and the cursor after them. Without
// a cursor it returns no events, and the cursor after the newest one.
func (c *Client) Events(ctx context.Context, pattern, after string, limit int, wait time.Duration) (events []Received, next string, err error) {
	params := url.Values{"eventKey": {pattern}, "limit": {strconv.Itoa(limit)}}
	if after != "" {
		params.Set("after", after)
		params.Set("wait", wait.String())
	}
	ctx, cancel := context.WithTimeout(ctx, wait+answerMargin)
	defer cancel()
	answer, err := c.Command(ctx, "event.get", params, nil)
	if err != nil {
		return nil, "", err
	}
	var batch sluice.List[json.RawMessage]
	if err := json.Unmarshal(answer.Body, &batch); err != nil || batch.Next == "" {
		return nil, "", sluice.Errorf(sluice.CodeEventsMalformed, "The server gave no events.").Because(err)
	}
	for _, document := range batch.Items {
		e := Received{Document: document}
		if err := json.Unmarshal(document, &e.Event); err != nil {
			return nil, "", sluice.Errorf(sluice.CodeEventsMalformed, "The server gave an event that can't be read.").Because(err)
		}
		events = append(events, e)
	}
	return events, batch.Next, nil
}

// Listen hands the events after a cursor to deliver, one by one, until ctx ends or
// deliver fails. It calls moved with the cursor after each delivered event; a new
// start from there misses none. It makes a broken connection again.
func (c *Client) Listen(ctx context.Context, pattern, after string, deliver func(context.Context, Received) error, moved func(cursor string) error) error {
	retry := &retries{forever: true}
	for {
		// One at a time, since each has a cursor of its own.
		events, next, err := c.Events(ctx, pattern, after, 1, listenWait)
		if err != nil {
			if err = retry.wait(ctx, err); err != nil {
				return err
			}
			continue
		}
		retry.succeeded()
		for _, e := range events {
			if err := deliver(ctx, e); err != nil {
				return err
			}
		}
		if next != after {
			after = next
			if err := moved(after); err != nil {
				return err
			}
		}
	}
}

// A Position says how far the events of a server were forwarded.
type Position struct {
	URL     string `json:"url"`
	Pattern string `json:"eventKey"`
	Forward string `json:"forward"`
	After   string `json:"after"` // cursor
}

func (p *Profiles) positionFile(position Position) string {
	hash := sha256.Sum256([]byte(position.URL + "\n" + position.Pattern + "\n" + position.Forward))
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
		if err == nil && position.URL == wanted.URL && position.Pattern == wanted.Pattern {
			found, at = position, info.ModTime()
		}
	}
	return found
}

// Keep stores a position, so that it survives a power cut.
func (p *Profiles) Keep(position Position) error {
	content, err := value.MarshalIndent(position)
	if err != nil {
		return err
	}
	return write(p.positionFile(position), append(content, '\n'))
}

// Follow hands calls and runs to visit as they happen, until ctx ends or visit
// fails. Newer servers may have further types of entries. After a broken connection
// it goes on where that broke.
func (c *Client) Follow(ctx context.Context, query url.Values, visit func(sluice.TailEntry) error) error {
	last := ""
	retry := &retries{forever: true}
	for {
		err := c.follow(ctx, query, last, func(entry sluice.TailEntry) error {
			retry.succeeded()
			if entry.Position != "" {
				last = entry.Position
			}
			if entry.Type == "error" {
				return refusal(Answer{Status: statusIn(entry.Data), Body: entry.Data})
			}
			if err := visit(entry); err != nil {
				return &refused{err}
			}
			return nil
		})
		if own, ok := errors.AsType[*refused](err); ok {
			return own.err
		}
		if err == nil || sluice.CodeInvalidToken.Is(err) { // a tail ends with its access token
			err = sluice.Errorf(sluice.CodeTailEnded, "The live tail has ended.")
		}
		if err = retry.wait(ctx, err); err != nil {
			return err
		}
	}
}

// refused is an error of visit, not of the connection.
type refused struct{ err error }

// Error implements error.
func (r *refused) Error() string { return r.err.Error() }

func statusIn(problem json.RawMessage) int {
	var p sluice.Problem
	_ = json.Unmarshal(problem, &p) // then it is 0, which is no status
	return p.Status
}

// follow reads the live tail until the connection ends.
func (c *Client) follow(ctx context.Context, query url.Values, last string, visit func(sluice.TailEntry) error) error {
	r := request{method: http.MethodGet, path: sluice.EventsPath, header: http.Header{"Accept": {"text/event-stream"}}}
	if len(query) > 0 {
		r.path += "?" + query.Encode()
	}
	if last != "" {
		r.header.Set("Last-Event-ID", last)
	}
	connection, cancel := context.WithCancel(ctx)
	defer cancel()
	response, err := c.open(connection, r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		content, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // whatever can be read
		return refusal(Answer{response.StatusCode, response.Header, content})
	}
	pulse := time.AfterFunc(longestSilence, cancel)
	defer pulse.Stop()
	err = readEvents(&watched{response.Body, pulse}, visit)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// longestSilence is when a silent connection counts as broken: the server sends
// something far more often.
const longestSilence = time.Minute

// watched is a stream that is closed after longestSilence without a read.
type watched struct {
	stream io.Reader
	pulse  *time.Timer
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.stream.Read(p)
	w.pulse.Reset(longestSilence)
	return n, err
}

// maxLine bounds a line of the tail.
const maxLine = 16 << 20

// readEvents reads a stream of Server-Sent Events (HTML, 9.2.6). An end in the
// middle of an event drops it.
func readEvents(stream io.Reader, visit func(sluice.TailEntry) error) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxLine)
	var entry sluice.TailEntry
	var data []string
	for lines.Scan() {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if line == "" {
			if data != nil {
				entry.Data = json.RawMessage(strings.Join(data, "\n"))
				if err := visit(entry); err != nil {
					return err
				}
			}
			entry, data = sluice.TailEntry{}, nil
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			entry.Position = value
		case "event":
			entry.Type = value
		case "data":
			data = append(data, value)
		}
	}
	return nil // broken or ended: Follow goes on either way
}
