package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"sluice"
)

// listenWait is how long the server is to wait for an event, and answerMargin
// how much longer its answer may take before the connection counts as broken.
const (
	listenWait   = 30 * time.Second
	answerMargin = 15 * time.Second
)

// A Received is a stored event: the document as the server gave it, and what it
// says.
type Received struct {
	Document json.RawMessage
	sluice.Event
}

// Events returns the stored events behind a cursor, and the cursor behind them.
// Without a cursor there are none, and the cursor is behind the newest event.
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
	var batch struct {
		Items []json.RawMessage `json:"items"`
		Next  string            `json:"next"`
	}
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

// Listen hands the events behind a cursor to deliver, one after the other,
// until ctx ends or deliver fails. moved is called with the cursor behind each
// event that was delivered; to start there again misses none. A broken
// connection is made again.
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
