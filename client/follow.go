package client

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice"
)

// Follow hands calls and runs to visit as they happen, until ctx ends or visit
// fails. Newer servers may have further types of entries. After a broken connection
// it goes on where that broke.
func (c *Client) Follow(ctx context.Context, query url.Values, visit func(sluice.TailEntry) error) error {
	last := ""
	retry := &retries{forever: true}
	for {
		var failed error // of visit
		err := c.follow(ctx, query, last, func(entry sluice.TailEntry) error {
			retry.succeeded()
			if entry.Position != "" {
				last = entry.Position
			}
			if entry.Type == "error" {
				return refusal(Answer{Status: statusIn(entry.Data), Body: entry.Data})
			}
			failed = visit(entry)
			return failed
		})
		if failed != nil {
			return failed
		}
		if err == nil || sluice.CodeInvalidToken.Is(err) { // a tail ends with its access token
			err = sluice.CodeTailEnded.Errorf("The live tail has ended.")
		}
		if err = retry.wait(ctx, err); err != nil {
			return err
		}
	}
}

func statusIn(problem json.RawMessage) int {
	var p sluice.Problem
	_ = json.Unmarshal(problem, &p) // then it is 0, which is no status
	return p.Status
}

// follow reads the live tail until the connection ends.
func (c *Client) follow(ctx context.Context, query url.Values, last string, visit func(sluice.TailEntry) error) error {
	r := request{path: sluice.EventsPath, header: http.Header{"Accept": {"text/event-stream"}}}
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
		return c.refused(ctx, response)
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
