package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"sluice"
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

// Events returns the stored events after a position, and the cursor after them. Without
// a cursor it returns no events, and the cursor after the newest one.
func (c *Client) Events(
	ctx context.Context, at Position, limit int, wait time.Duration,
) (events []Received, next string, err error) {
	params := url.Values{"eventKey": {at.Pattern}, "limit": {strconv.Itoa(limit)}}
	if at.Type != "" {
		params.Set("type", at.Type)
	}
	if at.After != "" {
		params.Set("after", at.After)
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
		return nil, "", sluice.CodeEventsMalformed.Errorf("The server gave no events.").Because(err)
	}
	for _, document := range batch.Items {
		e := Received{Document: document}
		if err := json.Unmarshal(document, &e.Event); err != nil {
			return nil, "", sluice.CodeEventsMalformed.Errorf("The server gave an event that can't be read.").
				Because(err)
		}
		events = append(events, e)
	}
	return events, batch.Next, nil
}

// Listen hands the events after a position to deliver, one by one, until ctx ends or
// deliver fails. It calls moved with the cursor after each delivered event; a new
// start from there misses none. It makes a broken connection again.
func (c *Client) Listen(
	ctx context.Context, at Position, deliver func(context.Context, Received) error,
	moved func(cursor string) error,
) error {
	retry := &retries{forever: true}
	for {
		// One at a time, since each has a cursor of its own.
		events, next, err := c.Events(ctx, at, 1, listenWait)
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
		if next != at.After {
			at.After = next
			if err := moved(next); err != nil {
				return err
			}
		}
	}
}
